# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs that only move elements: the bits arrive as they are, NaNs with their payloads, and the code is compiled at once.

Element types that a CPU has no registers for can become code element by element, which takes long to compile and to run."""

import time

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest

import latewood

MOVES = {
    "repeated heads": lambda x: jnp.repeat(x, 4, axis=2).transpose(0, 2, 1, 3),
    "pieces": lambda x: jnp.concatenate([x, x[:, ::-1], x], 1).transpose(2, 1, 3, 0),
    "choice": lambda x: jnp.where(jnp.arange(x.shape[1])[:, None, None] % 3 == 0, x, x[::-1]),
    "rows": lambda x: x[:, jnp.arange(0, x.shape[1], 3)],
    "strides": lambda x: x[:, 1::2, :, ::3],
    "padding": lambda x: jnp.pad(x, ((0, 1), (2, 3), (1, 0), (3, 5))),
    "rolled": lambda x: jnp.roll(x, 5, 3),
    "scattered": lambda x: x.at[:, jnp.array([3, 9, 60])].set(x[:, :3]),
}


@pytest.mark.parametrize("options", [[], ["--target=x86-64-v3"]], ids=["host", "v3"])
@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float8_e4m3fn", "int8"])
@pytest.mark.parametrize("name", MOVES)
def test_moves(name, dtype, options):
    dtype = np.dtype(getattr(ml_dtypes, dtype, None) or dtype)
    bits = np.dtype(f"uint{8 * dtype.itemsize}")
    x = np.arange(2 * 64 * 8 * 64, dtype=np.uint32).astype(bits).reshape(2, 64, 8, 64)
    begin = time.perf_counter()
    executable = latewood.compile(jax.jit(MOVES[name]).lower(x.view(dtype)), options)
    assert time.perf_counter() - begin < 20, "seconds to compile"
    np.testing.assert_array_equal(
        np.asarray(executable(x.view(dtype))).view(bits), np.asarray(MOVES[name](jnp.asarray(x)))
    )
