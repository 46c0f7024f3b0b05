# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every kind of operation on dynamic shapes: programs that JAX exports with symbolic dimensions, compiled once, and run at extents
of 1, a few, odd and large. JAX computes the expectations."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import export, lax

from latewood import compiler, errors, runtime

EXTENTS = (1, 2, 7, 64, 301)


def matrix(rng, n):
    return rng.standard_normal((n, 8)).astype(np.float32)


def vector(rng, n):
    return rng.standard_normal(n).astype(np.float32)


def integers(rng, n):
    return rng.integers(-50, 50, (n,)).astype(np.int32)


def image(rng, n):
    return rng.standard_normal((n, 9, 9, 3)).astype(np.float32)


def wide_image(rng, n):
    return rng.standard_normal((2, n, 6, 3)).astype(np.float32)


def spd(rng, n):
    a = rng.standard_normal((n, 6, 6)).astype(np.float32)
    return a @ a.transpose(0, 2, 1) + 6 * np.eye(6, dtype=np.float32)


def signal(rng, n):
    return rng.standard_normal((n, 3, 24)).astype(np.float32)


KERNEL = np.random.default_rng(1).standard_normal((3, 3, 3, 5)).astype(np.float32)
WEIGHTS = np.random.default_rng(2).standard_normal((8, 16)).astype(np.float32)


def convolve(x, padding, strides=(1, 1)):
    return lax.conv_general_dilated(x, KERNEL, strides, padding, dimension_numbers=("NHWC", "HWIO", "NHWC"))


def scan(x):
    def step(carry, row):
        return carry * 0.5 + row, carry.sum()

    return lax.scan(step, jnp.zeros(8, jnp.float32), x)


def repeat_while(x):
    return lax.while_loop(lambda s: s[0] < 5, lambda s: (s[0] + 1, jnp.sin(s[1]) + x), (0, x))[1]


