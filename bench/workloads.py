# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is measured: programs made from JAX at run time, each with example arguments.

The set covers the ways a CPU can be the limit: memory bandwidth with transcendental functions (gelu, softmax, layernorm),
memory bandwidth with reductions along both axes, arithmetic (matmul), one pass over a matrix (matvec), whole models, and
the cost of a call itself (add4).
"""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
import models
import numpy as np
from models import Model

#: Name → maker. The order is that of the table.
WORKLOADS: dict[str, Callable[[], Model]] = {}


def workload(maker: Callable[[], Model]) -> Callable[[], Model]:
    WORKLOADS[maker.__name__.removesuffix("_")] = maker
    return maker


def normal(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).standard_normal(shape, dtype=np.float32)


@workload
def gelu() -> Model:
    """16 M floats through an elementwise chain: gelu in its tanh form."""
    return Model("gelu", lambda x: jax.nn.gelu(x, approximate=True), (normal(16 * 1024 * 1024),))


@workload
def softmax() -> Model:
    return Model("softmax", lambda x: jax.nn.softmax(x, axis=-1), (normal(4096, 1024),))


@workload
def layernorm() -> Model:
    scale, shift = 1 + 0.1 * normal(768), 0.1 * normal(768)
    return Model("layernorm", models.layer_norm, (normal(4096, 768), scale, shift))


@workload
def rowsum() -> Model:
    return Model("rowsum", lambda x: jnp.sum(x, axis=1), (normal(4096, 4096),))


@workload
def colsum() -> Model:
    return Model("colsum", lambda x: jnp.sum(x, axis=0), (normal(4096, 4096),))


@workload
def matmul1024() -> Model:
    return Model("matmul1024", lambda a, b: a @ b, (normal(1024, 1024), normal(1024, 1024)))


@workload
def matmul256() -> Model:
    return Model("matmul256", lambda a, b: a @ b, (normal(256, 256), normal(256, 256)))


@workload
def matvec() -> Model:
    return Model("matvec", lambda a, x: a @ x, (normal(4096, 4096), normal(4096)))


@workload
def mlp() -> Model:
    return models.mlp()


@workload
def bert() -> Model:
    """BERT-base, one sequence of 128 tokens."""
    return models.bert()


@workload
def gpt2_block() -> Model:
    return models.gpt2_block()


@workload
def add4() -> Model:
    """Four floats: what remains is the call."""
    return Model("add4", lambda a, b: a + b, (normal(4), normal(4)))
