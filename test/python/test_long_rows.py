# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sorts and prefix sums of few and long rows, which are computed in blocks on all threads. NumPy computes the expectations."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import export, lax

import latewood

RNG = np.random.default_rng(7)
SEGMENT, BLOCK = 520, 520 * 8  # of StableHLOToLinalgScan.cpp
CHUNK = 4096  # of StableHLOToLinalgSort.cpp
SCANNED = [8 * BLOCK, 8 * BLOCK + 1, 9 * BLOCK - 1, 9 * BLOCK + SEGMENT, 10 * BLOCK + 3 * SEGMENT - 1, 100003]
SORTED = [4 * CHUNK, 4 * CHUNK + 1, 5 * CHUNK - 1, 8 * CHUNK, 16 * CHUNK + 17, 100003]


def run(function, *arguments):
    got = latewood.compile(jax.jit(function, keep_unused=True).lower(*arguments))(*arguments)
    return [np.asarray(value) for value in (got if isinstance(got, tuple) else (got,))]


@pytest.mark.parametrize("length", SCANNED)
def test_sums_of_integers(length):
    x = RNG.integers(-1000, 1000, length, dtype=np.int32)
    forward, back = run(lambda v: (lax.cumsum(v), lax.cumsum(v, reverse=True)), x)
    np.testing.assert_array_equal(forward, np.cumsum(x, dtype=np.int32))
    np.testing.assert_array_equal(back, np.cumsum(x[::-1], dtype=np.int32)[::-1])


@pytest.mark.parametrize("length", SCANNED[-2:])
def test_other_scans(length):
    x = RNG.standard_normal(length).astype(np.float32)
    most, least, product = run(lambda v: (lax.cummax(v), lax.cummin(v, reverse=True), lax.cumprod(1 + v * 1e-3)), x)
    np.testing.assert_array_equal(most, np.maximum.accumulate(x))
    np.testing.assert_array_equal(least, np.minimum.accumulate(x[::-1])[::-1])
    np.testing.assert_allclose(product, np.cumprod(1 + x.astype(np.float64) * 1e-3), rtol=1e-3)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, jnp.bfloat16])
