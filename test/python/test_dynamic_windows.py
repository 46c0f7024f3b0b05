# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Windows of which everything is computed: size, strides, both dilations and the padding are arguments. NumPy says what is right."""

import numpy as np
import pytest

from latewood import compiler, runtime

PROGRAM = """
func.func private @combine(%a: tensor<i32>, %b: tensor<i32>) -> tensor<i32> {
  %0 = stablehlo.NAME %a, %b : tensor<i32>
  return %0 : tensor<i32>
}
func.func public @main(%x: tensor<?x?xi32>, %size: tensor<2xi64>, %stride: tensor<2xi64>, %base: tensor<2xi64>,
                       %dilation: tensor<2xi64>, %padding: tensor<2x2xi64>) -> tensor<?x?xi32> {
  %init = stablehlo.constant dense<INIT> : tensor<i32>
  %0 = stablehlo.custom_call @stablehlo.dynamic_reduce_window(%x, %init, %size, %stride, %base, %dilation, %padding)
      {called_computations = [@combine]} : (tensor<?x?xi32>, tensor<i32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>,
       tensor<2xi64>, tensor<2x2xi64>) -> tensor<?x?xi32>
  return %0 : tensor<?x?xi32>
}"""


def reduce_window(x, size, stride, base, dilation, padding, combine, init):
    shape = [(n - 1) * b + 1 if n else 0 for n, b in zip(x.shape, base, strict=True)]
    spread = np.full(shape, init, x.dtype)
    spread[tuple(slice(None, None, b) for b in base)] = x
    for axis, (low, high) in enumerate(padding):
        spread = np.moveaxis(spread, axis, 0)
        spread = spread[max(-low, 0) : len(spread) + min(high, 0)]
        spread = np.pad(spread, [(max(low, 0), max(high, 0)), (0, 0)], constant_values=init)
        spread = np.moveaxis(spread, 0, axis)
    span = [(s - 1) * d + 1 for s, d in zip(size, dilation, strict=True)]
    places = [0 if n < s else (n - s) // t + 1 for n, s, t in zip(spread.shape, span, stride, strict=True)]
    result = np.full(places, init, x.dtype)
    for place in np.ndindex(*places):
        window = tuple(slice(p * t, p * t + s, d) for p, t, s, d in zip(place, stride, span, dilation, strict=True))
        result[place] = combine(spread[window])
    return result


@pytest.mark.parametrize(("name", "combine", "init"), [("add", np.sum, 0), ("maximum", np.max, -99)])
def test_computed_window(name, combine, init):
    text = PROGRAM.replace("NAME", name).replace("INIT", str(init))
    executable = compiler.CompilerClient().stablehlo_to_executable(
        compiler.Module.parse(text), compiler.StableHLOToExecutableOptions([])
    )
    client = runtime.RuntimeClient()
    session = runtime.RuntimeSession(client, runtime.RuntimeSessionOptions(), executable)
    rng = np.random.default_rng(0)
    for _ in range(40):
        x = rng.integers(-9, 9, (rng.integers(0, 7), rng.integers(1, 9))).astype(np.int32)
        size, stride = rng.integers(1, 4, 2), rng.integers(1, 4, 2)
        base, dilation = rng.integers(1, 3, 2), rng.integers(1, 3, 2)
        padding = rng.integers(-1 if min(x.shape) > 3 else 0, 3, (2, 2))
        arguments = [x, size, stride, base, dilation, padding]
        (got,) = session.execute_function("main", in_args=[client.create_memref(argument) for argument in arguments])
        np.testing.assert_array_equal(np.asarray(got), reduce_window(*arguments, combine, init))
