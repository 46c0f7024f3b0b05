# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs that JAX exports with symbolic dimensions. Each is compiled once, and gives JAX's results at every shape: at extents of 1, at odd
ones and at large ones, in memory of its own and in the caller's."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import export, lax

from latewood import compiler, runtime

F, Z, B, U = np.float32, np.int32, np.bool_, np.uint32
IMAGE = ("NHWC", "HWIO", "NHWC")


def layer_norm(x, scale):
    mean = x.mean(-1, keepdims=True)
    return (x - mean) * lax.rsqrt(((x - mean) ** 2).mean(-1, keepdims=True) + 1e-5) * scale


def attention(q, k, v):
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / np.sqrt(q.shape[-1]).astype(F)
    mask = jnp.arange(q.shape[1])[:, None] >= jnp.arange(k.shape[1])[None, :]
    weights = jax.nn.softmax(jnp.where(mask, scores, -1e9), axis=-1)
    return jnp.einsum("bhqk,bkhd->bqhd", weights, v)


def loss(w, x):
    return jnp.sum(jnp.tanh(x @ w) ** 2) / x.shape[0]


def recurrence(x, h):
    return lax.scan(lambda state, row: ((state * 0.5 + row), state.sum()), h, x)


def newton(x):
    return lax.while_loop(lambda s: s[1] < 5, lambda s: (0.5 * (s[0] + x / s[0]), s[1] + 1), (jnp.ones_like(x), 0))[0]


def segments(values, ids):
    return jnp.zeros((ids.shape[0], values.shape[1]), F).at[ids].add(values)


