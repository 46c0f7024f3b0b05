# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions for JAX programs whose results have lengths that depend on data.

JAX's shapes are static. A function here computes a padded array and its true length, and marks them; compiled by Latewood, a
marked array that is a public result is returned at its true length: its dimension is `?`. Anywhere else, and under plain JAX, it
is the padded array, so that programs stay valid.

    def indices(x):
        return latewood.jax.nonzero(x > 0)

    executable = latewood.compile(jax.jit(indices).lower(x))
    (i,) = executable(x)            # as long as there are positive elements

Indices are int32, and padding is 0 where nothing else is said. The functions are composites (`jax.lax.composite`), which JAX does not
lower with symbolic shapes: in such exports, use `real_dynamic_slice` and the like in StableHLO instead."""

from __future__ import annotations

from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

__all__ = ["argwhere", "compress", "nonzero", "trim", "unique"]


def trim(x: jax.typing.ArrayLike, length: jax.typing.ArrayLike, axis: int = 0) -> jax.Array:
    """`x` as long as `length` along `axis`, where it is a public result; else `x`. A length that is negative or too large counts
    as the nearest one that is not."""
    x, length = jnp.asarray(x), jnp.asarray(length)
    if not -x.ndim <= axis < x.ndim:
        raise ValueError(f"trim: axis {axis} of an array of {x.ndim} dimensions")
    if length.ndim != 0 or not jnp.issubdtype(length.dtype, jnp.integer):
        raise ValueError(f"trim: length needs to be an integer, not {length.dtype} of shape {length.shape}")

    def whole(x, length, *, dimension):
        del length, dimension
        return x

    return lax.composite(whole, name="latewood.trim")(x, length, dimension=np.int64(axis % x.ndim))


def _padded_nonzero(x):
    """Indices for each dimension, padded to the size of `x`, and their number."""
    found = jnp.nonzero(x, size=x.size, fill_value=0)
    return (*(indices.astype(jnp.int32) for indices in found), jnp.count_nonzero(x).astype(jnp.int32))


def nonzero(x: jax.typing.ArrayLike) -> tuple[jax.Array, ...]:
    """As `numpy.nonzero`: for each dimension the indices of the elements that are not zero, row-major. Where they are public
    results, Latewood counts first and computes them at their true length: no padded array exists."""
    x = jnp.atleast_1d(x)
    *indices, count = lax.composite(_padded_nonzero, name="latewood.nonzero")(x)
    return tuple(trim(i, count) for i in indices)


def argwhere(x: jax.typing.ArrayLike) -> jax.Array:
    """As `numpy.argwhere`: a row of indices for each element that is not zero."""
    x = jnp.asarray(x)
    if x.ndim == 0:
        return trim(jnp.zeros((1, 0), jnp.int32), jnp.count_nonzero(x))
    *indices, count = _padded_nonzero(x)
    return trim(jnp.stack(indices, axis=1), count)


def compress(condition: jax.typing.ArrayLike, x: jax.typing.ArrayLike, axis: int | None = None) -> jax.Array:
    """As `numpy.compress`: the slices of `x` along `axis`, or the elements of the flattened `x`, for which `condition` holds."""
    condition, x = jnp.asarray(condition), jnp.asarray(x)
    if condition.ndim != 1:
        raise ValueError(f"compress: condition needs one dimension, not {condition.ndim}")
    if axis is None:
        x, axis = x.reshape(-1), 0
    if condition.shape[0] > x.shape[axis]:
        raise ValueError(f"compress: condition has {condition.shape[0]} elements, x has {x.shape[axis]} along the axis")
    indices, count = _padded_nonzero(condition)
    return trim(jnp.take(x, indices, axis=axis), count, axis)


def unique(
    x: jax.typing.ArrayLike,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
) -> jax.Array | Sequence[jax.Array]:
    """As `numpy.unique` of the flattened array: the distinct elements in ascending order, and what is asked for with them. NaN
    is one element, the last."""
    x = jnp.asarray(x).reshape(-1)
    ordered = jnp.sort(x)
    differs = ordered[1:] != ordered[:-1]
    if jnp.issubdtype(x.dtype, jnp.floating):
        differs &= ~(jnp.isnan(ordered[1:]) & jnp.isnan(ordered[:-1]))
    count = jnp.sum(differs, dtype=jnp.int32) + jnp.int32(min(x.size, 1))
    padded = jnp.unique(
        x,
        return_index=return_index,
        return_inverse=return_inverse,
        return_counts=return_counts,
        size=x.size,
    )
    if not (return_index or return_inverse or return_counts):
        return trim(padded, count)
    values, *others = padded
    results = [trim(values, count)]
    # The inverse has the length of x.
    for name, wanted in (("index", return_index), ("inverse", return_inverse), ("counts", return_counts)):
        if wanted:
            other = others.pop(0)
            results.append(other.reshape(-1) if name == "inverse" else trim(other, count))
    return tuple(results)
