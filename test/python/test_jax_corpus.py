# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What people write in JAX, by name: control flow, sorting, scans, scatter, convolutions, windows, gradients, random numbers,
narrow types, special functions. Each program gives JAX's result. Tolerance 1e-4 relative, 1e-5 absolute; integers are
equal."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import latewood

random = np.random.default_rng(0)


def normal(*shape):
    return random.standard_normal(shape).astype(np.float32)


def integers(low, high, *shape):
    return random.integers(low, high, shape).astype(np.int32)


X, V, IMAGE, KERNEL = normal(6, 8), normal(37), normal(2, 9, 9, 3), normal(3, 3, 3, 5)
NHWC = ("NHWC", "HWIO", "NHWC")


def convolution(*arguments, **options):
    return lambda a, k: lax.conv_general_dilated(a, k, *arguments, dimension_numbers=NHWC, **options)


def key(function):
    return lambda bits: function(jax.random.wrap_key_data(bits))


KEY = np.array([1, 2], np.uint32)

PROGRAMS = {
    # Control flow
    "while": (lambda x: lax.while_loop(lambda c: c[1] < 5, lambda c: (jnp.sin(c[0]), c[1] + 1), (x, 0))[0], X),
    "while on data": (lambda x: lax.while_loop(lambda c: jnp.sum(c) < 100, lambda c: c * 1.5 + 1, jnp.abs(x)), X),
    "collatz": (
        lambda n: lax.while_loop(
            lambda s: s[0] != 1, lambda s: (jnp.where(s[0] % 2 == 0, s[0] // 2, 3 * s[0] + 1), s[1] + 1), (n, 0)
        )[1],
        np.int32(27),
    ),
    "fori": (lambda x: lax.fori_loop(0, 10, lambda i, c: c * 0.9 + i, x), X),
    "nested fori": (lambda x: lax.fori_loop(0, 3, lambda i, c: lax.fori_loop(0, i + 1, lambda j, d: d + j, c), x), X),
    "rotating values": (
        lambda a, b, c, x: lax.fori_loop(0, 4, lambda i, z: (z[1], z[2], z[0], z[3] * 2 + z[0] + z[2]), (a, b, c, x)),
        np.float32(1), np.float32(2), np.float32(3), V,
    ),
    "swapping arrays": (lambda a, b: lax.fori_loop(0, 3, lambda i, z: (z[1], z[0] + z[1]), (a, b)), V, V + 1),
    "scan": (lambda x: lax.scan(lambda c, a: (c + a, c * a), jnp.zeros(8, jnp.float32), x), X),
    "lstm": (
        lambda x, w, u: lax.scan(
            lambda c, a: (lambda z: (jnp.tanh(z[:8]) * jax.nn.sigmoid(z[8:16]),) * 2)(a @ w + c @ u),
            jnp.zeros(8, jnp.float32), x,
        )[1],
        normal(5, 6), normal(6, 16), normal(8, 16),
    ),
    "cond": (lambda x: lax.cond(x[0, 0] > 0, lambda y: y + 1, lambda y: y * 2, x), X),
    "switch": (lambda i, x: lax.switch(i, [lambda y: y, lambda y: y + 1, lambda y: -y], x), np.int32(1), X),
    # Order
    "sort": (lambda x: jnp.sort(x, axis=1), X),
    "argsort": (lambda x: jnp.argsort(x, axis=0), X),
    "sort by key": (lambda a, b: lax.sort((a, b), num_keys=1), integers(0, 5, 12), normal(12)),
    "top k": (lambda x: lax.top_k(x, 3), X),
    "median": (lambda x: jnp.median(x, axis=1), X),
    "quantile": (lambda x: jnp.quantile(x, 0.3, axis=1), X),
    "unique": (lambda i: jnp.unique(i, size=5), integers(0, 5, 9)),
    "searchsorted": (lambda x: jnp.searchsorted(jnp.sort(x), 0.1), V),
    "histogram": (lambda x: jnp.histogram(x, bins=5)[0], V),
    # Scans and windows
    "cumsum": (lambda x: jnp.cumsum(x, axis=1), X),
    "cumprod": (lambda x: jnp.cumprod(x, axis=0), X),
    "cummax": (lambda x: lax.cummax(x, axis=1), X),
    "cumlogsumexp": (lambda x: lax.cumlogsumexp(x, axis=1), X),
    "max pool": (lambda a: lax.reduce_window(a, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "SAME"), IMAGE),
    "average pool": (lambda a: lax.reduce_window(a, 0.0, lax.add, (1, 3, 3, 1), (1, 1, 1, 1), "VALID"), IMAGE),
    "gradient of max pool": (
        jax.grad(lambda a: lax.reduce_window(a, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID").sum()), IMAGE,
    ),
    # Scatter and gather
    "scatter add": (lambda x, i: x.at[i].add(1.0), X, integers(0, 6, 4)),
    "scatter set": (lambda x: x.at[2, 3].set(9.0), X),
    "scatter max": (lambda x, i: x.at[i].max(0.3), X, integers(0, 6, 4)),
    "scatter dropped": (lambda x, i: x.at[i].set(0, mode="drop"), X, np.array([1, 100], np.int32)),
    "gather filled": (lambda x, i: x.at[i].get(mode="fill", fill_value=7), X, np.array([1, 100], np.int32)),
    "segment sum": (lambda x, i: jax.ops.segment_sum(x, i, 6), X, np.array([0, 0, 3, 5, 5, 1], np.int32)),
    "dynamic index": (lambda x, i: x[i] + x[i, 2], X, np.int32(4)),
    "select n": (lambda i, a: lax.select_n(i, a, a + 1, a + 2), np.array([0, 1, 2, 1], np.int32), normal(4)),
    "one hot": (lambda i: jax.nn.one_hot(i, 7), integers(0, 7, 5)),
    # Convolutions
    "convolution": (convolution((1, 1), "SAME"), IMAGE, KERNEL),
    "convolution with strides": (convolution((2, 2), "VALID"), IMAGE, KERNEL),
    "dilated convolution": (convolution((1, 1), "SAME", rhs_dilation=(2, 2)), IMAGE, KERNEL),
    "grouped convolution": (convolution((1, 1), "SAME", feature_group_count=3), IMAGE, normal(3, 3, 1, 6)),
    "transposed convolution": (lambda a, k: lax.conv_transpose(a, k, (2, 2), "SAME", dimension_numbers=NHWC), IMAGE, KERNEL),
    # Gradients
    "gradient of a layer": (lambda x, w: jax.grad(lambda w: jnp.sum(jnp.tanh(x @ w) ** 2))(w), X, normal(8, 5)),
    "gradient of logsumexp": (jax.grad(jax.nn.logsumexp), X),
    "checkpoint": (jax.grad(jax.checkpoint(lambda x: jnp.sum(jnp.sin(x) * x))), V),
    # Random numbers
    "random bits": (key(lambda k: jax.random.bits(k, (9,), np.uint32)), KEY),
    "random uniform": (key(lambda k: jax.random.uniform(k, (64,), np.float32)), KEY),
    "random normal": (key(lambda k: jax.random.normal(k, (5, 7), np.float32)), KEY),
    "random permutation": (key(lambda k: jax.random.permutation(k, 16)), KEY),
    # Integers and bits
    "bits": (lambda x: (x << 3, x >> 1, lax.shift_right_logical(x, np.int32(2)), lax.population_count(x), lax.clz(x), ~x), integers(-99, 99, 9)),
    "bitcast": (lambda x: (lax.bitcast_convert_type(x, jnp.int32), lax.bitcast_convert_type(x, jnp.uint8)), X),
    "unsigned": (lambda x: (x.astype(jnp.uint8) + 200, x.astype(jnp.uint32) * 7 % 5, x.astype(jnp.uint64) > 3), integers(0, 100, 9)),
    "floor divide": (lambda x: x // 3, integers(-20, 20, 15)),
    "integer power": (lambda x: x**3, integers(-5, 5, 9)),
    # Narrow and complex types
    "bf16": (lambda x: (x.astype(jnp.bfloat16) * 2).astype(jnp.float32), V),
    "f16": (lambda x: x.astype(jnp.float16) + 1, V),
    "bf16 matmul": (lambda x: x.astype(jnp.bfloat16) @ x.T.astype(jnp.bfloat16), X),
    "f8": (lambda x: x.astype(jnp.float8_e4m3fn).astype(jnp.float32), V),
    "complex": (lambda x: (lambda z: (z * z, jnp.abs(z), jnp.real(jnp.exp(z)), jnp.conj(z)))(x + 1j * x), V),
    "fft": (lambda x: jnp.fft.fft(x), V[:32]),
    "rfft": (lambda x: jnp.fft.rfft(x), V[:32]),
    # Functions
    "rounding": (lambda x: (jnp.round(x * 3), lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN), jnp.trunc(x)), V),
    "reduced precision": (lambda x: lax.reduce_precision(x, 5, 3), V),
    "next after": (lambda x: jnp.nextafter(x, jnp.float32(1)), V),
    "finite": (lambda x: (jnp.isfinite(x), jnp.isnan(x)), V),
    "trigonometric": (lambda x: (jnp.tan(x), jnp.arctan(x), jnp.arcsin(jnp.clip(x, -1, 1)), jnp.sinh(x), jnp.arcsinh(x)), V),
    "gamma": (lambda x: (lax.lgamma(jnp.abs(x) + 0.1), lax.digamma(jnp.abs(x) + 0.1)), V),
    "incomplete gamma": (lambda x: jax.scipy.special.gammainc(jnp.abs(x) + 0.5, jnp.float32(1)), V),
    "bessel": (lambda x: jax.scipy.special.i0e(x), V),
    "activations": (lambda x: (jax.nn.silu(x), jax.nn.elu(x), jax.nn.softplus(x), jax.nn.relu6(x), jax.nn.gelu(x)), V),
    "logaddexp": (lambda x: jnp.logaddexp(x, -x), V),
    "modulo": (lambda x: jnp.mod(x, jnp.float32(0.3)), V),
    # Linear algebra
    "einsum": (lambda a, b, c: jnp.einsum("ij,jk,kl->il", a, b, c), normal(3, 4), normal(4, 5), normal(5, 2)),
    "kron": (lambda a: jnp.kron(a, a), normal(3, 3)),
    "matrix power": (lambda a: jnp.linalg.matrix_power(a, 5), normal(4, 4)),
    "vmap": (lambda a, b: jax.vmap(jnp.dot)(a, b), normal(5, 7), normal(5, 7)),
    "attention": (lambda q: jax.nn.dot_product_attention(q, q, q, is_causal=True), normal(2, 16, 4, 8)),
    "cholesky": (lambda x: jnp.linalg.cholesky(x @ x.T + 8 * jnp.eye(6, dtype=np.float32)), X),
    "triangular solve": (
        lambda x: jax.scipy.linalg.solve_triangular(jnp.tril(x @ x.T) + 6 * jnp.eye(6, dtype=np.float32), x, lower=True), X,
    ),
    "determinant": (lambda x: jnp.linalg.det(x[:4, :4]), X),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name):
    function, *arguments = PROGRAMS[name]
    executable = latewood.compile(jax.jit(function, keep_unused=True).lower(*arguments))
    results = executable(*arguments)
    results = list(results) if isinstance(results, tuple) else [results]
    expected = [np.asarray(leaf) for leaf in jax.tree.leaves(jax.jit(function)(*arguments))]
    assert len(results) == len(expected)
    for mine, theirs in zip(results, expected, strict=True):
        assert (mine.dtype, mine.shape) == (theirs.dtype, theirs.shape)
        if np.issubdtype(theirs.dtype, np.integer) or theirs.dtype == bool:
            np.testing.assert_array_equal(mine, theirs)
        else:
            # Two-byte results differ by a unit in the last place where the order of operations does.
            narrow = theirs.dtype.itemsize == 2
            wide = np.complex128 if theirs.dtype.kind == "c" else np.float64
            np.testing.assert_allclose(mine.astype(wide), theirs.astype(wide), rtol=1e-2 if narrow else 1e-4, atol=1e-5)
