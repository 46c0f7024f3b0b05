# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loops on dynamic shapes against JAX: one executable for each program, called with extents of 0, 1, odd and large ones.

The programs are what groups are made of: elementwise chains and broadcasts, reductions along rows, columns and over all
elements, transposes, windows, gathers, concatenations.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import export

import latewood
from latewood import runtime

LENGTHS = [0, 1, 2, 7, 8, 9, 31, 64, 67, 257]
PAIRS = [(0, 5), (5, 0), (1, 1), (3, 7), (8, 8), (9, 33), (64, 67), (1, 1025), (1025, 1), (130, 515)]


def dynamic(function, *specs):
    """The executable of a function on arguments of symbolic shape, given as (dtype, "n, 64")."""
    scope = export.SymbolicScope()
    arguments = [
        jax.ShapeDtypeStruct(export.symbolic_shape(shape, scope=scope), np.dtype(dtype)) for dtype, shape in specs
    ]
    text = export.export(jax.jit(function))(*arguments).mlir_module()
    # JAX asserts that no dimension is 0. These programs mean something for 0, too.
    return latewood.compile("".join(line for line in text.splitlines(True) if "@shape_assertion" not in line))


def values(shape, dtype="float32", seed=0):
    random = np.random.default_rng(seed + 1000 * len(shape) + sum(shape))
    if np.issubdtype(np.dtype(dtype), np.floating):
        return random.standard_normal(shape).astype(dtype)
    return random.integers(-100, 100, shape).astype(dtype)


def agree(executable, function, *arguments, rtol=2e-5, atol=2e-5):
    got = executable(*arguments)
    got = list(got) if isinstance(got, tuple) else [got]
    expected = [np.asarray(leaf) for leaf in jax.tree.leaves(function(*arguments))]
    assert len(got) == len(expected)
    for mine, theirs in zip(got, expected, strict=True):
        mine = np.asarray(mine)
        assert mine.shape == theirs.shape and mine.dtype == theirs.dtype
        if np.issubdtype(theirs.dtype, np.floating):
            np.testing.assert_allclose(mine, theirs, rtol=rtol, atol=atol)
        else:
            np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int8"])
def test_elementwise_chain(dtype):
    def function(x, y):
        return (x + y) * x - y

    executable = dynamic(function, (dtype, "n"), (dtype, "n"))
    for n in [*LENGTHS, 100_003]:
        agree(executable, function, values((n,), dtype), values((n,), dtype, 1))


def test_elementwise_of_two_dimensions_is_one_loop():
    def function(x, y):
        return jnp.exp(-jnp.abs(x)) + jnp.where(y > 0, x, y)

    executable = dynamic(function, ("float32", "n, m"), ("float32", "n, m"))
    for shape in PAIRS:
        agree(executable, function, values(shape), values(shape, seed=1))


def test_broadcasts():
    def function(x, row, column, scalar):
        return (x + row) * column[:, None] + scalar, jnp.broadcast_to(row, x.shape)

    executable = dynamic(function, ("float32", "n, m"), ("float32", "m"), ("float32", "n"), ("float32", ""))
    for n, m in PAIRS:
        agree(executable, function, values((n, m)), values((m,)), values((n,)), np.float32(1.5))


def test_softmax_along_rows():
    def function(x):
        return jax.nn.softmax(x, axis=-1)

    executable = dynamic(function, ("float32", "n, m"))
    for shape in [(0, 5), *(shape for shape in PAIRS if shape[1] > 0)]:
        agree(executable, function, values(shape))


