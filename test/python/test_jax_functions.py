# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""latewood.jax: results at their true length when Latewood compiles, padded under plain JAX. NumPy says what is right."""

import jax
import jax.numpy as jnp
import latewood.jax
import numpy as np
import pytest

import latewood
from latewood import compiler, runtime


def run(function, *arguments):
    results = latewood.compile(jax.jit(function).lower(*arguments))(*arguments)
    return list(results) if isinstance(results, (tuple, list)) else [results]


def sparse(shape, seed=0, dtype=np.float32):
    rng = np.random.default_rng(seed)
    return (rng.random(shape) < 0.3).astype(dtype) * rng.integers(1, 9, shape).astype(dtype)


@pytest.mark.parametrize("shape", [(7,), (1,), (0,), (4, 5), (3, 0), (2, 3, 4), (1000,)])
@pytest.mark.parametrize("dtype", [np.float32, np.int8, np.uint32, np.bool_])
def test_nonzero(shape, dtype):
    x = sparse(shape).astype(dtype)
    expected = np.nonzero(x)
    for got, right in zip(run(latewood.jax.nonzero, x), expected, strict=True):
        np.testing.assert_array_equal(got, right)
    # Plain JAX gives as many as there can be.
    for padded, right in zip(latewood.jax.nonzero(x), expected, strict=True):
        assert padded.shape == (x.size,)
        np.testing.assert_array_equal(padded[: len(right)], right)


@pytest.mark.parametrize("shape", [(7,), (4, 5), (2, 0)])
def test_argwhere(shape):
    x = sparse(shape)
    np.testing.assert_array_equal(run(latewood.jax.argwhere, x)[0], np.argwhere(x))


def test_compress():
    x = np.arange(20, dtype=np.float32).reshape(4, 5)
    for condition, axis in (([1, 0, 1, 1], 0), ([0, 0, 0], 0), ([0, 1, 1, 0, 1], 1), ([1, 0, 1, 0, 0, 1, 1], None)):
        mask = np.array(condition, bool)
        (got,) = run(lambda c, v, axis=axis: latewood.jax.compress(c, v, axis), mask, x)
        np.testing.assert_array_equal(got, np.compress(mask, x, axis))


def test_unique():
    for x in (
        np.array([3, 1, 2, 3, 1], np.int32),
        np.array([2.0, np.nan, 1.0, np.nan, 2.0], np.float32),
        np.ones(4, np.int8),
    ):
        np.testing.assert_array_equal(run(latewood.jax.unique, x)[0], np.unique(x))
    x = sparse((50,)).astype(np.int32)
    got = run(lambda v: latewood.jax.unique(v, True, True, True), x)
    for a, b in zip(got, np.unique(x, True, True, True), strict=True):
        np.testing.assert_array_equal(a, b)


def test_trim_inside_of_a_program():
    x = np.arange(12, dtype=np.float32).reshape(3, 4)

    def function(v, n):
        cut = latewood.jax.trim(v * 2, n, axis=-1)
        return cut, jnp.sum(cut)

    cut, total = run(function, x, np.int32(2))
    np.testing.assert_array_equal(cut, 2 * x[:, :2])
    # What is no result is not cut.
    assert total == 2 * x.sum()
    with pytest.raises(ValueError, match="axis 2"):
        latewood.jax.trim(x, 1, axis=2)
    with pytest.raises(ValueError, match="integer"):
        latewood.jax.trim(x, 1.5)


def test_jitted_inside():
    x = sparse((40,))
    inner = jax.jit(latewood.jax.nonzero)
    np.testing.assert_array_equal(run(lambda v: inner(v + 0)[0], x)[0], np.nonzero(x)[0])


def test_nonzero_needs_no_padded_array():
    x = np.zeros(1 << 20, np.float32)
    x[::100] = 1
    lowered = jax.jit(latewood.jax.nonzero).lower(jax.ShapeDtypeStruct(x.shape, x.dtype))
    executable = compiler.CompilerClient().stablehlo_to_executable(lowered)
    client = runtime.RuntimeClient()
    session = runtime.RuntimeSession(client, runtime.RuntimeSessionOptions(), executable)
    (indices,) = session.execute_function("main", in_args=[client.create_memref(x)])
    np.testing.assert_array_equal(np.asarray(indices), np.nonzero(x)[0])
    statistics = session.statistics()
    assert statistics["results"]["peak_bytes"] == 4 * np.count_nonzero(x)
    others = (
        statistics["temporaries"]["peak_bytes"] + statistics["staging"]["peak_bytes"] + statistics["workspace_bytes"]
    )
    assert others <= x.nbytes // 10
