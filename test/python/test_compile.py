# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What latewood.compile takes, what an executable is as a file, and the three steps of a compilation."""

import pickle

import jax
import numpy as np
import pytest
from conftest import lower_text
from jax import export

import latewood
from latewood import InvalidArgumentError, compiler

A = np.arange(4, dtype=np.float32)


def function(x):
    return x * 2 + 1


def forms(tmp_path):
    lowered = jax.jit(function).lower(A)
    text = lowered.as_text()
    path = tmp_path / "program.mlir"
    path.write_text(text)
    return {
        "text": text,
        "bytes": text.encode(),
        "path": path,
        "path as text": str(path),
        "Lowered": lowered,
        "Exported": export.export(jax.jit(function))(A),
        "ir.Module": lowered.compiler_ir("stablehlo"),
        "Module": compiler.parse(text),
    }


@pytest.mark.parametrize(
    "form", ["text", "bytes", "path", "path as text", "Lowered", "Exported", "ir.Module", "Module"]
)
def test_forms_of_a_program(form, tmp_path):
    executable = latewood.compile(forms(tmp_path)[form])
    np.testing.assert_array_equal(executable(A), function(A))


def test_save_and_load(add, tmp_path):
    path = tmp_path / "add.lwx"
    add.save(path)
    loaded = latewood.load(path)
    assert loaded.serialize() == add.serialize() == path.read_bytes()
    np.testing.assert_array_equal(loaded(A, A), A + A)
    np.testing.assert_array_equal(latewood.load(str(path), verify=True)(A, A), A + A)
    # The file is replaced as a whole: who has it open keeps the old one.
    latewood.compile(lower_text(function, A)).save(path)
    np.testing.assert_array_equal(loaded(A, A), A + A)
    np.testing.assert_array_equal(latewood.load(path)(A), function(A))
    assert [entry.name for entry in tmp_path.iterdir()] == ["add.lwx"]


def test_executable_from_bytes_and_pickle(add):
    np.testing.assert_array_equal(latewood.Executable(add.serialize())(A, A), A + A)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(add))(A, A), A + A)


def test_description(add):
    text = add.describe()
    assert "main" in text and "memref<4xf32>" in text
    assert "main(" in repr(add)
    assert add.get_data_segments()
    assert "--target=" in add.options and "--target=native" not in add.options


def test_constants_travel_in_the_file(tmp_path):
    weights = np.random.default_rng(0).standard_normal((64, 64)).astype(np.float32)
    executable = latewood.compile(lower_text(lambda x: x @ weights, weights))
    assert len(executable.serialize()) > weights.nbytes
    path = tmp_path / "weights.lwx"
    executable.save(path)
    np.testing.assert_allclose(latewood.load(path)(weights), weights @ weights, rtol=1e-4, atol=1e-4)


def test_three_steps_are_the_one(add_text):
    client = compiler.CompilerClient()
    options = compiler.StableHLOToExecutableOptions()
    pipeline = client.get_stablehlo_to_executable_pipeline(options)
    lowered = pipeline.run(compiler.parse(add_text))
    executable = client.translate_to_runtime_executable(lowered)
    np.testing.assert_array_equal(executable(A, A), A + A)
    assert executable.serialize() == client.stablehlo_to_executable(add_text, options).serialize()
    again = compiler.Pipeline.parse(str(pipeline))
    assert again == pipeline == compiler.Pipeline.parse(pipeline.one_line)
    assert (
        client.translate_to_runtime_executable(again.run(compiler.parse(add_text))).serialize()
        == executable.serialize()
    )
    assert {entry.phase for entry in pipeline.statistics()} >= {"input", "cluster", "engines", "lower"}


def test_phases_one_by_one(add_text):
    client = compiler.CompilerClient()
    pipeline = client.get_stablehlo_to_executable_pipeline()
    whole = client.stablehlo_to_executable(add_text).serialize()
    seen = []
    pipeline.run(compiler.parse(add_text), on_phase=seen.append)
    assert seen[0] == "import" and seen[-1] == "lower"
    for phase in seen[:-1]:
        half = pipeline.run(compiler.parse(add_text), until=phase)
        resumed = pipeline.run(compiler.Module.parse(str(half)), since=phase)
        assert client.translate_to_runtime_executable(resumed).serialize() == whole, phase
    with pytest.raises(InvalidArgumentError, match="cluster"):
        pipeline.run(compiler.parse(add_text), until="clutser")
    with pytest.raises(InvalidArgumentError, match="finished no phase"):
        pipeline.run(compiler.parse(add_text), since="cluster")
    with pytest.raises(InvalidArgumentError, match="lower"):
        compiler.translate(compiler.parse(add_text))


