# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations that are expanded into simpler ones, against JAX: special functions, selections, normalization, random numbers,
factorizations, Fourier transforms, and what one process does alone."""

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from conftest import lower_text
from jax import lax

import latewood

TOLERANCE = {np.float32: 2e-5, np.float64: 1e-11}


def normal(*shape, dtype=np.float32, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def grid(dtype) -> np.ndarray:
    """Numbers of many sizes and both signs, integers and halves, and the values where functions have poles."""
    sizes = np.concatenate([10.0 ** np.arange(-6, 6), np.arange(1, 40), np.arange(1, 40) - 0.5, [0.0]])
    special = [np.inf, -np.inf, np.nan]
    return np.concatenate([sizes, -sizes, special, 3 * normal(200)]).astype(dtype)


def run(text, *arguments):
    results = latewood.compile(text)(*arguments)
    return results if isinstance(results, tuple) else (results,)


# --- Special functions --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("function", [lax.lgamma, lax.digamma, lax.bessel_i1e], ids=lambda f: f.__name__)
def test_special_function(check, function, dtype):
    tolerance = TOLERANCE[dtype]
    check(function, grid(dtype), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("function", [lax.lgamma, lax.digamma], ids=lambda f: f.__name__)
@pytest.mark.parametrize("dtype", [np.float16, jnp.bfloat16])
def test_special_function_of_narrow_floats(function, dtype):
    x = (np.arange(1, 100) / 8).astype(dtype)
    (got,) = run(jax.jit(function).lower(x), x)
    expected = np.asarray(function(x.astype(np.float32))).astype(dtype)
    rounding = 2.0 ** (-7 if dtype == jnp.bfloat16 else -10)
    np.testing.assert_allclose(
        np.asarray(got).astype(np.float32), expected.astype(np.float32), rtol=rounding, atol=1e-6
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_zeta(check, dtype):
    x, q = np.meshgrid(np.array([0.5, 1, 1.5, 2, 3, 4.5, 10, 50]), np.array([-3, -2.5, 0, 1e-3, 0.5, 1, 2.5, 30, 1e4]))
    check(lax.zeta, x.astype(dtype), q.astype(dtype), rtol=TOLERANCE[dtype], atol=1e-30)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_polygamma(check, dtype):
    n, x = np.meshgrid(np.array([0, 1, 2, 5, 1.5, -1]), np.array([0.25, 1, 1.5, 7.5, 100]))
    check(lax.polygamma, n.astype(dtype), x.astype(dtype), rtol=10 * TOLERANCE[dtype], atol=1e-30)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_next_after(check, dtype):
    values = np.array(
        [0.0, -0.0, 1, -1, 1.5, np.inf, -np.inf, np.nan, np.finfo(dtype).max, np.finfo(dtype).tiny], dtype
    )
    x, y = (m.copy() for m in np.meshgrid(values, values))
    (got,) = run(jax.jit(jnp.nextafter).lower(x, y), x, y)
    np.testing.assert_array_equal(got, np.nextafter(x, y))


NARROW = {
    "f4E2M1FN": "float4_e2m1fn", "f6E2M3FN": "float6_e2m3fn", "f6E3M2FN": "float6_e3m2fn", "f8E3M4": "float8_e3m4",
    "f8E4M3": "float8_e4m3", "f8E4M3FN": "float8_e4m3fn", "f8E4M3FNUZ": "float8_e4m3fnuz", "f8E4M3B11FNUZ": "float8_e4m3b11fnuz",
    "f8E5M2": "float8_e5m2", "f8E5M2FNUZ": "float8_e5m2fnuz", "f8E8M0FNU": "float8_e8m0fnu",
}  # fmt: skip


@pytest.mark.parametrize("element", NARROW)
def test_next_after_of_narrow_floats(element):
    """Every number toward every number, against a list of all of them."""
    dtype = np.dtype(getattr(ml_dtypes, NARROW[element]))
    bits = {"f4": 4, "f6": 6, "f8": 8}[element[:2]]
    every = np.arange(1 << bits, dtype=np.uint8).view(dtype).astype(np.float64)
    numbers = np.unique(every[~np.isnan(every)])
    values = np.concatenate([numbers, [np.nan]]) if np.isnan(every).any() else numbers
    x, y = (m.copy() for m in np.meshgrid(values, values))
    shape = "x".join(map(str, x.shape))
    text = f"""
