# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every way through a compilation gives the same bytes: in one call, in three steps, with the pipeline printed and parsed,
by whole phases, in other processes, and stopped after each phase and resumed from its printed form."""

import re
import subprocess
import sys

import models
import pytest

import latewood
from latewood import InvalidArgumentError, compiler

PROGRAMS = {
    "add": None,
    "mlp": lambda: models.mlp(4, (20, 30, 10)),
    "bert": lambda: models.bert(layers=1, width=32, heads=2, hidden=64, vocabulary=50, sequence=8),
    "gpt2": lambda: models.gpt2_block(width=32, heads=2, sequence=8),
}


@pytest.fixture(scope="module", params=PROGRAMS)
def program(request, add_text) -> str:
    make = PROGRAMS[request.param]
    return make().text() if make else add_text


@pytest.fixture(scope="module")
def client() -> compiler.CompilerClient:
    return compiler.CompilerClient()


@pytest.fixture(scope="module")
def whole(program) -> bytes:
    return latewood.compile(compiler.parse(program)).serialize()


def finish(pipeline, module, **options) -> bytes:
    return compiler.translate(pipeline.run(module, **options))


def test_steps(client, program, whole):
    pipeline = client.get_stablehlo_to_executable_pipeline()
    for again in (
        pipeline,
        compiler.Pipeline.parse(str(pipeline)),
        compiler.Pipeline.parse(pipeline.one_line),
        compiler.Pipeline.parse(client.get_textual_pipeline()),
    ):
        assert again == pipeline
        assert finish(again, compiler.parse(program)) == whole


def test_stopping_and_resuming(client, program, whole):
    pipeline = client.get_stablehlo_to_executable_pipeline()
    for phase in pipeline.phases()[:-1]:
        half = pipeline.run(compiler.parse(program), until=phase)
        assert finish(pipeline, half.clone(), since=phase) == whole
        # Printed with its locations: they are part of nothing that is compiled.
        for locations in (False, True):
            module = compiler.Module.parse(half.to_text(locations=locations))
            assert finish(pipeline, module, since=phase) == whole, phase


def test_other_processes(client, program, whole, build, tmp_path):
    source, lowered, output = tmp_path / "program.mlir", tmp_path / "lowered.mlir", tmp_path / "out.lwx"
    source.write_text(program)
    opt, compile_tool = build / "bin" / "latewood-opt", build / "bin" / "latewood-compile"
    subprocess.run([compile_tool, source, "--target=native", "-o", output], check=True)
    assert output.read_bytes() == whole
    pipeline = client.get_stablehlo_to_executable_pipeline()
    for text in (pipeline.one_line, str(pipeline), client.get_textual_pipeline()):
        subprocess.run([opt, source, f"--pass-pipeline={text}", "-o", lowered], check=True)
        subprocess.run([compile_tool, lowered, f"--since={pipeline.phases()[-1]}", "-o", output], check=True)
        assert output.read_bytes() == whole
    subprocess.run([compile_tool, source, "--until=cluster", "-o", lowered], check=True)
    subprocess.run([compile_tool, lowered, "--since=cluster", "-o", output], check=True)
    assert output.read_bytes() == whole


def test_another_python_process(program, whole, build, tmp_path):
    (tmp_path / "program.mlir").write_text(program)
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); import latewood;"
        "open(sys.argv[3], 'wb').write(latewood.compile(sys.argv[2]).serialize())"
    )
    output = tmp_path / "out.lwx"
    subprocess.run([sys.executable, "-c", code, build / "python", tmp_path / "program.mlir", output], check=True)
    assert output.read_bytes() == whole


def test_names_in_a_pipeline_are_registered(client, build):
    passes = set(re.findall(r"\b(latewood-[a-z0-9-]+)", client.get_pipeline().one_line))
    assert len(passes) > 10
    listing = subprocess.run(
        [build / "bin" / "latewood-opt", "--help"], capture_output=True, text=True, check=True
    ).stdout
    assert not [name for name in passes if f"--{name}" not in listing]


def test_options_change_only_their_passes(client):
    one, two = (client.get_pipeline([f"--target={target}"]).passes() for target in ("x86-64-v3", "x86-64-v4"))
    assert len(one) == len(two)
    changed = [a for a, b in zip(one, two, strict=True) if a != b]
    assert len(changed) == 1 and "latewood-record-options" in changed[0]


def test_unknown_names_offer_close_ones(client):
    with pytest.raises(InvalidArgumentError, match="--target"):
        client.get_pipeline(["--targets=native"])
    with pytest.raises(InvalidArgumentError, match="latewood-outline-clusters"):
        compiler.Pipeline.parse("builtin.module(latewood-outline-clusterz)")
    with pytest.raises(InvalidArgumentError, match="bufferize"):
        client.get_pipeline().run(compiler.parse("func.func @main() {\n  return\n}"), until="buferize")


def test_a_failing_pass_is_named(client):
    text = """
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.custom_call @nowhere(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""
    with pytest.raises(latewood.CompilationError) as info:
        client.get_pipeline().run(compiler.Module.parse(text, "program.mlir"))
    message = str(info.value)
    assert "program.mlir:3:" in message
    assert "stablehlo.custom_call @nowhere(%a)" in message
    assert re.search(r"latewood-[a-z-]+", message)
    (first, *_) = info.value.diagnostics
    assert (first.severity, first.location.split(":")[1]) == ("error", "3")
    assert first.pass_name.startswith("latewood-")


def test_many_round_trips(client):
    text = client.get_pipeline().one_line
    for _ in range(100):
        text = compiler.Pipeline.parse(text).one_line
    assert text == client.get_pipeline().one_line
