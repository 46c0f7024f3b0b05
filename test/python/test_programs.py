# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs of a few ops, made with JAX at test time, against JAX: every op that dense models need, over element types,
ranks, sizes that no vector width divides, and the values where floating point is difficult.

Tolerances are relative, in units of the type: elementary functions may differ in the last places, sums in their order.
Everything else must be equal."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import latewood

FLOATS = [np.float32, np.float64]
INTEGERS = [np.int8, np.int16, np.int32, np.int64]
EPSILON = {np.float32: 1.2e-7, np.float64: 2.2e-16}


def normal(*shape, dtype=np.float32, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def integers(*shape, dtype=np.int32, low=-100, high=100, seed=0):
    return np.random.default_rng(seed).integers(low, high, shape).astype(dtype)


def difficult(dtype) -> np.ndarray:
    """Ordinary values, and those at which functions go wrong."""
    info = np.finfo(dtype)
    special = [
        0.0,
        -0.0,
        1,
        -1,
        0.5,
        2,
        np.inf,
        -np.inf,
        np.nan,
        info.max,
        info.min,
        info.tiny,
        -info.tiny,
        1e-3,
        88.7,
        -103.9,
    ]
    return np.concatenate([np.array(special, dtype), normal(117, dtype=dtype), 10 * normal(90, dtype=dtype)])


# --- Elementwise --------------------------------------------------------------------------------------------------------

EXACT_UNARY = [jnp.negative, jnp.abs, jnp.floor, jnp.ceil, jnp.sign, lax.round, jnp.square]
UNARY = [
    jnp.exp,
    jnp.expm1,
    jnp.log,
    jnp.log1p,
    jnp.sqrt,
    lax.rsqrt,
    lax.cbrt,
    jnp.tanh,
    lax.logistic,
    jnp.sin,
    jnp.cos,
]
CHLO = [lax.erf, lax.erfc, lax.erf_inv]


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("function", EXACT_UNARY, ids=lambda f: f.__name__)
def test_exact_unary(check, function, dtype):
    check(function, difficult(dtype))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("function", UNARY + CHLO, ids=lambda f: f.__name__)
def test_unary(check, function, dtype):
    x = difficult(dtype)
    if function in (jnp.sin, jnp.cos):
        x = np.clip(x, -1e4, 1e4)
    if function is lax.erf_inv:
        x = np.clip(x, -1, 1)
    with np.errstate(all="ignore"):
        # These functions of JAX are themselves some units off (log1p in f64 by 5, next to -0.38); erfc's tail is relative to a
        # tiny number.
        units = 64 if function in (lax.erfc, lax.erf_inv, lax.cbrt, jnp.log1p) else 8
        check(function, x, rtol=units * EPSILON[dtype], atol=EPSILON[dtype])


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(
    "function", [jnp.add, jnp.subtract, jnp.multiply, jnp.maximum, jnp.minimum, jnp.divide], ids=lambda f: f.__name__
)
def test_exact_binary(check, function, dtype):
    x = difficult(dtype)
    y = np.roll(x, 5)
    with np.errstate(all="ignore"):
        check(function, x, y)


@pytest.mark.parametrize("dtype", FLOATS)
def test_power_and_remainder(check, dtype):
    x, y = np.abs(normal(200, dtype=dtype)), normal(200, dtype=dtype, seed=1)
    check(jnp.power, x, y, rtol=16 * EPSILON[dtype], atol=EPSILON[dtype])
    check(lax.rem, normal(200, dtype=dtype), y, rtol=EPSILON[dtype], atol=EPSILON[dtype])
    check(lax.atan2, normal(200, dtype=dtype), y, rtol=8 * EPSILON[dtype], atol=EPSILON[dtype])


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize(
    "function",
    [
        jnp.add,
        jnp.subtract,
        jnp.multiply,
        jnp.maximum,
        jnp.minimum,
        lax.div,
        lax.rem,
        jnp.bitwise_and,
        jnp.bitwise_or,
        jnp.bitwise_xor,
    ],
    ids=lambda f: f.__name__,
)
def test_integer_binary(check, function, dtype):
    x, y = integers(3, 77, dtype=dtype), integers(3, 77, dtype=dtype, seed=1)
    y[y == 0] = 3
    check(function, x, y)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integer_edges(check, dtype):
    info = np.iinfo(dtype)
    x = np.array([info.min, info.max, 0, 1, -1, info.min, 5], dtype)
    y = np.array([-1, 0, 0, info.min, info.max, info.min, -3], dtype)
    for function in (jnp.add, jnp.multiply, lax.div, lax.rem, jnp.negative, jnp.abs):
        check(function, *([x] if function in (jnp.negative, jnp.abs) else [x, y]))


@pytest.mark.parametrize("dtype", [*FLOATS, np.int8, np.int64, np.bool_])
@pytest.mark.parametrize(
    "function",
    [jnp.equal, jnp.not_equal, jnp.less, jnp.less_equal, jnp.greater, jnp.greater_equal],
    ids=lambda f: f.__name__,
)
def test_compare(check, function, dtype):
    if dtype in FLOATS:
        x = difficult(dtype)
        y = np.roll(x, 1)
        y[::3] = x[::3]
    else:
        x, y = integers(50, low=0, high=3).astype(dtype), integers(50, low=0, high=3, seed=1).astype(dtype)
    check(function, x, y)


def test_booleans(check):
    x, y = integers(41, low=0, high=2).astype(bool), integers(41, low=0, high=2, seed=1).astype(bool)
    check(lambda x, y: (x & y, x | y, x ^ y, ~x), x, y)
    check(lambda x, y: (jnp.any(x), jnp.all(y), jnp.where(x, y, ~y)), x, y)


def test_select_and_clamp(check):
    x, y = normal(5, 19), normal(5, 19, seed=1)
    check(lambda x, y: (jnp.where(x > 0, x, y), jnp.clip(x, -0.5, 0.5), lax.clamp(y, x, y + 1)), x, y)
    check(lambda x: lax.select(x[0, 0] > 0, x, -x), x)


CONVERSIONS = [np.float32, np.float64, np.int8, np.int32, np.int64, np.bool_, np.uint8]


@pytest.mark.parametrize("target", CONVERSIONS)
@pytest.mark.parametrize("source", CONVERSIONS)
def test_convert(check, source, target):
    if np.issubdtype(source, np.floating):
        # What lies outside the target's range is the implementation's choice.
        x = (20 * normal(67)).astype(source)
        x = np.abs(x) if target is np.uint8 else x
    else:
        x = integers(67, low=0 if source in (np.uint8, np.bool_) else -100, dtype=np.int64).astype(source)
    check(lambda x: lax.convert_element_type(x, target), x)


def test_chain(check):
    check(lambda x: jax.nn.gelu(jnp.tanh(x) * 2 + jnp.exp(-x * x)), normal(1000, 37), rtol=1e-5, atol=1e-6)


def test_empty_and_single(check):
    check(lambda x: x + 1, np.zeros((0, 3), np.float32))
    check(lambda x: jnp.sum(x, axis=0), np.zeros((0, 3), np.float32))
    check(lambda x: jnp.exp(x) * 1, np.float32(0))
    check(lambda x: x * x, np.full((1, 1, 1), 3, np.float32))


# --- Shape --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("permutation", [(0, 2, 1), (2, 1, 0), (1, 0, 2), (2, 0, 1)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int8, np.bool_])
def test_transpose(check, permutation, dtype):
    check(lambda x: jnp.transpose(x, permutation), integers(5, 33, 18, low=0, high=2).astype(dtype))


def test_large_transpose(check):
    check(lambda x: x.T, normal(301, 517))
    check(lambda x: x.T + 1, normal(1024, 64))


def test_reshape_and_broadcast(check):
    x = normal(4, 6)
    check(lambda x: (x.reshape(2, 12), x.reshape(24), x[None, :, None, :], jnp.broadcast_to(x[:, None], (4, 5, 6))), x)
    check(lambda x, y: x[:, None] * y[None, :], normal(17), normal(23))
    check(lambda x: jnp.broadcast_to(x, (3, 4)), np.float32(2))


def test_slice_pad_concatenate(check):
    x = normal(9, 14)
    check(lambda x: (x[2:7, ::3], x[1:, :5], x[::-1, 3:4]), x)
    check(lambda x: lax.pad(x, np.float32(7), [(1, 2, 0), (0, 3, 2)]), x)
    check(lambda x: lax.pad(x, np.float32(7), [(-2, 1, 1), (3, -4, 0)]), x)
    check(lambda x: jnp.concatenate([x, 2 * x[:3], x[5:]], axis=0), x)
    check(lambda x: jnp.concatenate([x, x[:, :1], x[:, 3:9]], axis=1), x)
    check(lambda x: jnp.concatenate([x[:0], x], axis=0), x)


def test_iota(check):
    check(
        lambda: (jnp.arange(37), lax.broadcasted_iota(np.float32, (5, 7), 1), lax.broadcasted_iota(np.int8, (5, 7), 0))
    )


@pytest.mark.parametrize("start", [(0, 0), (2, 5), (100, -100)])
def test_dynamic_slices(check, start):
    x, u, i, j = normal(10, 12), normal(3, 4, seed=1), np.int32(start[0]), np.int32(start[1])
    check(lambda x, i, j: lax.dynamic_slice(x, (i, j), (3, 4)), x, i, j)
    check(lambda x, u, i, j: lax.dynamic_update_slice(x, u, (i, j)), x, u, i, j)


def test_gather(check):
    table, rows = normal(50, 16), integers(4, 9, low=0, high=50)
    check(lambda t, i: t[i], table, rows)
    check(lambda t, i: jnp.take(t, i, axis=1), table, integers(7, low=0, high=16))
    check(lambda t, i: jnp.take(t, i, axis=0, mode="clip"), table, integers(30, low=-100, high=100))
    check(lambda t, i, j: t[i, j], table, integers(6, low=0, high=50), integers(6, low=0, high=16))
    check(lambda t, i: jnp.take_along_axis(t, i, axis=1), table, integers(50, 3, low=0, high=16))


# --- Reductions ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("axis", [0, 1, 2, (0, 1), (1, 2), (0, 2), None])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.int8])
def test_reductions(check, axis, dtype):
    x = (10 * normal(7, 33, 19)).astype(dtype)
    tolerance = {"rtol": 100 * EPSILON[dtype], "atol": 1000 * EPSILON[dtype]} if dtype in FLOATS else {}
    check(lambda x: jnp.sum(x, axis=axis, dtype=dtype), x, **tolerance)
    check(lambda x: (jnp.max(x, axis=axis), jnp.min(x, axis=axis)), x)


def test_large_reductions(check):
    x = normal(1000, 1003)
    for axis in (0, 1, None):
        check(lambda x, axis=axis: jnp.sum(x, axis=axis), x, rtol=1e-4, atol=1e-3)
        check(lambda x, axis=axis: jnp.max(jnp.abs(x), axis=axis), x)


def test_products_and_special_values(check):
    check(lambda x: jnp.prod(x, axis=1), 1 + 0.1 * normal(9, 21), rtol=1e-5)
    x = normal(6, 40)
    x[1, 3], x[2, 7], x[3, 9], x[4, 11] = np.nan, np.inf, -np.inf, np.nan
    check(lambda x: (jnp.max(x, axis=1), jnp.min(x, axis=1), jnp.max(x, axis=0)), x)


def test_argmax(check):
    x = normal(11, 37)
    x[3, 5] = x[3, 9] = 50
    check(lambda x: (jnp.argmax(x, axis=1), jnp.argmin(x, axis=0)), x)


@pytest.mark.parametrize("shape", [(4, 5), (64, 1024), (33, 777)])
def test_softmax_and_layernorm(check, shape):
    import models

    x = normal(*shape)
    check(lambda x: jax.nn.softmax(x, axis=-1), x, rtol=1e-5, atol=1e-7)
    check(lambda x: jax.nn.log_softmax(x, axis=-1), x, rtol=1e-5, atol=1e-5)
    check(lambda x: jax.nn.softmax(x, axis=0), x, rtol=1e-5, atol=1e-7)
    check(models.layer_norm, x, normal(shape[1], seed=1), normal(shape[1], seed=2), rtol=1e-4, atol=1e-5)


# --- Products -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(
    "size",
    [(1, 1, 1), (5, 7, 3), (64, 64, 64), (33, 129, 65), (1, 300, 50), (200, 1, 31), (130, 257, 1), (256, 512, 384)],
)
def test_matmul(check, size, dtype):
    m, k, n = size
    a, b = normal(m, k, dtype=dtype), normal(k, n, dtype=dtype, seed=1)
    limit = 30 * EPSILON[dtype] * np.sqrt(k)
    check(jnp.matmul, a, b, rtol=limit, atol=limit)
    check(lambda a, b: a.T @ b.T, normal(k, m, dtype=dtype), normal(n, k, dtype=dtype), rtol=limit, atol=limit)