func.func public @main(%x: tensor<{shape}xf64>, %y: tensor<{shape}xf64>) -> tensor<{shape}xf64> {{
  %0 = stablehlo.convert %x : (tensor<{shape}xf64>) -> tensor<{shape}x{element}>
  %1 = stablehlo.convert %y : (tensor<{shape}xf64>) -> tensor<{shape}x{element}>
  %2 = chlo.next_after %0, %1 : tensor<{shape}x{element}>, tensor<{shape}x{element}> -> tensor<{shape}x{element}>
  %3 = stablehlo.convert %2 : (tensor<{shape}x{element}>) -> tensor<{shape}xf64>
  return %3 : tensor<{shape}xf64>
}}
"""
    (got,) = run(text, x, y)
    place = np.searchsorted(numbers, np.where(np.isnan(x), numbers[0], x))
    step = np.where(y > x, 1, np.where(y < x, -1, 0))
    want = numbers[place + step]
    want = np.where(np.isnan(x) | np.isnan(y), np.nan, want)
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_remainder_of_complex_numbers(dtype):
    """The dividend less the divisor times their quotient, of which each part is rounded toward zero."""
    rng = np.random.default_rng(3)
    x = (rng.normal(size=200) * 9 + 1j * rng.normal(size=200) * 9).astype(dtype)
    y = (rng.normal(size=200) + 1j * rng.normal(size=200) + 0.2).astype(dtype)
    element = "f32" if dtype == np.complex64 else "f64"
    kind = f"tensor<200xcomplex<{element}>>"
    text = f"""
