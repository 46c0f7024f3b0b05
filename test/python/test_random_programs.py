# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random programs against JAX: what fuses, how it is grouped and where it is stored must not change the numbers.

Each seed makes one program of a few dozen operations over tensors of odd and even extents; several of its values are results.
A program that fails is found again by its seed.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import latewood

EXTENTS = [1, 2, 3, 5, 8, 16, 17, 33, 64]


def random_shape(random: np.random.Generator) -> tuple[int, ...]:
    rank = int(random.integers(1, 5))
    shape = [int(random.choice(EXTENTS)) for _ in range(rank)]
    while np.prod(shape) > 6000:
        shape[int(np.argmax(shape))] = int(random.choice(EXTENTS[:4]))
    return tuple(shape)


def make_program(seed: int, operations: int = 24):
    """A function of a list of arrays that gives a list of arrays, and the shapes of its arguments."""
    shapes = [random_shape(np.random.default_rng(seed * 7919 + i)) for i in range(3)]

    def program(*arguments):
        # The same numbers at each trace: the program is a function of its seed.
        random = np.random.default_rng(seed)
        values = list(arguments)
        for _ in range(operations):
            values.append(step(random, values))
        chosen = random.choice(len(values) - 3, 4, replace=False) + 3
        return [values[int(i)] for i in sorted(set(chosen))] + [values[-1]]

    return program, shapes


def step(random: np.random.Generator, values: list):
    """One operation on random earlier values. Numbers stay of the order of one."""
    x = values[int(random.integers(len(values)))]
    axis = int(random.integers(x.ndim)) if x.ndim else 0
    same = [v for v in values if v.shape == x.shape]
    y = same[int(random.integers(len(same)))]
    kind = int(random.integers(17))
    if x.ndim == 0 and kind not in (0, 1, 2, 3):
        return jnp.broadcast_to(jnp.cos(x), (int(random.choice(EXTENTS)),))
    if kind in (0, 1):
        return [jnp.tanh, jnp.cos, lax.logistic, lambda v: jnp.abs(v) * 0.5, jnp.exp2, lambda v: v - 0.25][
            int(random.integers(6))
        ](jnp.clip(x, -2, 2))
    if kind in (2, 3):
        return [jnp.add, jnp.subtract, lambda a, b: jnp.tanh(a * b), jnp.maximum][int(random.integers(4))](x, y) * 0.5
    if kind == 4:
        return jnp.where(x > y, x, y * 0.5)
    if kind == 5:
        return x.sum(axis, keepdims=bool(random.integers(2))) / x.shape[axis]
    if kind == 6:
        return x.max(axis)
    if kind == 7:
        return x - x.mean(axis, keepdims=True)
    if kind == 8:
        return jax.nn.softmax(x, axis)
    if kind == 9:
        return x.transpose([int(i) for i in random.permutation(x.ndim)])
    if kind == 10:
        return x.reshape(-1) if random.integers(2) else jnp.expand_dims(x, axis)
    if kind == 11:
        start = int(random.integers(x.shape[axis]))
        return lax.slice_in_dim(x, start, x.shape[axis], stride=int(random.integers(1, 3)), axis=axis)
    if kind == 12:
        return jnp.concatenate([x, jnp.flip(y, axis)], axis) if x.size < 3000 else jnp.flip(x, axis)
    if kind == 13:
        return jnp.pad(x, [(int(random.integers(2)), int(random.integers(2))) for _ in range(x.ndim)])
    if kind == 14:
        rows = jnp.arange(5) * 7 % (x.shape[axis] + 2) - 1
        return jnp.take(x, rows, axis=axis, mode="clip")
    if kind == 15:
        return jnp.tensordot(x, y, ([axis], [axis])) / x.shape[axis] if x.size < 600 else x * 0.5
    return jnp.roll(x, int(random.integers(4)), axis)


@pytest.mark.parametrize("seed", range(60))
def test_random_program(seed):
    program, shapes = make_program(seed)
    random = np.random.default_rng(seed + 1)
    arguments = [random.normal(size=shape).astype(np.float32) for shape in shapes]
    jitted = jax.jit(program, keep_unused=True)
    executable = latewood.compile(jitted.lower(*arguments))
    results = executable(*arguments)
    for i, (mine, theirs) in enumerate(zip(results, jitted(*arguments), strict=True)):
        assert mine.shape == theirs.shape
        np.testing.assert_allclose(mine, theirs, rtol=1e-4, atol=1e-5, err_msg=f"result {i}")