def test_matvec_and_dot(check):
    a, x = normal(300, 257), normal(257, seed=1)
    check(lambda a, x: a @ x, a, x, rtol=1e-4, atol=1e-4)
    check(lambda a, x: x @ a.T, a, x, rtol=1e-4, atol=1e-4)
    check(lambda x: x @ x, x, rtol=1e-5)


def test_batched(check):
    a, b = normal(2, 3, 17, 29), normal(2, 3, 29, 11, seed=1)
    check(jnp.matmul, a, b, rtol=1e-5, atol=1e-5)
    check(
        lambda a, b: jnp.einsum("bhqd,bhkd->bhqk", a, b), normal(2, 3, 17, 8), normal(2, 3, 21, 8), rtol=1e-5, atol=1e-5
    )
    check(lambda a, b: jnp.einsum("abc,cbd->bad", a, b), normal(5, 6, 7), normal(7, 6, 4), rtol=1e-5, atol=1e-5)
    check(
        lambda a, b: jnp.tensordot(a, b, axes=((0, 2), (2, 1))), normal(4, 5, 6), normal(3, 6, 4), rtol=1e-5, atol=1e-5
    )


@pytest.mark.parametrize("dtype", [np.int8, np.int32])
def test_integer_matmul(check, dtype):
    check(
        lambda a, b: lax.dot(a, b, preferred_element_type=np.int32),
        integers(13, 21, dtype=dtype),
        integers(21, 9, dtype=dtype),
    )