func.func public @main(%x: {kind}, %y: {kind}) -> {kind} {{
  %0 = stablehlo.remainder %x, %y : {kind}
  return %0 : {kind}
}}
"""
    (got,) = run(text, x, y)
    quotient = x.astype(np.complex128) / y
    want = x - y.astype(np.complex128) * (np.trunc(quotient.real) + 1j * np.trunc(quotient.imag))
    np.testing.assert_allclose(got, want, rtol=1e-5 if dtype == np.complex64 else 1e-10, atol=1e-6)
    assert np.all(np.abs(got) < np.abs(y) * 1.415)


SELECT_AND_SCATTER = """
func.func public @main(%x: tensor<5x7xcomplex<f32>>, %s: tensor<3x4xcomplex<f32>>, %init: tensor<complex<f32>>)
    -> tensor<5x7xcomplex<f32>> {
  %0 = "stablehlo.select_and_scatter"(%x, %s, %init) ({
  ^bb0(%a: tensor<complex<f32>>, %b: tensor<complex<f32>>):
    %c = stablehlo.real %a : (tensor<complex<f32>>) -> tensor<f32>
    %d = stablehlo.real %b : (tensor<complex<f32>>) -> tensor<f32>
    %p = stablehlo.compare GE, %c, %d : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }, {
  ^bb0(%a: tensor<complex<f32>>, %b: tensor<complex<f32>>):
    %c = stablehlo.add %a, %b : tensor<complex<f32>>
    stablehlo.return %c : tensor<complex<f32>>
  }) {window_dimensions = array<i64: 3, 2>, window_strides = array<i64: 2, 2>, padding = dense<[[1, 1], [0, 1]]> : tensor<2x2xi64>}
    : (tensor<5x7xcomplex<f32>>, tensor<3x4xcomplex<f32>>, tensor<complex<f32>>) -> tensor<5x7xcomplex<f32>>
  return %0 : tensor<5x7xcomplex<f32>>
}
"""


def test_select_and_scatter_of_complex_numbers():
    rng = np.random.default_rng(5)

    def numbers(*shape):
        return (rng.integers(-3, 4, shape) + 1j * rng.integers(-3, 4, shape)).astype(np.complex64)

    x, source, init = numbers(5, 7), numbers(3, 4), np.complex64(2 - 1j)
    want = np.full(x.shape, init)
    for i in range(3):
        for j in range(4):
            places = [
                (2 * i - 1 + k, 2 * j + m)
                for k in range(3)
                for m in range(2)
                if 0 <= 2 * i - 1 + k < 5 and 2 * j + m < 7
            ]
            best = places[0]
            for place in places[1:]:
                if not x[best].real >= x[place].real:
                    best = place
            want[best] += source[i, j]
    (got,) = run(SELECT_AND_SCATTER, x, source, init)
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64])
def test_high_half_of_a_product(dtype):
    info = np.iinfo(dtype)
    numbers = [0, 1, 2, info.max, info.min, info.max // 3, info.max // 2 + 1]
    if info.min < 0:
        numbers += [-1, -2, info.min // 5]
    x, y = (m.flatten() for m in np.meshgrid(np.array(numbers, dtype), np.array(numbers, dtype)))
    element = ("ui" if info.min == 0 else "i") + str(info.bits)
    kind = f"tensor<{len(x)}x{element}>"
    (got,) = run(
        f"func.func public @main(%x: {kind}, %y: {kind}) -> {kind} {{\n  %0 = chlo.mulhi %x, %y : {kind}, {kind} -> {kind}\n"
        f"  return %0 : {kind}\n}}",
        x,
        y,
    )
    expected = np.array([(int(a) * int(b)) >> info.bits for a, b in zip(x, y, strict=True)], dtype)
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("name", ["is_inf", "is_pos_inf", "is_neg_inf"])
def test_infinity_predicates(name):
    x = np.array([0, 1, np.inf, -np.inf, np.nan], np.float32)
    (got,) = run(
        f"func.func public @main(%x: tensor<5xf32>) -> tensor<5xi1> {{\n  %0 = chlo.{name} %x : tensor<5xf32> -> tensor<5xi1>\n"
        "  return %0 : tensor<5xi1>\n}",
        x,
    )
    expected = {"is_inf": np.isinf(x), "is_pos_inf": np.isposinf(x), "is_neg_inf": np.isneginf(x)}[name]
    np.testing.assert_array_equal(got, expected)


# --- Selections ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "dtype", [np.float32, np.float64, np.float16, np.int8, np.uint8, np.int32, np.uint32, np.int64, np.uint64]
)
@pytest.mark.parametrize(("extent", "k"), [(100, 1), (100, 5), (100, 30), (1000, 700), (7, 7), (1, 1), (40, 0)])
def test_top_k(check, dtype, extent, k):
    rng = np.random.default_rng(0)
    if np.issubdtype(dtype, np.floating):
        x = rng.integers(-20, 20, (3, extent)).astype(dtype)
        x[:, ::7] = np.nan
        x[0, 0] = np.inf
        x[0, -1] = -np.inf
    else:
        info = np.iinfo(dtype)
        x = rng.integers(info.min, info.max, (3, extent), dtype, endpoint=True)
        x[1] = x[1, 0]
    check(lambda a: lax.top_k(a, k), x)


def test_top_k_orders_zeros_and_nans():
    x = np.array([0.0, -0.0, -np.nan, 1, np.nan, -1], np.float32)
    values, indices = run(jax.jit(lambda a: lax.top_k(a, 6)).lower(x), x)
    np.testing.assert_array_equal(indices, [4, 3, 0, 1, 5, 2])
    np.testing.assert_array_equal(values.view(np.uint32), x[indices].view(np.uint32))


def test_approx_top_k_is_exact(check):
    check(lambda a: lax.approx_max_k(a, 5), normal(4, 60))
    check(lambda a: lax.approx_min_k(a, 5, reduction_dimension=0), normal(60, 4))


# --- Normalization ------------------------------------------------------------------------------------------------------

SHAPES = "tensor<4x3x5xf32>"


def batch_norm_training(x, scale, offset, epsilon):
    mean = x.mean((0, 2))
    variance = x.var((0, 2))
    y = (x - mean[:, None]) / np.sqrt(variance[:, None] + epsilon)
    return y * scale[:, None] + offset[:, None], mean, variance


def test_batch_norm_training():
    x, scale, offset = normal(4, 3, 5), normal(3, seed=1), normal(3, seed=2)
    got = run(
        f"""