def test_a_callback_that_raises(add_text):
    pipeline = compiler.CompilerClient().get_stablehlo_to_executable_pipeline()

    def stop(phase):
        raise KeyError(phase)

    with pytest.raises(KeyError, match="import"):
        pipeline.run(compiler.parse(add_text), on_phase=stop)


def test_a_failed_run_leaves_the_module():
    text = """
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.custom_call @no_such_target(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""
    module = compiler.parse(text)
    before = str(module)
    with pytest.raises(latewood.CompilationError) as info:
        compiler.CompilerClient().get_pipeline().run(module)
    assert str(module) == before
    assert any(diagnostic.severity == "error" for diagnostic in info.value.diagnostics)


def test_compilation_is_deterministic(add_text):
    assert latewood.compile(add_text).serialize() == latewood.compile(add_text).serialize()


def test_compiling_in_threads():
    from concurrent.futures import ThreadPoolExecutor

    texts = [lower_text(lambda x, c=c: x * c, A) for c in range(8)]
    with ThreadPoolExecutor(4) as pool:
        for c, executable in enumerate(pool.map(latewood.compile, texts)):
            np.testing.assert_array_equal(executable(A), A * c)


def test_nothing_is_printed(add_text, capfd):
    latewood.compile(add_text)
    with pytest.raises(latewood.CompilationError):
        latewood.compile("nonsense {")
    output = capfd.readouterr()
    assert output.out == output.err == ""


def test_options_object():
    options = compiler.StableHLOToExecutableOptions(["--target=x86-64-v3"])
    assert options.target == "x86-64-v3"
    assert compiler.StableHLOToExecutableOptions(target="x86-64-v3").canonical() == options.canonical()
    assert any(name == "target" for name, _, _ in compiler.StableHLOToExecutableOptions.descriptions)


def test_textual_pipeline(add_text):
    client = compiler.CompilerClient()
    text = client.get_textual_pipeline(["--target=x86-64-v3"])
    assert "latewood-cluster" in text
    pipeline = compiler.Pipeline.parse(text)
    assert pipeline == client.get_stablehlo_to_executable_pipeline(["--target=x86-64-v3"])
    assert pipeline.phases()[-1] == "lower"
    assert any("latewood-outline-clusters" in text for text in pipeline.passes())
    with pytest.raises(InvalidArgumentError, match="latewood-outline-clusters"):
        compiler.Pipeline.parse("builtin.module(latewood-outline-cluster)")


def test_dumps_and_reproducer(add_text, tmp_path):
    pipeline = compiler.CompilerClient().get_pipeline()
    pipeline.run(compiler.parse(add_text), dump_dir=tmp_path / "dumps")
    files = sorted((tmp_path / "dumps").iterdir())
    assert len(files) > 3
    assert any("outline-clusters" in file.name for file in files)
    with pytest.raises(latewood.CompilationError):
        pipeline.run(
            compiler.parse(
                "func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {\n"
                "  %0 = stablehlo.custom_call @no(%a) : (tensor<4xf32>) -> tensor<4xf32>\n  return %0 : tensor<4xf32>\n}"
            ),
            reproducer=tmp_path / "failed.mlir",
        )
    assert "custom_call" in (tmp_path / "failed.mlir").read_text()


def test_modules(add_text):
    module = compiler.parse(add_text)
    assert module.functions() == [("main", "(tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>")]
    module.verify()
    assert str(module.clone()) == str(module)
    assert "loc(" in module.to_text(locations=True)
    weights = np.arange(64, dtype=np.float32)
    large = compiler.parse(lower_text(lambda x: x * weights, weights))
    assert "elided" in large.to_text(elide_larger_than=16) and "elided" not in str(large)
