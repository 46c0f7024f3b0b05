# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Wrong input: each case raises an exception of ours that says what was expected and where, and what was used works on."""

import pickle

import jax
import jax.export
import jax.numpy as jnp
import numpy as np
import pytest

import latewood
from latewood import (
    CompilationError,
    DataCorruptionError,
    InvalidArgumentError,
    LatewoodError,
    NotFoundError,
    UnavailableError,
)

A = np.arange(4, dtype=np.float32)


# --- Programs -----------------------------------------------------------------------------------------------------------


def test_syntax_error():
    with pytest.raises(CompilationError) as info:
        latewood.compile(
            "func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {\n  %0 = stablehlo.add %a, : tensor<4xf32>\n}"
        )
    assert ":2:" in str(info.value)
    assert "stablehlo.add %a, :" in str(info.value)
    assert info.value.code == "Compilation"
    assert info.value.diagnostics[0].severity == "error"


def test_unknown_op():
    with pytest.raises(CompilationError, match=r"stablehlo\.frobnicate"):
        latewood.compile(
            'func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {\n  %0 = "stablehlo.frobnicate"(%a) : (tensor<4xf32>) -> tensor<4xf32>\n  return %0 : tensor<4xf32>\n}'
        )


def test_unknown_dialect():
    with pytest.raises(CompilationError, match="nosuch"):
        latewood.compile('func.func @main() {\n  "nosuch.op"() : () -> ()\n  return\n}')


def test_failed_verifier():
    with pytest.raises(CompilationError) as info:
        latewood.compile(
            "func.func @main(%a: tensor<4xf32>) -> tensor<3xf32> {\n"
            '  %0 = "stablehlo.reshape"(%a) : (tensor<4xf32>) -> tensor<3xf32>\n  return %0 : tensor<3xf32>\n}'
        )
    assert ":2:" in str(info.value)


def test_no_engine_takes_it():
    with pytest.raises(CompilationError, match="no_such_target"):
        latewood.compile(
            "func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {\n"
            "  %0 = stablehlo.custom_call @no_such_target(%a) : (tensor<4xf32>) -> tensor<4xf32>\n  return %0 : tensor<4xf32>\n}"
        )


def test_no_implementation_for_unknown_extents():
    with pytest.raises(
        CompilationError, match=r"'stablehlo\.cholesky'(.|\n)*no implementation for these unknown extents"
    ):
        latewood.compile(
            "func.func @main(%a: tensor<?x?xf32>) -> tensor<?x?xf32> {\n"
            "  %0 = stablehlo.cholesky %a, lower = true : tensor<?x?xf32>\n  return %0 : tensor<?x?xf32>\n}"
        )


def test_not_bytecode():
    with pytest.raises(CompilationError):
        latewood.compile(b"ML\xefR garbage")
    with pytest.raises(CompilationError):
        latewood.compile(b"\x00\x01\x02")


def test_portable_artifact():
    exported = jax.export.export(jax.jit(jnp.sin))(A)
    with pytest.raises(CompilationError, match=r"portable artifact \(StableHLO_v[0-9.]+, dialect vhlo\)"):
        latewood.compile(exported.mlir_module_serialized)


def test_not_a_program():
    with pytest.raises(InvalidArgumentError, match="expected StableHLO"):
        latewood.compile(42)
    with pytest.raises(InvalidArgumentError, match=r"jax\.jit\(f\)\.lower"):
        latewood.compile(lambda x: x)
    with pytest.raises(InvalidArgumentError, match="not Unicode at position 2"):
        latewood.compile("//\udc80")
    with pytest.raises(NotFoundError, match=r"nosuch\.mlir"):
        latewood.compile("nosuch.mlir")


def test_options():
    text = "func.func @main() {\n  return\n}"
    with pytest.raises(InvalidArgumentError, match="target"):
        latewood.compile(text, ["--targt=native"])
    with pytest.raises(InvalidArgumentError):
        latewood.compile(text, ["--target=pdp11"])
    with pytest.raises(InvalidArgumentError, match="list of"):
        latewood.compile(text, "--target=native")


