# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Large programs: what they repeat is compiled once, and they compute what JAX computes. Nothing here is decided by a clock:
the size of the code says whether it grows with the number of steps."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import latewood


def compile_both(function, *arguments):
    lowered = jax.jit(function, keep_unused=True).lower(*arguments)
    executable = latewood.compile(lowered)
    return executable, np.asarray(executable(*arguments)), np.asarray(lowered.compile()(*arguments))


def rows(*shape):
    return np.random.default_rng(3).normal(size=shape).astype(np.float32)


def test_unrolled_products_share_their_code():
    def steps(count):
        def function(x, w):
            for _ in range(count):
                x = jnp.tanh(x @ w) + x * 0.5
            return x

        return function

    x, w = rows(8, 8), rows(8, 8)
    short, *_ = compile_both(steps(50), x, w)
    long, got, expected = compile_both(steps(300), x, w)
    np.testing.assert_allclose(got, expected, rtol=1e-3, atol=1e-4)
    # 250 more calls, 250 more places in memory, not 250 more products.
    assert len(long.serialize()) - len(short.serialize()) < 250 * 150


def test_unrolled_elementwise_chain():
    def function(x, w):
        for _ in range(1000):
            x = jnp.tanh(x * w) * 0.5 + x * 0.25
        return x

    executable, got, expected = compile_both(function, rows(64), rows(64))
    np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-5)
    assert len(executable.serialize()) < 200_000


def test_slices_of_one_weight():
    def function(x, ws):
        for i in range(40):
            x = jnp.tanh(x @ ws[i]) + jnp.roll(x, i % 8, 0) * 0.5 + jnp.max(x)
        return x

    _, got, expected = compile_both(function, rows(8, 8), rows(40, 8, 8) * np.float32(0.1))
    np.testing.assert_allclose(got, expected, rtol=1e-3)


def test_parallel_products_in_kernels():
    def function(x, w):
        for _ in range(40):
            x = jnp.tanh(x @ w) + x
        return x

    _, got, expected = compile_both(function, rows(256, 256), rows(256, 256) * np.float32(0.01))
    np.testing.assert_allclose(got, expected, rtol=1e-3, atol=1e-4)


def test_many_arguments_and_results():
    values = [rows(4) * i for i in range(300)]

    def function(*xs):
        return tuple(x - y for x, y in zip(xs, xs[1:] + xs[:1], strict=True))

    executable = latewood.compile(jax.jit(function).lower(*values))
    for i, got in enumerate(executable(*values)):
        np.testing.assert_array_equal(np.asarray(got), values[i] - values[(i + 1) % 300])


def test_nested_loops():
    depth = 40

    def nest(level, x):
        if level == depth:
            return jnp.cos(x)
        return jax.lax.fori_loop(0, 1, lambda _, y: nest(level + 1, y), x) + x

    _, got, expected = compile_both(lambda x: nest(0, x), rows(16))
    np.testing.assert_allclose(got, expected, rtol=1e-5)


def test_many_arguments_in_one_loop():
    values = [rows(16) for _ in range(200)]

    def function(*xs):
        total = xs[0]
        for x in xs[1:]:
            total = total * 0.5 + x
        return total, total.sum()

    executable = latewood.compile(jax.jit(function).lower(*values))
    for got, expected in zip(executable(*values), jax.jit(function)(*values), strict=True):
        np.testing.assert_allclose(np.asarray(got), np.asarray(expected), rtol=1e-5, atol=1e-6)


def test_many_arguments_from_lua():
    values = [rows(4) for _ in range(150)]

    def function(*xs):
        return tuple(jnp.tanh(x) - y for x, y in zip(xs, xs[1:] + xs[:1], strict=True))

    executable = latewood.compile(jax.jit(function).lower(*values), ["--host=lua"])
    for i, got in enumerate(executable(*values)):
        np.testing.assert_allclose(np.asarray(got), np.tanh(values[i]) - values[(i + 1) % 150], rtol=1e-5, atol=1e-6)


def test_pieces_that_are_used_again():
    def function(x):
        pieces = [jnp.tanh(x[i : i + 1] * (i + 1)) for i in range(60)]
        whole = jnp.concatenate(pieces)
        shifted = jnp.concatenate(pieces[1:] + pieces[:1])
        return whole, whole * shifted + pieces[7], whole.at[3].set(pieces[5][0]), jnp.concatenate([whole, shifted])

    x = rows(60, 7)
    executable = latewood.compile(jax.jit(function).lower(x))
    for got, expected in zip(executable(x), jax.jit(function)(x), strict=True):
        np.testing.assert_allclose(np.asarray(got), np.asarray(expected), rtol=1e-5, atol=1e-6)


def test_rows_on_all_threads():
    def function(x):
        return (
            jnp.sort(x, axis=1),
            jnp.argsort(x, axis=0),
            jnp.cumsum(x, axis=2),
            jax.lax.cummax(x, axis=1, reverse=True),
            jax.lax.top_k(x, 5)[1],
        )

    x = np.round(rows(37, 65, 33) * 8) / 8  # with equal elements
    executable = latewood.compile(jax.jit(function).lower(x))
    for got, expected in zip(executable(x), jax.jit(function)(x), strict=True):
        np.testing.assert_allclose(np.asarray(got), np.asarray(expected), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("depth", [1, 2000])
def test_functions_nested_deep(depth):
    """Each calls the next one between two operations of its own; inlining is linear in what comes out."""
    kind = "tensor<4xi32>"
    functions = [
        f"func.func private @f{i}(%x: {kind}) -> {kind} {{\n"
        f"  %0 = stablehlo.add %x, %x : {kind}\n"
        + (
            f"  %1 = call @f{i + 1}(%0) : ({kind}) -> {kind}\n"
            if i + 1 < depth
            else f"  %1 = stablehlo.negate %0 : {kind}\n"
        )
        + f"  %2 = stablehlo.xor %1, %x : {kind}\n  return %2 : {kind}\n}}\n"
        for i in range(depth)
    ]
    text = f"func.func public @main(%x: {kind}) -> {kind} {{\n  %0 = call @f0(%x) : ({kind}) -> {kind}\n  return %0 : {kind}\n}}\n"
    x = np.array([1, -7, 123456, 0], np.int32)
    values, value = [], x.astype(np.uint32)
    for _ in range(depth):
        values.append(value)
        value = value + value
    value = np.uint32(0) - value
    for before in reversed(values):
        value = value ^ before
    np.testing.assert_array_equal(np.asarray(latewood.compile(text + "".join(functions))(x)), value.view(np.int32))