# name: (function, argument, symbolic shape)
CASES = {
    "add_broadcast": (lambda x: x + x[:, :1] * jnp.arange(8.0), matrix, "n, 8"),
    "softmax": (lambda x: jax.nn.softmax(x, axis=-1), matrix, "n, 8"),
    "softmax_dynamic": (lambda x: jax.nn.softmax(x, axis=0), matrix, "n, 8"),
    "transpose": (lambda x: x.T * 2, matrix, "n, 8"),
    "matmul": (lambda x: jnp.tanh(x @ WEIGHTS), matrix, "n, 8"),
    "gram": (lambda x: x @ x.T, matrix, "n, 8"),
    "gram_contracted": (lambda x: x.T @ x, matrix, "n, 8"),
    "reduce_max": (lambda x: (x.max(0), x.max(1), x.argmax(0)), matrix, "n, 8"),
    "mean_variance": (lambda x: (x.mean(), x.var(axis=0)), matrix, "n, 8"),
    "reshape_flat": (lambda x: x.reshape(-1) + 1, matrix, "n, 8"),
    "reshape_split": (lambda x: jnp.exp(x).reshape(x.shape[0], 2, 4), matrix, "n, 8"),
    "reshape_merge": (lambda x: x.reshape(x.shape[0] * 2, 4).T, matrix, "n, 8"),
    "concatenate": (lambda x: jnp.concatenate([x, x * 2, jnp.ones((3, 8), x.dtype)]), matrix, "n, 8"),
    "pad": (lambda x: jnp.pad(x, ((1, 2), (0, 3)), constant_values=4), matrix, "n, 8"),
    "pad_interior": (lambda x: lax.pad(x, jnp.float32(1), ((1, -1, 2), (0, 0, 0))), matrix, "n, 8"),
    "slice": (lambda x: x[:, 2:7:2] + 1, matrix, "n, 8"),
    "slice_dynamic": (lambda x: x[x.shape[0] // 2 :], matrix, "n, 8"),
    "reverse": (lambda x: x[::-1, ::-1], matrix, "n, 8"),
    "roll": (lambda x: jnp.roll(x, 1, axis=0), matrix, "n, 8"),
    "tile": (lambda x: jnp.tile(x, (2, 1)), matrix, "n, 8"),
    "iota": (lambda x: x + jnp.arange(x.shape[0], dtype=x.dtype)[:, None], matrix, "n, 8"),
    "outer": (lambda x: x[:, None] * x[None, :], vector, "n"),
    "eye": (lambda x: jnp.eye(x.shape[0]) @ x, matrix, "n, 8"),
    "triangle": (lambda x: jnp.tril(x @ x.T), matrix, "n, 8"),
    "select": (lambda x: jnp.where(x > 0, x, -0.1 * x), matrix, "n, 8"),
    "clamp": (lambda x: jnp.clip(x, -0.5, x[0, 0]), matrix, "n, 8"),
    "convert": (lambda x: (x.astype(jnp.bfloat16).astype(jnp.float32), (x * 10).astype(jnp.int8)), matrix, "n, 8"),
    "cumsum": (lambda x: (jnp.cumsum(x, axis=0), jnp.cumsum(x, axis=1)), matrix, "n, 8"),
    "cummax": (lambda x: lax.cummax(x, axis=0, reverse=True), vector, "n"),
    "sort": (lambda x: (jnp.sort(x), jnp.argsort(x)), vector, "n"),
    "sort_columns": (lambda x: jnp.sort(x, axis=0), matrix, "n, 8"),
    "top_k": (lambda x: lax.top_k(x, 3), matrix, "n, 8"),
    "top_k_all": (lambda x: lax.top_k(x, x.shape[0]), vector, "n"),
    "top_k_half": (lambda x: lax.top_k(x.T, (x.shape[0] + 1) // 2), matrix, "n, 8"),
    "top_k_ties": (lambda x: lax.top_k(x // 25, x.shape[0]), integers, "n"),
    "approx_top_k": (lambda x: lax.approx_max_k(x, 2, recall_target=0.99)[0], matrix, "n, 8"),
    "approx_top_k_all": (lambda x: lax.approx_max_k(x, x.shape[0], recall_target=0.99)[0], vector, "n"),
    "gather_rows": (lambda x: x[jnp.array([0, -1, 5]) % x.shape[0]], matrix, "n, 8"),
    "gather_elements": (lambda x: jnp.take_along_axis(x, jnp.argsort(x, axis=0), axis=0), matrix, "n, 8"),
    "scatter_add": (lambda x: jnp.zeros((5, 8)).at[jnp.arange(x.shape[0]) % 5].add(x), matrix, "n, 8"),
    "scatter_set": (lambda x: x.at[0, 1].set(9.0), matrix, "n, 8"),
    "dynamic_slice": (lambda x: lax.dynamic_slice(x, (x.shape[0] // 3, 1), (1, 4)), matrix, "n, 8"),
    "dynamic_update": (lambda x: lax.dynamic_update_slice(x, x[:1, :3] * 2, (x.shape[0] // 2, 2)), matrix, "n, 8"),
    "scan": (scan, matrix, "n, 8"),
    "while": (repeat_while, matrix, "n, 8"),
    "cond": (lambda x: lax.cond(x.sum() > 0, jnp.sin, lambda y: y * 3, x), matrix, "n, 8"),
    "map": (lambda x: lax.map(lambda row: row.sum() + row, x), matrix, "n, 8"),
    "bits": (lambda x: (x << 2) ^ (x >> 1) | lax.population_count(x), integers, "n"),
    "divisions": (lambda x: (x // 7, x % 7, jnp.sign(x)), integers, "n"),
    "lgamma": (lambda x: (lax.lgamma(x), lax.digamma(jnp.abs(x) + 1)), vector, "n"),
    "erf_inv": (lambda x: lax.erf_inv(jnp.tanh(x)), vector, "n"),
    "complex": (lambda x: jnp.abs(lax.complex(x, x + 1) * lax.complex(x, -x)), vector, "n"),
    "conv_batch": (lambda x: convolve(x, "SAME"), image, "n, 9, 9, 3"),
    "conv_height": (lambda x: convolve(x, "SAME", (2, 2)), wide_image, "2, n, 6, 3"),
    "max_pool": (
        lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "SAME"),
        wide_image,
        "2, n, 6, 3",
    ),
    "cholesky": (lambda x: jnp.linalg.cholesky(x), spd, "n, 6, 6"),
    "solve_triangular": (lambda x: jax.scipy.linalg.solve_triangular(x, x[:, :, :2], lower=True), spd, "n, 6, 6"),
    "eigenvalues": (lambda x: jnp.linalg.eigvalsh(x), spd, "n, 6, 6"),
    "singular_values": (lambda x: jnp.linalg.svd(x, compute_uv=False), spd, "n, 6, 6"),
    "qr": (lambda x: jnp.abs(jnp.linalg.qr(x)[1]), spd, "n, 6, 6"),
    "determinant": (lambda x: jnp.linalg.slogdet(x)[1], spd, "n, 6, 6"),
    "fft": (lambda x: jnp.abs(jnp.fft.fft(x)), signal, "n, 3, 24"),
    "rfft": (lambda x: jnp.fft.irfft(jnp.fft.rfft(x) * 2), signal, "n, 3, 24"),
    "einsum": (lambda x: jnp.einsum("bij,bkj->bik", x, x), spd, "n, 6, 6"),
    "gradient": (jax.grad(lambda x: (jnp.tanh(x @ WEIGHTS) ** 2).mean()), matrix, "n, 8"),
    "random": (lambda x: x[:, 0] + jax.random.uniform(jax.random.key(3), (x.shape[0],)), matrix, "n, 8"),
}


class Session:
    """A program, compiled, and how it is called."""

    def __init__(self, text: str):
        client = compiler.CompilerClient()
        executable = client.stablehlo_to_executable(
            compiler.Module.parse(text), compiler.StableHLOToExecutableOptions([])
        )
        self.client = runtime.RuntimeClient()
        self.session = runtime.RuntimeSession(self.client, runtime.RuntimeSessionOptions(), executable)

    def __call__(self, *arguments):
        inputs = [self.client.create_memref(np.asarray(argument, order="C")) for argument in arguments]
        return [np.asarray(result) for result in self.session.execute_function("main", in_args=inputs)]


@pytest.mark.parametrize("name", CASES)
def test_operation(name):
    function, make, shape = CASES[name]
    rng = np.random.default_rng(0)
    spec = jax.ShapeDtypeStruct(export.symbolic_shape(shape), make(rng, 2).dtype)
    program = export.export(jax.jit(function), platforms=["cpu"])(spec)
    run = Session(str(program.mlir_module()))
    for extent in EXTENTS:
        argument = make(rng, extent)
        expected = jax.tree.leaves(jax.jit(function)(argument))
        results = run(argument)
        assert len(results) == len(expected)
        for result, value in zip(results, expected, strict=True):
            value = np.asarray(value)
            assert result.shape == value.shape and result.dtype == value.dtype
            np.testing.assert_allclose(result, value, rtol=2e-4, atol=2e-4, err_msg=f"{name} at {extent}")


def attention(x, w):
    """Two dynamic dimensions, several heads, a mask that depends on a length."""
    batch, length, width = x.shape
    q, k, v = ((x @ part).reshape(batch, length, 4, width // 4).transpose(0, 2, 1, 3) for part in w)
    scores = jnp.einsum("bhqd,bhkd->bhqk", q, k) / 2.0
    mask = jnp.tril(jnp.ones((length, length), bool))
    weights = jax.nn.softmax(jnp.where(mask, scores, -1e9), axis=-1)
    return x + jnp.einsum("bhqk,bhkd->bhqd", weights, v).transpose(0, 2, 1, 3).reshape(batch, length, width)


def test_two_dynamic_dimensions():
    rng = np.random.default_rng(0)
    w = (rng.standard_normal((3, 16, 16)) / 4).astype(np.float32)
    specs = (
        jax.ShapeDtypeStruct(export.symbolic_shape("b, s, 16"), np.float32),
        jax.ShapeDtypeStruct(w.shape, w.dtype),
    )
    run = Session(str(export.export(jax.jit(attention), platforms=["cpu"])(*specs).mlir_module()))
    for shape in ((1, 1), (2, 7), (3, 64), (1, 129), (16, 3)):
        x = rng.standard_normal((*shape, 16)).astype(np.float32)
        (y,) = run(x, w)
        np.testing.assert_allclose(y, np.asarray(jax.jit(attention)(x, w)), rtol=2e-4, atol=2e-4)


# What JAX does not write: amounts that only the host knows, negative paddings, steps, dimensions that may have extent 1, bounds.
PAD = """
func.func @main(%x: tensor<?xf32>, %v: tensor<f32>, %low: tensor<1xi32>, %high: tensor<1xi32>, %between: tensor<1xi32>) -> tensor<?xf32> {
  %0 = stablehlo.dynamic_pad %x, %v, %low, %high, %between
      : (tensor<?xf32>, tensor<f32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}"""


def test_pad():
    run = Session(PAD)
    for extent in (1, 5, 100):
        x = np.arange(1, extent + 1, dtype=np.float32)
        for low, high, between in ((2, 3, 0), (0, 0, 0), (1, 0, 2), (-1, 4, 0), (3, -1, 0), (-1, 2, 1), (0, 0, 1)):
            expected = np.asarray(lax.pad(x, np.float32(9), ((low, high, between),)))
            (y,) = run(x, np.float32(9), *(np.array([n], np.int32) for n in (low, high, between)))
            np.testing.assert_array_equal(y, expected, err_msg=f"{extent}: {low}, {high}, {between}")


SLICE = """
func.func @main(%x: tensor<?x4xf32>, %start: tensor<2xi64>, %limit: tensor<2xi64>, %step: tensor<2xi64>) -> tensor<?x?xf32> {
  %0 = stablehlo.real_dynamic_slice %x, %start, %limit, %step
      : (tensor<?x4xf32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}"""


def test_slice():
    run = Session(SLICE)
    x = np.arange(44, dtype=np.float32).reshape(11, 4)
    for start, limit, step in (((0, 0), (11, 4), (1, 1)), ((2, 1), (9, 4), (3, 2)), ((5, 2), (5, 3), (1, 1))):
        (y,) = run(x, *(np.array(n, np.int64) for n in (start, limit, step)))
        np.testing.assert_array_equal(y, x[start[0] : limit[0] : step[0], start[1] : limit[1] : step[1]])


BROADCAST = """
func.func @main(%x: tensor<?x?xf32>, %shape: tensor<2xi32>) -> tensor<?x?xf32> {
  %0 = stablehlo.dynamic_broadcast_in_dim %x, %shape, dims = [0, 1] : (tensor<?x?xf32>, tensor<2xi32>) -> tensor<?x?xf32>
  %1 = stablehlo.negate %0 : tensor<?x?xf32>
  return %1 : tensor<?x?xf32>
}"""


def test_broadcast_of_whatever_is_one():
    run = Session(BROADCAST)
    for shape in ((1, 1), (3, 1), (1, 5), (3, 5)):
        x = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
        (y,) = run(x, np.array([3, 5], np.int32))
        np.testing.assert_array_equal(y, -np.broadcast_to(x, (3, 5)))


BROADCAST_ADD = """
func.func @main(%x: tensor<?x?xf32>, %y: tensor<?xf32>) -> tensor<?x?xf32> {
  %0 = chlo.broadcast_add %x, %y : (tensor<?x?xf32>, tensor<?xf32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}"""


def test_broadcast_add():
    run = Session(BROADCAST_ADD)
    for shape, length in (((3, 4), 4), ((3, 1), 4), ((1, 4), 1), ((2, 1), 1)):
        x = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
        y = np.arange(length, dtype=np.float32)
        (z,) = run(x, y)
        np.testing.assert_array_equal(z, x + y)


SET_SIZE = """
func.func @main(%x: tensor<8xf32>, %n: tensor<i32>) -> (tensor<f32>, tensor<?xf32>, tensor<i32>) {
  %0 = stablehlo.set_dimension_size %x, %n, dim = 0 : (tensor<8xf32>, tensor<i32>) -> tensor<?xf32, #stablehlo.bounds<8>>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %sum = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [0]
      : (tensor<?xf32, #stablehlo.bounds<8>>, tensor<f32>) -> tensor<f32>
  %size = stablehlo.get_dimension_size %0, dim = 0 : (tensor<?xf32, #stablehlo.bounds<8>>) -> tensor<i32>
  %1 = stablehlo.multiply %0, %0 : tensor<?xf32, #stablehlo.bounds<8>>
  %2 = stablehlo.convert %1 : (tensor<?xf32, #stablehlo.bounds<8>>) -> tensor<?xf32>
  return %sum, %2, %size : tensor<f32>, tensor<?xf32>, tensor<i32>
}"""


def test_bounded_size():
    run = Session(SET_SIZE)
    x = np.arange(8, dtype=np.float32)
    for size in (0, 1, 5, 8):
        total, squares, extent = run(x, np.int32(size))
        assert total == x[:size].sum() and extent == size
        np.testing.assert_array_equal(squares, x[:size] ** 2)
    with pytest.raises(errors.LatewoodError, match="set_dimension_size"):
        run(x, np.int32(9))


UPDATE = """
func.func @main(%x: tensor<?xf32>, %u: tensor<?xf32>, %i: tensor<i32>) -> tensor<?xf32> {
  %0 = stablehlo.dynamic_update_slice %x, %u, %i : (tensor<?xf32>, tensor<?xf32>, tensor<i32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}"""


def test_update():
    run = Session(UPDATE)
    for extent, length, place in ((7, 3, 2), (7, 3, 100), (7, 7, -5), (7, 0, 3)):
        x, u = np.zeros(extent, np.float32), np.arange(1, length + 1, dtype=np.float32)
        (y,) = run(x, u, np.int32(place))
        start = min(max(place, 0), extent - length)
        x[start : start + length] = u
        np.testing.assert_array_equal(y, x)
    with pytest.raises(errors.LatewoodError, match="dynamic_update_slice"):
        run(np.zeros(2, np.float32), np.zeros(3, np.float32), np.int32(0))