def test_report_that_cannot_be_written(tmp_path):
    with pytest.raises(UnavailableError, match="cannot write the report"):
        latewood.compile("func.func @main() {\n  return\n}", report=tmp_path / "nowhere" / "page.html")
    with pytest.raises(InvalidArgumentError, match="expected a path or a Report"):
        latewood.compile("func.func @main() {\n  return\n}", report=3)


# --- Files --------------------------------------------------------------------------------------------------------------


def test_foreign_and_truncated_files(add, tmp_path):
    data = add.serialize()
    path = tmp_path / "file.lwx"
    for content, error in (
        (b"", InvalidArgumentError),
        (b"hello, this is no executable" * 10, InvalidArgumentError),
        (data[:10], LatewoodError),
        (data[: len(data) // 2], DataCorruptionError),
        (data[:-1], DataCorruptionError),
    ):
        path.write_bytes(content)
        with pytest.raises(error) as info:
            latewood.load(path)
        assert info.value.message
        with pytest.raises(error):
            latewood.Executable(content)
    with pytest.raises(NotFoundError, match="nowhere"):
        latewood.load(tmp_path / "nowhere.lwx")
    with pytest.raises(LatewoodError):
        latewood.load(tmp_path)
    for wrong in (None, 3, add):
        with pytest.raises(InvalidArgumentError, match="expected a path"):
            latewood.load(wrong)
    with pytest.raises(InvalidArgumentError, match="null character"):
        latewood.load(str(path) + "\0.lwx")


def test_file_that_cannot_be_written(add, tmp_path):
    for path in (tmp_path, tmp_path / "nowhere" / "file.lwx"):
        with pytest.raises(UnavailableError, match="cannot write"):
            add.save(path)
    assert list(tmp_path.iterdir()) == []


def test_flipped_bits(add):
    """Any damaged byte outside the constants is found at load: never a crash, never a wrong result unnoticed."""
    data = bytearray(add.serialize())
    expected = add(A, A)
    for position in range(0, len(data), max(1, len(data) // 400)):
        damaged = bytearray(data)
        damaged[position] ^= 0x40
        try:
            executable = latewood.Executable(bytes(damaged))
        except LatewoodError:
            continue
        np.testing.assert_array_equal(executable(A, A), expected)


def test_other_cpu(add_text, tmp_path):
    levels = ["x86-64-v4", "x86-64-v3"]
    executable = None
    for cpu in ("sapphirerapids", *levels):
        try:
            data = latewood.compiler.CompilerClient()
            pipeline = data.get_stablehlo_to_executable_pipeline([f"--target={cpu}"])
            module = pipeline.run(latewood.compiler.parse(add_text))
            raw = latewood.compiler.translate(module)
        except LatewoodError:
            continue
        try:
            executable = latewood.Executable(raw)
        except LatewoodError as error:
            assert error.code == "Unavailable"
            assert cpu in str(error) or "avx" in str(error)
            assert latewood.Executable(raw, inspect=True).functions == ["main"]
            return
    assert executable is not None
    pytest.skip("this machine can run every target that was tried")


# --- Calls --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([A], ["main", "2", "1"]),
        ([A, A, A], ["main", "2", "3"]),
        ([A, A.astype(np.float64)], ["argument 1", "f32", "f64"]),
        ([A, A.astype(np.int32)], ["argument 1", "f32", "i32"]),
        ([A.reshape(2, 2), A], ["argument 0", "rank"]),
        ([A[:3].copy(), A], ["argument 0", "4", "3"]),
        ([A, "four"], ["argument 1", "str"]),
        ([A, None], ["argument 1", "None"]),
        ([A, 1.5], ["argument 1", "memref<4xf32>"]),
        ([A, [1.0, 2.0, 3.0, 4.0]], ["argument 1", "list"]),
        ([A, A.astype(">f4")], ["argument 1", ">f4", "byte order"]),
        ([A, A.astype(np.longdouble)], ["argument 1", "float"]),
        ([A, A.astype(object)], ["argument 1", "object"]),
        ([A, A.astype(str)], ["argument 1", "<U"]),
        ([A, np.zeros(4, [("x", "f4")])], ["argument 1"]),
        ([A, np.zeros(4, "M8[s]")], ["argument 1", "datetime64"]),
        ([A, A[:0]], ["argument 1", "4", "0"]),
    ],
)
def test_wrong_arguments(add, session, arguments, words):
    for call in (lambda: add(*arguments), lambda: session.execute_function("main", in_args=arguments)):
        with pytest.raises(InvalidArgumentError) as info:
            call()
        for word in words:
            assert word in str(info.value), str(info.value)
        assert info.value.code == "InvalidArgument"
    np.testing.assert_array_equal(add(A, A), A + A)
    np.testing.assert_array_equal(np.asarray(session.execute_function("main", in_args=[A, A])[0]), A + A)


def test_arguments_that_are_no_list(session):
    for arguments in (A, None, "main", {"a": A}, 3):
        with pytest.raises(InvalidArgumentError, match="in_args: expected a list of values, not "):
            session.execute_function("main", in_args=arguments)
        with pytest.raises(InvalidArgumentError, match="in_args"):
            session.output_shapes("main", arguments)


def test_numbers_that_do_not_fit():
    executable = latewood.compile("func.func @main(%a: tensor<i8>) -> tensor<i8> {\n  return %a : tensor<i8>\n}")
    for number, word in ((1.5, "whole"), (float("nan"), "whole"), (200, "-128 to 127"), (1j, "real")):
        with pytest.raises(InvalidArgumentError, match="argument 0") as info:
            executable(number)
        assert word in str(info.value)


def test_not_contiguous(session):
    with pytest.raises(InvalidArgumentError, match=r"strides \[2\] do not match canonical strides \[1\]"):
        session.execute_function("main", in_args=[np.arange(8, dtype=np.float32)[::2], A])


def test_misaligned(add):
    raw = np.zeros(17, np.uint8)
    with pytest.raises(InvalidArgumentError, match="align"):
        add(raw[1:].view(np.float32), A)


@pytest.mark.parametrize(
    ("outputs", "words"),
    [
        ([A, A], ["1", "2"]),
        ([A.astype(np.float64)], ["result 0", "f32", "f64"]),
        ([np.zeros(5, np.float32)], ["result 0", "4", "5"]),
        ([np.zeros((2, 2), np.float32)], ["result 0"]),
        ([np.zeros(8, np.float32)[::2]], ["result 0", "strides"]),
        ([b"0123456789abcdef"], ["result 0", "read-only"]),
        ([jnp.zeros(4, jnp.float32)], ["result 0", "read-only"]),
        (["out"], ["result 0", "str"]),
        (5, ["out_args"]),
        (A, ["out_args", "expected a list", "float32"]),
        ([A.astype(">f4")], ["result 0", "byte order"]),
    ],
)
def test_wrong_outputs(session, outputs, words):
    with pytest.raises(InvalidArgumentError) as info:
        session.execute_function("main", in_args=[A, A], out_args=outputs)
    for word in words:
        assert word in str(info.value), str(info.value)
    np.testing.assert_array_equal(np.asarray(session.execute_function("main", in_args=[A, A])[0]), A + A)


def test_read_only_output(session):
    out = np.zeros(4, np.float32)
    out.flags.writeable = False
    with pytest.raises(InvalidArgumentError, match="read-only"):
        session.execute_function("main", in_args=[A, A], out_args=[out])
    assert (out == 0).all()


def test_unknown_function(add, session):
    with pytest.raises(NotFoundError, match="main"):
        session.execute_function("mian", in_args=[A, A])
    with pytest.raises(InvalidArgumentError, match="expected the name of a function"):
        add(A, A, function=None)


def test_wrong_stream(session):
    for stream in (12345, "stream", object()):
        with pytest.raises(InvalidArgumentError, match="stream"):
            session.execute_function("main", in_args=[A, A], stream=stream)


def test_errors_are_one_family():
    for kind in latewood.errors.BY_CODE.values():
        assert issubclass(kind, LatewoodError)
    error = InvalidArgumentError("text")
    assert isinstance(error, ValueError)
    assert (error.code, error.message, str(error)) == ("InvalidArgument", "text", "text")
    assert pickle.loads(pickle.dumps(error)).message == "text"
