# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random numbers whose shape is known when the program runs, and Fourier transforms along dimensions that the type does not know.
A shape gives the same bits whether it is static or not."""

import numpy as np
import pytest

from latewood import compiler, errors, runtime


def load(text: str):
    client = compiler.CompilerClient()
    executable = client.stablehlo_to_executable(compiler.Module.parse(text), compiler.StableHLOToExecutableOptions([]))
    runner = runtime.RuntimeClient()
    session = runtime.RuntimeSession(runner, runtime.RuntimeSessionOptions(), executable)

    def call(*arguments):
        values = [runner.create_memref(np.asarray(argument)) for argument in arguments]
        return [np.asarray(result).copy() for result in session.execute_function("main", in_args=values)]

    return call


def tensor(shape, element: str) -> str:
    return "tensor<" + "".join(("?" if extent is None else str(extent)) + "x" for extent in shape) + element + ">"


@pytest.mark.parametrize("element", ["ui32", "ui64", "i8"])
@pytest.mark.parametrize(("algorithm", "words"), [("THREE_FRY", 2), ("PHILOX", 2), ("PHILOX", 3)])
def test_bits_of_a_dynamic_shape(algorithm, words, element):
    state = np.array([0x123456789, 2**64 - 3, 5][:words], np.uint64)
    for pattern in ((None,), (None, 4, None)):
        rank, dynamic, state_type = len(pattern), tensor(pattern, element), f"tensor<{words}xui64>"
        generate = load(f"""
func.func public @main(%s: {state_type}, %n: tensor<{rank}xi64>) -> ({state_type}, {dynamic}) {{
  %0:2 = stablehlo.custom_call @stablehlo.dynamic_rng_bit_generator(%s, %n)
      {{rng_algorithm = #stablehlo<rng_algorithm {algorithm}>}} : ({state_type}, tensor<{rank}xi64>) -> ({state_type}, {dynamic})
  return %0#0, %0#1 : {state_type}, {dynamic}
}}""")
        for sizes in ((1, 1, 1), (7, 7, 3), (6, 2, 5), (0, 3, 2)):
            shape = [extent or size for extent, size in zip(pattern, sizes, strict=False)]
            static = tensor(shape, element)
            expected = load(f"""
func.func public @main(%s: {state_type}) -> ({state_type}, {static}) {{
  %0, %1 = stablehlo.rng_bit_generator %s, algorithm = {algorithm} : ({state_type}) -> ({state_type}, {static})
  return %0, %1 : {state_type}, {static}
}}""")(state)
            for got, right in zip(generate(state, np.array(shape, np.int64)), expected, strict=True):
                np.testing.assert_array_equal(got, right)


@pytest.mark.parametrize("distribution", ["UNIFORM", "NORMAL"])
def test_numbers_of_a_dynamic_shape(distribution):
    def program(arguments: str, more: str, result: str) -> str:
        return f"""
func.func public @main(%a: tensor<f32>, %b: tensor<f32>{arguments}) -> {result} {{
  {more}
  %0 = "stablehlo.rng"(%a, %b, %n) {{rng_distribution = #stablehlo<rng_distribution {distribution}>}}
      : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> {result}
  return %0 : {result}
}}"""

    generate = load(program(", %n: tensor<2xi64>", "", "tensor<?x?xf32>"))
    a, b = np.float32(1), np.float32(3)
    for shape in ((3, 5), (0, 2), (100, 77)):
        constant = f"%n = stablehlo.constant dense<[{shape[0]}, {shape[1]}]> : tensor<2xi64>"
        (expected,) = load(program("", constant, tensor(shape, "f32")))(a, b)
        np.testing.assert_array_equal(generate(a, b, np.array(shape, np.int64))[0], expected)


def test_bits_whose_shape_nobody_knows():
    with pytest.raises(errors.CompilationError, match="nothing says of which extents"):
        load("""
func.func public @main(%s: tensor<2xui64>) -> (tensor<2xui64>, tensor<?xui32>) {
  %0, %1 = stablehlo.rng_bit_generator %s, algorithm = PHILOX : (tensor<2xui64>) -> (tensor<2xui64>, tensor<?xui32>)
  return %0, %1 : tensor<2xui64>, tensor<?xui32>
}""")


@pytest.mark.parametrize("kind", ["FFT", "IFFT", "RFFT", "IRFFT"])
def test_fourier_transform_of_unknown_extent(kind):
    length = 12
    stored = length // 2 + 1 if kind == "IRFFT" else length
    source = "f32" if kind == "RFFT" else "complex<f32>"
    target = "f32" if kind == "IRFFT" else "complex<f32>"
    transform = load(f"""
func.func public @main(%x: tensor<?x?x{source}>) -> tensor<?x?x{target}> {{
  %0 = stablehlo.fft %x, type = {kind}, length = [{length}] : (tensor<?x?x{source}>) -> tensor<?x?x{target}>
  return %0 : tensor<?x?x{target}>
}}""")
    reference = {"FFT": np.fft.fft, "IFFT": np.fft.ifft, "RFFT": np.fft.rfft}.get(
        kind, lambda x: np.fft.irfft(x, length)
    )
    rng = np.random.default_rng(0)
    dtype = np.float32 if kind == "RFFT" else np.complex64
    for rows in (1, 5):
        x = rng.standard_normal((rows, stored)).astype(dtype)
        if dtype == np.complex64:
            x = x + 1j * rng.standard_normal((rows, stored)).astype(np.float32)
        np.testing.assert_allclose(transform(x)[0], reference(x), rtol=1e-5, atol=1e-5)
    assert transform(np.zeros((0, stored), dtype))[0].shape[0] == 0
    with pytest.raises(errors.LatewoodError, match="but its type says"):
        transform(np.zeros((2, stored + 1), dtype))