def test_sums_of_floats(dtype):
    length = SCANNED[-1]
    # Sums that bf16 holds: ones that come and go.
    x = np.asarray(RNG.standard_normal(length) if dtype != jnp.bfloat16 else np.arange(length) % 2 * 2 - 1.0, dtype)
    (got,) = run(lax.cumsum, x)
    wide = np.complex128 if np.dtype(dtype).kind == "c" else np.float64
    want = np.cumsum(x.astype(wide))
    tolerance = 1e-11 if dtype == np.float64 else 2e-3
    np.testing.assert_allclose(got.astype(wide), want, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("shape,axis", [((3, 40001), 1), ((40001, 3), 0), ((2, 2, 33333), 2), ((1, 50000, 1), 1)])
def test_few_rows(shape, axis):
    x = RNG.integers(-99, 99, shape, dtype=np.int64)
    sums, ordered = run(lambda v: (lax.cumsum(v, axis=axis), jnp.argsort(v, axis=axis, stable=True)), x)
    np.testing.assert_array_equal(sums, np.cumsum(x, axis=axis))
    np.testing.assert_array_equal(ordered, np.argsort(x, axis=axis, kind="stable"))


WINDOW = """
func.func public @main(%x: tensor<{n}xi32>, %init: tensor<i32>) -> tensor<{n}xi32> {{
  %0 = "stablehlo.reduce_window"(%x, %init) ({{
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %s = stablehlo.{operation} %a, %b : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }}) {{window_dimensions = array<i64: {n}>, padding = dense<[[{low}, {high}]]> : tensor<1x2xi64>}}
    : (tensor<{n}xi32>, tensor<i32>) -> tensor<{n}xi32>
  return %0 : tensor<{n}xi32>
}}
"""


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("operation,accumulate", [("add", np.add.accumulate), ("xor", np.bitwise_xor.accumulate)])
def test_an_initial_value_that_is_no_identity_is_used_once(operation, accumulate, reverse):
    n = SCANNED[3]
    low, high = (0, n - 1) if reverse else (n - 1, 0)
    x, init = RNG.integers(-1000, 1000, n, dtype=np.int32), np.int32(77)
    executable = latewood.compile(WINDOW.format(n=n, operation=operation, low=low, high=high))
    turned = x[::-1] if reverse else x
    want = accumulate(np.concatenate([[init], turned]).astype(np.int32), dtype=np.int32)[1:]
    np.testing.assert_array_equal(np.asarray(executable(x, init)), want[::-1] if reverse else want)


def test_scan_of_pairs():
    """Several operands and a body that is not commutative: affine maps, one after the other."""
    n = SCANNED[-1]
    a, b = RNG.integers(-2, 3, n, dtype=np.int32), RNG.integers(-5, 6, n, dtype=np.int32)

    def compose(x, y):
        return x[0] * y[0], x[1] * y[0] + y[1]

    def function(a, b):
        return lax.reduce_window((a, b), (jnp.int32(1), jnp.int32(0)), compose, (n,), (1,), [(n - 1, 0)])

    got = run(function, a, b)
    factor, offset = np.int32(1), np.int32(0)
    factors, offsets = np.empty(n, np.int32), np.empty(n, np.int32)
    with np.errstate(over="ignore"):
        for i in range(n):
            factor, offset = factor * a[i], offset * a[i] + b[i]
            factors[i], offsets[i] = factor, offset
    np.testing.assert_array_equal(got[0], factors)
    np.testing.assert_array_equal(got[1], offsets)


@pytest.mark.parametrize("length", SORTED)
def test_sort_is_stable(length):
    x = RNG.integers(0, 50, length, dtype=np.int32)
    ordered, places = run(lambda v: (lax.sort(v), jnp.argsort(v, stable=True)), x)
    np.testing.assert_array_equal(ordered, np.sort(x))
    np.testing.assert_array_equal(places, np.argsort(x, kind="stable"))


@pytest.mark.parametrize("order", ["ascending", "descending", "equal", "random"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, jnp.bfloat16, np.uint8, np.int64])
def test_orders(dtype, order):
    x = {
        "ascending": np.arange(70001) % 65536,
        "descending": np.arange(70001)[::-1],
        "equal": np.full(70001, 3),
        "random": RNG.integers(0, 1 << 20, 70001),
    }[order].astype(dtype)
    (got,) = run(lax.sort, x)
    np.testing.assert_array_equal(got, np.sort(x))


def test_special_values_are_in_total_order():
    x = RNG.standard_normal(50001).astype(np.float32)
    x[RNG.integers(0, x.size, 2000)] = np.nan
    x[RNG.integers(0, x.size, 2000)] = np.inf
    x[RNG.integers(0, x.size, 2000)] = -np.inf
    x[RNG.integers(0, x.size, 2000)] = -0.0
    (got,) = run(lax.sort, x)
    np.testing.assert_array_equal(got, np.sort(x))


def test_several_keys():
    n = 60001
    a, b = RNG.integers(0, 7, n, dtype=np.int16), RNG.integers(0, 9, n).astype(np.float64)
    place = np.arange(n, dtype=np.int32)
    got = run(lambda a, b, c: lax.sort((a, b, c), num_keys=2), a, b, place)
    order = np.lexsort((b, a))
    for mine, value in zip(got, (a, b, place), strict=True):
        np.testing.assert_array_equal(mine, value[order])


PARTIAL = """
func.func public @main(%x: tensor<{n}xf32>, %i: tensor<{n}xi32>) -> (tensor<{n}xf32>, tensor<{n}xi32>) {{
  %0:2 = "stablehlo.sort"(%x, %i) ({{
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>):
    %p = stablehlo.compare LT, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }}) {{dimension = 0 : i64, is_stable = true}} : (tensor<{n}xf32>, tensor<{n}xi32>) -> (tensor<{n}xf32>, tensor<{n}xi32>)
  return %0#0, %0#1 : tensor<{n}xf32>, tensor<{n}xi32>
}}
"""


@pytest.mark.parametrize("share", [0.001, 0.3, 1.0])
def test_no_element_is_lost_by_an_order_that_contradicts_itself(share):
    n = 16 * CHUNK + 99
    x = RNG.standard_normal(n).astype(np.float32)
    x[RNG.random(n) < share] = np.nan
    executable = latewood.compile(PARTIAL.format(n=n))
    values, places = (np.asarray(v) for v in executable(x, np.arange(n, dtype=np.int32)))
    np.testing.assert_array_equal(np.sort(places), np.arange(n))
    np.testing.assert_array_equal(values, x[places])


def test_dynamic_lengths():
    symbol = export.symbolic_shape("n")[0]
    shape = jax.ShapeDtypeStruct((symbol,), jnp.int32)
    exported = export.export(jax.jit(lambda v: (jnp.cumsum(v), jnp.argsort(v, stable=True))))(shape)
    executable = latewood.compile(exported)
    for n in [1, 2, SEGMENT, BLOCK, CHUNK, CHUNK + 1, 5 * BLOCK + 7, 100003]:
        x = RNG.integers(0, 99, n, dtype=np.int32)
        sums, places = (np.asarray(v) for v in executable(x))
        np.testing.assert_array_equal(sums, np.cumsum(x, dtype=sums.dtype))
        np.testing.assert_array_equal(places, np.argsort(x, kind="stable"))