def test_softmax_along_columns():
    def function(x):
        return jax.nn.softmax(x, axis=0)

    executable = dynamic(function, ("float32", "n, m"))
    for shape in [shape for shape in PAIRS if shape[0] > 0]:
        agree(executable, function, values(shape))


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_layer_norm(dtype):
    def function(x, scale, bias):
        mean = jnp.mean(x, axis=-1, keepdims=True)
        variance = jnp.mean(jnp.square(x - mean), axis=-1, keepdims=True)
        return (x - mean) * jax.lax.rsqrt(variance + 1e-5) * scale + bias

    tolerance = 1e-4 if dtype == "float32" else 0.1
    executable = dynamic(function, (dtype, "b, n, 96"), (dtype, "96"), (dtype, "96"))
    for b, n in [(0, 3), (1, 1), (2, 17), (3, 64), (5, 131)]:
        arguments = [values(shape).astype(jnp.dtype(dtype)) for shape in [(b, n, 96), (96,), (96,)]]
        got = np.asarray(executable(*arguments), dtype="float32")
        expected = np.asarray(function(*arguments), dtype="float32")
        np.testing.assert_allclose(got, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("axes", [(0,), (1,), (0, 1)])
@pytest.mark.parametrize("reduce", [jnp.sum, jnp.max, jnp.prod])
def test_reductions(axes, reduce):
    def function(x):
        return reduce(x, axis=axes) if reduce is not jnp.max else jnp.max(x, axis=axes, initial=-3)

    executable = dynamic(function, ("float32", "n, m"))
    for shape in PAIRS:
        x = values(shape) if reduce is not jnp.prod else 1 + values(shape) / 1000
        agree(executable, function, x, rtol=1e-4, atol=1e-3)


def test_sums_of_long_vectors_are_split_into_parts():
    def function(x):
        return jnp.sum(x), jnp.max(x, initial=0), jnp.sum(x * x)

    executable = dynamic(function, ("int32", "n"))
    for n in [0, 1, 8191, 8192, 8193, 100_000, 1_000_003]:
        agree(executable, function, values((n,), "int32"))


def test_vectors_that_are_used_as_a_whole():
    def function(x):
        return jax.nn.softmax(x), x / jnp.sqrt(jnp.sum(x * x))

    executable = dynamic(function, ("float32", "n"))
    for n in [1, 7, 1000, 9000, 300_000]:
        agree(executable, function, values((n,)))


def test_complex_numbers():
    def function(x, y):
        return jnp.real(x * y), jnp.imag(jnp.sum(x, axis=0)), jnp.real(x.T)

    executable = dynamic(function, ("complex64", "n, m"), ("complex64", "n, m"))
    for shape in PAIRS:
        x = (values(shape) + 1j * values(shape, seed=1)).astype("complex64")
        agree(executable, function, x, x[::-1].copy(), rtol=1e-4, atol=1e-3)


def test_booleans():
    def function(x, y):
        return x & ~y, jnp.all(x, axis=1), jnp.any(y), jnp.sum(x, axis=0)

    executable = dynamic(function, ("bool", "n, m"), ("bool", "n, m"))
    for shape in PAIRS:
        agree(executable, function, values(shape) > -1, values(shape, seed=1) > 1)


def test_loops_that_carry_tensors():
    def function(x):
        steps = jax.lax.fori_loop(0, 5, lambda i, y: jnp.tanh(y) + x, x)
        return steps, jax.lax.scan(lambda carry, row: (carry + row, carry * 2), x[0] * 0, x)

    executable = dynamic(function, ("float32", "n, m"))
    for shape in [shape for shape in PAIRS if shape[0] > 0]:
        agree(executable, function, values(shape), rtol=1e-4, atol=1e-3)


def test_arg_max():
    def function(x):
        return jnp.argmax(x, axis=1), jnp.argmin(x, axis=0)

    executable = dynamic(function, ("float32", "n, m"))
    for shape in [(1, 1), (3, 7), (9, 33), (64, 67), (5, 515)]:
        agree(executable, function, values(shape))


@pytest.mark.parametrize("dtype", ["float32", "int8", "float64"])
def test_transposes(dtype):
    def function(x, y):
        return x.T, jnp.transpose(y, (0, 2, 1)), jnp.transpose(y, (2, 0, 1)) + 1

    executable = dynamic(function, (dtype, "n, m"), (dtype, "k, n, m"))
    for i, (n, m) in enumerate(PAIRS):
        agree(executable, function, values((n, m), dtype), values((i % 4, n, m), dtype))


def test_windows():
    def function(x):
        pooled = jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 3), (1, 1), "SAME")
        return pooled, jax.lax.reduce_window(x, 0.0, jax.lax.add, (2, 2), (1, 1), [(1, 0), (0, 1)])

    executable = dynamic(function, ("float32", "n, m"))
    for shape in [(1, 1), (3, 7), (9, 33), (64, 67), (5, 515)]:
        agree(executable, function, values(shape))


def test_gathers():
    def function(table, indices):
        return table[indices], jnp.take_along_axis(table, indices[:, None] % 4, axis=0)

    executable = dynamic(function, ("float32", "n, m"), ("int32", "k"))
    for n, m in [(1, 1), (4, 7), (9, 33), (64, 67), (130, 515)]:
        for k in [0, 1, 5, 130]:
            indices = (values((k,), "int32") % n).astype("int32")
            agree(executable, function, values((n, m)), indices)


def test_concatenations_and_slices():
    def function(x, y):
        rows = jnp.concatenate([x, y, x], axis=0)
        columns = jnp.concatenate([x, 2 * x], axis=1)
        return rows, columns, jnp.pad(x, ((1, 2), (3, 0))), jax.lax.rev(x, (1,))

    executable = dynamic(function, ("float32", "n, m"), ("float32", "k, m"))
    for i, (n, m) in enumerate(PAIRS):
        agree(executable, function, values((n, m)), values((3 * (i % 3), m)))


def test_strided_slices():
    def function(x):
        return x[::2], x[:, ::-3]

    executable = dynamic(function, ("float32", "n, m"))
    for shape in [shape for shape in PAIRS if min(shape) > 0]:
        agree(executable, function, values(shape))


def test_reshapes():
    def function(x):
        flat = x.reshape(-1)
        return flat * 2, (x + 1).reshape(x.shape[0] * 4, 16), jnp.sum(x.reshape(-1, 4, 16), axis=1)

    executable = dynamic(function, ("float32", "n, 64"))
    for n in [0, 1, 3, 8, 65, 1025]:
        agree(executable, function, values((n, 64)))


def test_iota_and_masks():
    def function(x):
        n, m = x.shape
        causal = jnp.arange(n)[:, None] >= jnp.arange(m)[None, :]
        return jnp.where(causal, x, -1.0), jnp.arange(m) * 3

    executable = dynamic(function, ("float32", "n, m"))
    for shape in PAIRS:
        agree(executable, function, values(shape))


def test_results_do_not_depend_on_threads():
    """The same bits from pools of one and of several threads: how work is split follows from the shape."""

    def function(x):
        return jnp.sum(x), jnp.sum(x, axis=0), jax.nn.softmax(x)

    executable = dynamic(function, ("float32", "n, m"))
    sessions = [
        runtime.RuntimeSession(runtime.RuntimeClient(num_threads=threads), runtime.RuntimeSessionOptions(), executable)
        for threads in (1, 2, 5)
    ]
    for shape in [(3, 5), (300, 1000), (1, 200_000)]:
        x = values(shape)
        results = [
            [np.asarray(r).copy() for r in session.execute_function("main", in_args=[x])] for session in sessions
        ]
        for other in results[1:]:
            for mine, theirs in zip(results[0], other, strict=True):
                np.testing.assert_array_equal(mine, theirs)