func.func public @main(%x: {SHAPES}, %s: tensor<3xf32>, %o: tensor<3xf32>) -> ({SHAPES}, tensor<3xf32>, tensor<3xf32>) {{
  %y, %m, %v = "stablehlo.batch_norm_training"(%x, %s, %o) {{epsilon = 0.125 : f32, feature_index = 1 : i64}}
      : ({SHAPES}, tensor<3xf32>, tensor<3xf32>) -> ({SHAPES}, tensor<3xf32>, tensor<3xf32>)
  return %y, %m, %v : {SHAPES}, tensor<3xf32>, tensor<3xf32>
}}""",
        x,
        scale,
        offset,
    )
    for mine, theirs in zip(got, batch_norm_training(x, scale, offset, 0.125), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-5, atol=1e-6)


def test_batch_norm_inference():
    x, scale, offset, mean, variance = (
        normal(4, 3, 5),
        *(normal(3, seed=s) for s in range(1, 4)),
        np.abs(normal(3, seed=4)),
    )
    (got,) = run(
        f"""
func.func public @main(%x: {SHAPES}, %s: tensor<3xf32>, %o: tensor<3xf32>, %m: tensor<3xf32>, %v: tensor<3xf32>) -> {SHAPES} {{
  %y = "stablehlo.batch_norm_inference"(%x, %s, %o, %m, %v) {{epsilon = 0.125 : f32, feature_index = 1 : i64}}
      : ({SHAPES}, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> {SHAPES}
  return %y : {SHAPES}
}}""",
        x,
        scale,
        offset,
        mean,
        variance,
    )
    expected = (x - mean[:, None]) / np.sqrt(variance[:, None] + 0.125) * scale[:, None] + offset[:, None]
    np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-6)


def test_batch_norm_grad():
    x, scale, gradient = normal(4, 3, 5), normal(3, seed=1), normal(4, 3, 5, seed=2)
    mean, variance = x.mean((0, 2)), x.var((0, 2))
    got = run(
        f"""
func.func public @main(%x: {SHAPES}, %s: tensor<3xf32>, %m: tensor<3xf32>, %v: tensor<3xf32>, %g: {SHAPES})
    -> ({SHAPES}, tensor<3xf32>, tensor<3xf32>) {{
  %y, %a, %b = "stablehlo.batch_norm_grad"(%x, %s, %m, %v, %g) {{epsilon = 0.125 : f32, feature_index = 1 : i64}}
      : ({SHAPES}, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, {SHAPES}) -> ({SHAPES}, tensor<3xf32>, tensor<3xf32>)
  return %y, %a, %b : {SHAPES}, tensor<3xf32>, tensor<3xf32>
}}""",
        x,
        scale,
        mean,
        variance,
        gradient,
    )

    def forward(x, scale, offset):
        mean = x.mean((0, 2))
        variance = ((x - mean[:, None]) ** 2).mean((0, 2))
        return (x - mean[:, None]) / jnp.sqrt(variance[:, None] + 0.125) * scale[:, None] + offset[:, None]

    _, pullback = jax.vjp(forward, x, scale, np.zeros(3, np.float32))
    for mine, theirs in zip(got, pullback(gradient), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-4, atol=1e-5)


# --- Random numbers -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("algorithm", ["RNG_DEFAULT", "RNG_THREE_FRY", "RNG_PHILOX"])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32, np.uint64])
@pytest.mark.parametrize("shape", [(), (1,), (7,), (8,), (3, 4), (5, 3), (2, 3, 5), (0, 2)])
def test_bit_generator_gives_the_bits_of_xla(check, algorithm, dtype, shape):
    key = np.array([0x123456789ABCDEF0, 0xFFFFFFFFFFFFFFFE], np.uint64)
    chosen = getattr(lax.RandomAlgorithm, algorithm)
    check(lambda k: lax.rng_bit_generator(k, shape, dtype, algorithm=chosen), key)


def test_bit_generator_with_a_key_of_words(check):
    key = np.array([1, 2, 3, 4], np.uint32)
    check(lambda k: lax.rng_bit_generator(k, (6, 5), np.uint32), key)


@pytest.mark.parametrize("implementation", ["threefry2x32", "rbg", "unsafe_rbg"])
def test_keys(check, implementation):
    def sample(seed):
        key = jax.random.key(seed, impl=implementation)
        first, second = jax.random.split(key)
        return jax.random.bits(first, (5, 4)), jax.random.uniform(second, (3, 7))

    check(sample, np.int32(42))


def rng(shape, element, distribution, count=1):
    dims = "x".join(str(extent) for extent in shape)
    lines = [
        f"  %{i} = stablehlo.rng %a, %b, %s, distribution = {distribution} : (tensor<{element}>, tensor<{element}>, "
        f"tensor<{len(shape)}xi64>) -> tensor<{dims}x{element}>"
        for i in range(count)
    ]
    types = ", ".join([f"tensor<{dims}x{element}>"] * count)
    return f"""
func.func public @main(%a: tensor<{element}>, %b: tensor<{element}>) -> ({types}) {{
  %s = stablehlo.constant dense<{list(shape)}> : tensor<{len(shape)}xi64>
{chr(10).join(lines)}
  return {", ".join(f"%{i}" for i in range(count))} : {types}
}}"""


@pytest.mark.parametrize(
    ("element", "dtype"), [("f32", np.float32), ("f64", np.float64), ("i32", np.int32), ("ui8", np.uint8)]
)
def test_uniform_numbers(element, dtype):
    first, second = run(rng((100, 50), element, "UNIFORM", 2), dtype(3), dtype(19))
    assert first.dtype == dtype
    assert first.min() >= 3
    assert first.max() < 19
    assert (first != second).any()
    middle = 11 if np.issubdtype(dtype, np.floating) else 10.5
    assert abs(first.astype(np.float64).mean() - middle) < 0.4


def test_normal_numbers():
    (got,) = run(rng((200, 100), "f32", "NORMAL"), np.float32(2), np.float32(3))
    assert np.isfinite(got).all()
    assert abs(got.mean() - 2) < 0.1
    assert abs(got.std() - 3) < 0.1


# --- Factorizations -----------------------------------------------------------------------------------------------------


def positive(*shape, dtype):
    a = normal(*shape, dtype=dtype)
    return a @ np.swapaxes(a, -1, -2) + shape[-1] * np.eye(shape[-1], dtype=dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(1, 1), (5, 5), (33, 33), (100, 100), (2, 3, 8, 8)])
def test_cholesky(check, shape, dtype):
    check(jnp.linalg.cholesky, positive(*shape, dtype=dtype), rtol=100 * TOLERANCE[dtype], atol=100 * TOLERANCE[dtype])


def test_cholesky_of_an_indefinite_matrix_is_nan(check):
    check(jnp.linalg.cholesky, np.array([[1, 2], [2, 1]], np.float32))


@pytest.mark.parametrize("lower", ["true", "false"])
def test_cholesky_operation(lower):
    a = positive(6, 6, dtype=np.float64)
    (got,) = run(
        f"func.func public @main(%a: tensor<6x6xf64>) -> tensor<6x6xf64> {{\n"
        f"  %0 = stablehlo.cholesky %a, lower = {lower} : tensor<6x6xf64>\n  return %0 : tensor<6x6xf64>\n}}",
        a,
    )
    factor = np.linalg.cholesky(a)
    np.testing.assert_allclose(got, factor if lower == "true" else factor.T, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("extent", [1, 6, 50])
@pytest.mark.parametrize("left", [True, False])
@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("unit", [True, False])
@pytest.mark.parametrize("transpose", [True, False])
def test_triangular_solve(check, extent, left, lower, unit, transpose):
    # What is in the other triangle must not matter.
    a = (normal(2, extent, extent, dtype=np.float64) / extent + 2 * np.eye(extent)).astype(np.float64)
    other = np.triu(np.ones((extent, extent), bool), 1) if lower else np.tril(np.ones((extent, extent), bool), -1)
    a[:, other] = np.nan
    b = normal(*((2, extent, 4) if left else (2, 4, extent)), dtype=np.float64, seed=1)

    def solve(a, b):
        return lax.linalg.triangular_solve(a, b, left_side=left, lower=lower, unit_diagonal=unit, transpose_a=transpose)

    check(solve, a, b, rtol=1e-10, atol=1e-10)


def test_triangular_solve_operation():
    a, b = np.tril(normal(5, 5, dtype=np.float64)) + 3 * np.eye(5), normal(5, 2, dtype=np.float64, seed=1)
    (got,) = run(
        """
func.func public @main(%a: tensor<5x5xf64>, %b: tensor<5x2xf64>) -> tensor<5x2xf64> {
  %0 = "stablehlo.triangular_solve"(%a, %b) {left_side = true, lower = true, unit_diagonal = false,
      transpose_a = #stablehlo<transpose TRANSPOSE>} : (tensor<5x5xf64>, tensor<5x2xf64>) -> tensor<5x2xf64>
  return %0 : tensor<5x2xf64>
}""",
        a,
        b,
    )
    np.testing.assert_allclose(got, np.linalg.solve(a.T, b), rtol=1e-12)


@pytest.mark.parametrize("shape", [(1, 1), (6, 6), (8, 3), (3, 8), (40, 40), (3, 5, 5)])
def test_lu(check, shape):
    check(lax.linalg.lu, normal(*shape, dtype=np.float64), rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("shape", [(5, 5), (2, 4, 4)])
def test_complex_factorizations(check, shape):
    a = normal(*shape, dtype=np.float64) + 1j * normal(*shape, dtype=np.float64, seed=1)
    positive = a @ np.conj(np.swapaxes(a, -1, -2)) + np.eye(shape[-1])
    check(lambda a, p: (*lax.linalg.lu(a), jnp.linalg.cholesky(p)), a, positive, rtol=1e-10, atol=1e-10)
    check(lambda a, b: jnp.linalg.solve(a, b), a, a[..., :2], rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("shape", [(1, 1), (6, 6), (50, 50), (3, 5, 5)])
def test_solve_and_determinant(check, shape):
    a, b = normal(*shape, dtype=np.float64), normal(*shape[:-1], 2, dtype=np.float64, seed=1)
    check(lambda a, b: (jnp.linalg.solve(a, b), jnp.linalg.det(a), jnp.linalg.inv(a)), a, b, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("shape", [(1, 1), (6, 6), (8, 3), (3, 8), (40, 40), (2, 5, 4)])
def test_qr(check, shape):
    check(jnp.linalg.qr, normal(*shape, dtype=np.float64), rtol=1e-10, atol=1e-11)


def test_qr_of_zeros(check):
    check(jnp.linalg.qr, np.zeros((4, 3), np.float32))


@pytest.mark.parametrize("shape", [(1,), (2,), (3,), (20,), (4, 6)])
def test_tridiagonal_solve(check, shape):
    # Small diagonals, so that rows are exchanged.
    diagonals = [normal(*shape, dtype=np.float64, seed=s) for s in range(3)]
    diagonals[0][..., 0] = 0
    diagonals[2][..., -1] = 0
    check(lax.linalg.tridiagonal_solve, *diagonals, normal(*shape, 3, dtype=np.float64, seed=4), rtol=1e-8, atol=1e-8)


def symmetric(*shape, dtype):
    a = normal(*shape, dtype=dtype)
    return a + np.swapaxes(a, -1, -2)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(1, 1), (2, 2), (3, 3), (8, 8), (31, 31), (3, 5, 5)])
def test_symmetric_eigenvalues(shape, dtype):
    a = symmetric(*shape, dtype=dtype)
    values, vectors = run(jax.jit(lambda a: tuple(jnp.linalg.eigh(a))).lower(a), a)
    tolerance = 20 * np.finfo(dtype).eps * shape[-1]
    np.testing.assert_allclose(values, np.linalg.eigvalsh(a.astype(np.float64)), atol=tolerance, rtol=tolerance)
    np.testing.assert_allclose(a @ vectors, vectors * values[..., None, :], atol=tolerance, rtol=tolerance)
    identity = np.broadcast_to(np.eye(shape[-1]), shape)
    np.testing.assert_allclose(np.swapaxes(vectors, -1, -2) @ vectors, identity, atol=tolerance)


@pytest.mark.parametrize(
    "a", [np.zeros((4, 4)), np.eye(5), np.diag([3.0, 1, 2]), np.ones((6, 6)), 1e200 * np.ones((3, 3))]
)
def test_eigenvalues_of_special_matrices(a):
    values, vectors = run(jax.jit(lambda a: tuple(jnp.linalg.eigh(a))).lower(a), a)
    np.testing.assert_allclose(values, np.linalg.eigvalsh(a), rtol=1e-13, atol=1e-14 * max(1, np.abs(a).max()))
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(len(a)), atol=1e-13)


def test_eigenvalues_of_nan():
    a = np.full((3, 3), np.nan, np.float32)
    values, vectors = run(jax.jit(lambda a: tuple(jnp.linalg.eigh(a))).lower(a), a)
    assert np.isnan(values).all()
    assert np.isnan(vectors).all()


@pytest.mark.parametrize("full", [True, False])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(1, 1), (1, 4), (4, 1), (5, 5), (8, 3), (3, 8), (40, 21), (2, 3, 6, 4)])
def test_singular_values(shape, dtype, full):
    a = normal(*shape, dtype=dtype)
    u, s, vt = run(jax.jit(lambda a: tuple(jnp.linalg.svd(a, full_matrices=full))).lower(a), a)
    count = min(shape[-2:])
    tolerance = 20 * np.finfo(dtype).eps * max(shape[-2:])
    np.testing.assert_allclose(s, np.linalg.svd(a.astype(np.float64), compute_uv=False), rtol=tolerance, atol=tolerance)
    assert u.shape[-1] == (shape[-2] if full else count)
    assert vt.shape[-2] == (shape[-1] if full else count)
    np.testing.assert_allclose(
        (u[..., :count] * s[..., None, :]) @ vt[..., :count, :], a, rtol=tolerance, atol=tolerance
    )
    np.testing.assert_allclose(
        np.swapaxes(u, -1, -2) @ u,
        np.broadcast_to(np.eye(u.shape[-1]), (*shape[:-2], *(u.shape[-1:] * 2))),
        atol=tolerance,
    )
    np.testing.assert_allclose(
        vt @ np.swapaxes(vt, -1, -2),
        np.broadcast_to(np.eye(vt.shape[-2]), (*shape[:-2], *(vt.shape[-2:-1] * 2))),
        atol=tolerance,
    )


@pytest.mark.parametrize(
    "a", [np.zeros((4, 3)), np.ones((5, 4)), np.diag([3.0, 0, 2]), 1e-200 * normal(4, 4, dtype=np.float64)]
)
def test_singular_values_of_special_matrices(a):
    u, s, vt = run(jax.jit(lambda a: tuple(jnp.linalg.svd(a))).lower(a), a)
    largest = max(np.abs(a).max(), 1e-300)
    np.testing.assert_allclose(s / largest, np.linalg.svd(a / largest, compute_uv=False), rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(u.T @ u, np.eye(len(u)), atol=1e-13)
    np.testing.assert_allclose(vt @ vt.T, np.eye(len(vt)), atol=1e-13)


def test_singular_values_alone_and_what_is_made_of_them(check):
    a = normal(6, 4, dtype=np.float64)
    check(lambda a: jnp.linalg.svd(a, compute_uv=False), a, rtol=1e-12)
    check(lambda a: (jnp.linalg.pinv(a), jnp.linalg.matrix_rank(a), jnp.linalg.norm(a, 2)), a, rtol=1e-10, atol=1e-12)


def test_general_eigenvalues_are_refused():
    with pytest.raises(latewood.CompilationError, match="complex eigenvalues"):
        latewood.compile(jax.jit(jnp.linalg.eig).lower(np.eye(3, dtype=np.float32)))


# --- Fourier transforms -------------------------------------------------------------------------------------------------

LENGTHS = [1, 2, 3, 8, 13, 60, 64, 65, 67, 100, 134, 167, 251, 256, 509, 1000]


@pytest.mark.parametrize("length", LENGTHS)
def test_spectrum_and_back(check, length):
    """Real transforms, whose complex side stays inside the program."""

    def power(x):
        spectrum = jnp.fft.rfft(x)
        return jnp.real(spectrum), jnp.imag(spectrum), jnp.fft.irfft(spectrum, length)

    check(power, normal(3, length, dtype=np.float64), rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_fft(check, length, dtype):
    x = (normal(2, length) + 1j * normal(2, length, seed=1)).astype(dtype)
    tolerance = 1e-4 if dtype == np.complex64 else 1e-10
    check(lambda x: (jnp.fft.fft(x), jnp.fft.ifft(x)), x, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize(
    "function", [jnp.fft.fft2, jnp.fft.ifft2, jnp.fft.fftn, jnp.fft.ifftn], ids=lambda f: f.__name__
)
def test_fft_in_several_dimensions(check, function):
    check(function, normal(6, 10, 15) + 1j * normal(6, 10, 15, seed=1), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("function", [jnp.fft.rfft2, jnp.fft.rfftn], ids=lambda f: f.__name__)
def test_real_fft_in_several_dimensions(check, function):
    inverse = {"rfft2": jnp.fft.irfft2, "rfftn": jnp.fft.irfftn}[function.__name__]
    check(lambda x: inverse(function(x)), normal(6, 10, 16), rtol=1e-4, atol=1e-5)


# --- Static forms, and one process --------------------------------------------------------------------------------------


def test_dynamic_operations_of_static_types():
    x = normal(2, 3)
    (got,) = run(
        """
func.func public @main(%x: tensor<2x3xf32>) -> tensor<5x6xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %shape = stablehlo.constant dense<[3, 2]> : tensor<2xi32>
  %0 = stablehlo.dynamic_reshape %x, %shape : (tensor<2x3xf32>, tensor<2xi32>) -> tensor<3x2xf32>
  %low = stablehlo.constant dense<[1, 0]> : tensor<2xi32>
  %high = stablehlo.constant dense<[1, 1]> : tensor<2xi32>
  %interior = stablehlo.constant dense<[0, 3]> : tensor<2xi32>
  %1 = stablehlo.dynamic_pad %0, %zero, %low, %high, %interior
      : (tensor<3x2xf32>, tensor<f32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<5x6xf32>
  return %1 : tensor<5x6xf32>
}""",
        x,
    )
    expected = np.zeros((5, 6), np.float32)
    expected[1:4, 0:5:4] = x.reshape(3, 2)
    np.testing.assert_array_equal(got, expected)


def test_collectives_of_one_process():
    x = normal(4)
    got = run(
        """
func.func public @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<ui32>) {
  %0 = "stablehlo.all_reduce"(%x) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) {replica_groups = dense<0> : tensor<1x1xi64>} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = "stablehlo.collective_permute"(%x) {source_target_pairs = dense<> : tensor<0x2xi64>} : (tensor<4xf32>) -> tensor<4xf32>
  %2 = stablehlo.partition_id : tensor<ui32>
  return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<ui32>
}""",
        x,
    )
    np.testing.assert_array_equal(got[0], x)
    np.testing.assert_array_equal(got[1], np.zeros(4))
    assert got[2] == 0


def test_collectives_of_several_processes_are_refused():
    with pytest.raises(latewood.CompilationError, match="only programs for one device"):
        latewood.compile(
            """
func.func public @main(%x: tensor<4xf32>) -> tensor<8xf32> {
  %0 = "stablehlo.all_gather"(%x) {all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}
      : (tensor<4xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}"""
        )


def test_transfers_are_refused():
    with pytest.raises(latewood.CompilationError, match="pass them as arguments and results"):
        latewood.compile(
            """
func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %token = stablehlo.create_token : !stablehlo.token
  %0 = "stablehlo.outfeed"(%x, %token) {outfeed_config = ""} : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token
  return %x : tensor<4xf32>
}"""
        )


def test_text_is_what_jax_prints():
    """The tests above are about expansions only if JAX does not expand these itself."""
    assert "chlo.lgamma" in lower_text(lax.lgamma, np.float32(1))
    assert "chlo.top_k" in lower_text(lambda a: lax.top_k(a, 2), normal(4))