# Function, shapes and types of the arguments, and the values of the dimension variables.
SMALL, LENGTHS = [{"n": 1}, {"n": 7}], [{"n": n} for n in (1, 3, 17, 1000)]
PAIRS = [{"b": 1, "n": 1}, {"b": 1, "n": 33}, {"b": 5, "n": 1}, {"b": 3, "n": 127}, {"b": 16, "n": 512}]
PROGRAMS = {
    "mlp": (lambda x, w, v: jnp.maximum(x @ w, 0) @ v, [("b, 8", F), ("8, n", F), ("n, 3", F)], PAIRS),
    "softmax": (lambda x: jax.nn.softmax(x, -1), [("b, n", F)], PAIRS),
    "layer_norm": (layer_norm, [("b, n", F), ("n", F)], PAIRS),
    "flatten": (lambda x: x.reshape(x.shape[0], -1) + 1, [("b, n, 4", F)], PAIRS),
    "split": (lambda x: x.reshape(-1, 2, 3).sum(1), [("2*n, 3", F)], LENGTHS),
    "concatenate_pad": (
        lambda x, y: jnp.pad(jnp.concatenate([x, y, x[:1]]), ((1, 2), (0, 1))),
        [("b, 3", F), ("n, 3", F)],
        PAIRS,
    ),
    "arange": (lambda x: x * jnp.arange(x.shape[0], dtype=F)[:, None] + x.shape[0], [("n, 2", F)], LENGTHS),
    "scatter_add": (segments, [("b, n", F), ("b", Z)], PAIRS),
    "gather": (lambda x, i: x[i % x.shape[0]], [("n, 3", F), ("b", Z)], PAIRS),
    "dynamic_slice": (lambda x, i: lax.dynamic_slice_in_dim(x, i, 2), [("n + 1, 3", F), ("", Z)], LENGTHS),
    "dynamic_update": (
        lambda x, y, i: lax.dynamic_update_slice(x, y, (i, i * 0)),
        [("n + 2, 3", F), ("2, 3", F), ("", Z)],
        LENGTHS,
    ),
    "cumulative": (lambda x: (jnp.cumsum(x, 1), lax.cummax(x, axis=0)), [("b, n", F)], PAIRS[:4]),
    "sort": (lambda x: (jnp.sort(x, 1), jnp.argsort(x, 1)), [("b, n", F)], PAIRS),
    "top_k": (lambda x: lax.top_k(x, 1), [("b, n", F)], PAIRS),
    "argmax": (lambda x: (jnp.argmax(x, 1), jnp.argmin(x, 0)), [("b, n", F)], PAIRS),
    "convolution": (
        lambda x, k: lax.conv_general_dilated(x, k, (1, 2), "SAME", dimension_numbers=IMAGE),
        [("b, n + 2, 9, 2", F), ("3, 3, 2, 5", F)],
        [{"b": 1, "n": 1}, {"b": 3, "n": 12}, {"b": 2, "n": 61}],
    ),
    "pooling": (
        lambda x: (
            lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID"),
            lax.reduce_window(x, 0.0, lax.add, (1, 3, 1, 1), (1, 1, 1, 1), "SAME"),
        ),
        [("b, n + 1, 6, 2", F)],
        [{"b": 1, "n": 1}, {"b": 3, "n": 12}, {"b": 2, "n": 61}],
    ),
    "einsum": (lambda x, y: jnp.einsum("bij,bjk->bki", x, y), [("b, n, 4", F), ("b, 4, 5", F)], PAIRS),
    "outer": (lambda x, y: x[:, None] * y[None, :] + x.sum(), [("b", F), ("n", F)], PAIRS),
    "attention": (attention, [("b, n, 2, 8", F)] * 3, [{"b": 1, "n": 1}, {"b": 2, "n": 33}, {"b": 1, "n": 130}]),
    "gradient": (jax.grad(loss, argnums=(0, 1)), [("8, 5", F), ("n, 8", F)], LENGTHS),
    "scan": (recurrence, [("n, 4", F), ("4", F)], LENGTHS),
    "scan_of_batch": (recurrence, [("3, n", F), ("n", F)], LENGTHS),
    "while": (newton, [("n", F)], LENGTHS),
    "cond": (lambda p, x: lax.cond(p, lambda y: y * 2, lambda y: y[::-1], x), [("", B), ("n", F)], LENGTHS),
    "switch": (
        lambda k, x: lax.switch(k, [lambda y: y + 1, jnp.exp, lambda y: y.sum() + y], x),
        [("", Z), ("b, n", F)],
        PAIRS,
    ),
    "cholesky": (lambda x: jnp.linalg.cholesky(x @ x.mT + 9 * jnp.eye(3, dtype=F)), [("n, 3, 3", F)], SMALL),
    "nonzero_of_size": (lambda x: jnp.nonzero(x > 0, size=3, fill_value=-1)[0], [("n", F)], LENGTHS),
    "mask_by_length": (
        lambda x, m: jnp.where(jnp.arange(x.shape[1])[None, :] < m[:, None], x, 0),
        [("b, n", F), ("b", Z)],
        PAIRS,
    ),
    "tile_repeat": (lambda x: (jnp.tile(x, (2, 3)), jnp.repeat(x, 2, 0), jnp.roll(x, 1, 0)), [("n, 2", F)], LENGTHS),
    "fft": (lambda x: jnp.abs(jnp.fft.rfft(x)), [("n, 16", F)], LENGTHS),
    "strides": (lambda x: (x[::2], x[::-1, 1:], x[:-1]), [("n, 3", F)], LENGTHS),
    "integers": (lambda x: (x // 3, x % 7, jnp.bitwise_count(x), x.sum()), [("b, n", Z)], PAIRS),
    "two_of_one": (lambda x, y: x[: y.shape[0]] * y, [("n + b, 2", F), ("n, 2", F)], PAIRS),
    "division": (lambda x: x.reshape(-1, 3)[: x.shape[0] // 6].sum(0), [("6*n", F)], LENGTHS),
    "norm": (lambda x: x / jnp.linalg.norm(x, axis=-1, keepdims=True), [("b, n", F)], PAIRS),
    "variance": (lambda x: (jnp.var(x, 0), jnp.std(x), jnp.median(x, axis=0)), [("n, 3", F)], LENGTHS),
    "one_hot": (lambda i: jax.nn.one_hot(i % 5, 5) @ jnp.arange(10, dtype=F).reshape(5, 2), [("b, n", Z)], PAIRS),
    "random": (
        lambda k, x: x + jax.random.uniform(jax.random.wrap_key_data(k), x.shape),
        [("2", U), ("n", F)],
        LENGTHS,
    ),
    "triangle": (lambda x: jnp.tril(x @ x.T) + jnp.eye(x.shape[0], dtype=F), [("n, 4", F)], LENGTHS[:3]),
}


def arguments_of(specs, values):
    random = np.random.default_rng(1)
    arguments = []
    for shape, dtype in specs:
        extents = [eval(extent, {}, dict(values)) for extent in shape.split(",") if extent.strip()]
        if dtype == F:
            argument = random.standard_normal(extents).astype(F)
        elif dtype == B:
            argument = np.asarray(True)
        else:
            argument = random.integers(0, max(1, values.get("b", 1)), extents).astype(dtype)
        arguments.append(np.asarray(argument))
    return arguments


@pytest.mark.parametrize("name", PROGRAMS)
def test_export(name):
    function, specs, shapes = PROGRAMS[name]
    scope = export.SymbolicScope()
    exported = export.export(jax.jit(function), platforms=["cpu"])(
        *(jax.ShapeDtypeStruct(export.symbolic_shape(shape, scope=scope), dtype) for shape, dtype in specs)
    )
    executable = compiler.CompilerClient().stablehlo_to_executable(
        compiler.Module.parse(exported.mlir_module()), compiler.StableHLOToExecutableOptions([])
    )
    client = runtime.RuntimeClient()
    session = runtime.RuntimeSession(client, runtime.RuntimeSessionOptions(), executable)
    for values in shapes:
        arguments = arguments_of(specs, values)
        given = [client.create_memref(argument) for argument in arguments]
        expected = [np.asarray(leaf) for leaf in jax.tree.leaves(exported.call(*arguments))]
        results = [np.asarray(result).copy() for result in session.execute_function("main", in_args=given)]
        outs = [np.empty_like(right) for right in expected]
        session.execute_function("main", in_args=given, out_args=outs)
        for got, out, right in zip(results, outs, expected, strict=True):
            assert got.dtype == right.dtype and got.shape == right.shape, values
            np.testing.assert_array_equal(got, out)
            if right.dtype.kind == "f":
                scale = max(1.0, float(np.abs(right).max(initial=0)))
                np.testing.assert_allclose(got, right, rtol=2e-5, atol=2e-5 * scale, err_msg=str(values))
            else:
                np.testing.assert_array_equal(got, right, err_msg=str(values))