def test_fused_epilogues(check):
    a, w, bias, residual = normal(70, 96), normal(96, 80, seed=1), normal(80, seed=2), normal(70, 80, seed=3)
    check(lambda a, w, b: jax.nn.relu(a @ w + b), a, w, bias, rtol=1e-5, atol=1e-4)
    check(lambda a, w, b, r: jax.nn.gelu(a @ w + b) + r, a, w, bias, residual, rtol=1e-5, atol=1e-4)
    check(lambda a, w, b: (lambda y: (y, jnp.sum(y, axis=1)))(a @ w + b), a, w, bias, rtol=1e-4, atol=1e-3)


def test_a_value_used_many_times(check):
    x = normal(40, 40)
    check(lambda x: (lambda y: (y, y.T, y @ y, y + 1, jnp.sum(y)))(jnp.tanh(x)), x, rtol=1e-4, atol=1e-4)


def test_results_that_are_arguments_and_constants(check):
    x = normal(3, 4)
    check(lambda x: (x, x, jnp.ones((5,)), x + 1, np.float32(3) * jnp.ones(())), x)


def test_nested_functions(check):
    @jax.jit
    def inner(x):
        return jnp.sin(x) + 1

    check(lambda x: inner(inner(x)) * inner(2 * x), normal(50), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("digits", ["0100000101000000010001", "3901"], ids=["bytes", "bits"])
def test_boolean_constants_of_either_form(digits):
    """Texts have a byte or a bit an element."""
    text = f"""
    func.func @main() -> tensor<11xi1> {{
      %c = stablehlo.constant dense<"0x{digits}"> : tensor<11xi1>
      return %c : tensor<11xi1>
    }}"""
    expected = [1, 0, 0, 1, 1, 0, 0, 0, 1, 0, 1] if len(digits) > 4 else [1, 0, 0, 1, 1, 1, 0, 0, 1, 0, 0]
    np.testing.assert_array_equal(latewood.compile(text)(), np.array(expected, bool))


@pytest.mark.parametrize("dtype", [np.float32, np.int8, np.int32, np.float16])
def test_reductions_from_a_computed_value(check, dtype):
    """The value that a reduction begins with, and that a window has outside, is known at run time only."""
    x, start = np.arange(12).reshape(3, 4).astype(dtype), np.asarray(3, dtype)

    def reductions(x, start):
        begin = (start + start).astype(jnp.int64).astype(x.dtype)
        return (
            lax.reduce(x, begin, lax.add, (1,)),
            lax.reduce_window(x, begin, lax.max, (2, 2), (1, 1), "SAME"),
        )

    check(reductions, x, start)
