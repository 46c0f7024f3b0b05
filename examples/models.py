# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Three models in plain JAX, used by the demonstration, the tests and the benchmark.

A model is a function and example arguments; `jax.jit(model.function).lower(*model.arguments)` is what a user would hand to
the compiler. The weights are random: what is compared is arithmetic, not accuracy. They are scaled the way a trained
network keeps its activations, so that the numbers stay near one through all layers and a comparison means something.

The MLP closes over its weights, so that they travel in the program as constants. The two transformers take theirs as
arguments: an encoder of 440 MB is not something to print as text.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np


@dataclass
class Model:
    name: str
    function: Callable[..., Any]
    arguments: tuple  # pytrees of NumPy arrays; the flat list is what an executable takes

    @property
    def flat_arguments(self) -> list[np.ndarray]:
        return [np.asarray(leaf) for leaf in jax.tree.leaves(self.arguments)]

    def lower(self):
        return jax.jit(self.function, keep_unused=True).lower(*self.arguments)

    def text(self) -> str:
        return self.lower().as_text()

    def expected(self) -> list[np.ndarray]:
        """JAX's own results, flat."""
        return [np.asarray(leaf) for leaf in jax.tree.leaves(jax.jit(self.function)(*self.arguments))]


def weight(random: np.random.Generator, *shape: int) -> np.ndarray:
    return (random.standard_normal(shape) / np.sqrt(shape[0])).astype(np.float32)


def bias(random: np.random.Generator, size: int) -> np.ndarray:
    return (0.1 * random.standard_normal(size)).astype(np.float32)


def mlp(batch: int = 32, sizes: tuple[int, ...] = (784, 512, 512, 10)) -> Model:
    """A classifier: dense layers with relu, and a softmax."""
    random = np.random.default_rng(1)
    layers = [(weight(random, a, b), bias(random, b)) for a, b in itertools.pairwise(sizes)]

    def function(x):
        for index, (w, b) in enumerate(layers):
            x = x @ w + b
            if index + 1 < len(layers):
                x = jax.nn.relu(x)
        return jax.nn.softmax(x, axis=-1)

    return Model("mlp", function, (random.standard_normal((batch, sizes[0])).astype(np.float32),))


def layer_norm(x, scale, shift, epsilon=1e-5):
    mean = jnp.mean(x, axis=-1, keepdims=True)
    variance = jnp.mean(jnp.square(x - mean), axis=-1, keepdims=True)
    return (x - mean) * jax.lax.rsqrt(variance + epsilon) * scale + shift


def attention(x, p, heads: int, causal: bool):
    batch, sequence, width = x.shape
    size = width // heads

    def split(y):
        return y.reshape(batch, sequence, heads, size).transpose(0, 2, 1, 3)

    q, k, v = (split(x @ p[f"w{name}"] + p[f"b{name}"]) for name in "qkv")
    scores = jnp.einsum("bhqd,bhkd->bhqk", q, k) / np.float32(np.sqrt(size))
    if causal:
        scores = jnp.where(jnp.tril(jnp.ones((sequence, sequence), bool)), scores, np.float32(-1e9))
    mixed = jnp.einsum("bhqk,bhkd->bhqd", jax.nn.softmax(scores, axis=-1), v)
    return mixed.transpose(0, 2, 1, 3).reshape(batch, sequence, width) @ p["wo"] + p["bo"]


def transformer_layer(random: np.random.Generator, width: int, hidden: int) -> dict[str, np.ndarray]:
    p = {}
    for name in "qkvo":
        p[f"w{name}"], p[f"b{name}"] = weight(random, width, width), bias(random, width)
    p["w1"], p["b1"] = weight(random, width, hidden), bias(random, hidden)
    p["w2"], p["b2"] = weight(random, hidden, width), bias(random, width)
    for name in ("n1", "n2"):
        p[f"{name}_scale"], p[f"{name}_shift"] = 1 + bias(random, width), bias(random, width)
    return p


def bert(
    layers: int = 12,
    width: int = 768,
    heads: int = 12,
    hidden: int = 3072,
    vocabulary: int = 30522,
    sequence: int = 128,
    batch: int = 1,
) -> Model:
    """An encoder as in BERT: embedding lookup, then layers that normalize after adding, with the exact gelu (erf)."""
    random = np.random.default_rng(2)
    parameters = {
        "words": weight(random, width, vocabulary).T.copy(),
        "positions": weight(random, width, 512).T.copy(),
        "kinds": weight(random, width, 2).T.copy(),
        "scale": 1 + bias(random, width),
        "shift": bias(random, width),
        "layers": [transformer_layer(random, width, hidden) for _ in range(layers)],
    }
    tokens = random.integers(0, vocabulary, (batch, sequence)).astype(np.int32)
    kinds = (np.arange(sequence) >= sequence // 2).astype(np.int32)[None, :].repeat(batch, axis=0)

    def function(p, tokens, kinds):
        x = p["words"][tokens] + p["positions"][jnp.arange(tokens.shape[1])] + p["kinds"][kinds]
        x = layer_norm(x, p["scale"], p["shift"])
        for layer in p["layers"]:
            x = layer_norm(x + attention(x, layer, heads, causal=False), layer["n1_scale"], layer["n1_shift"])
            inner = jax.nn.gelu(x @ layer["w1"] + layer["b1"], approximate=False)
            x = layer_norm(x + inner @ layer["w2"] + layer["b2"], layer["n2_scale"], layer["n2_shift"])
        return x

    return Model("bert-base" if layers == 12 else f"bert-{layers}", function, (parameters, tokens, kinds))


def bert_small() -> Model:
    """The same program in a size for tests."""
    model = bert(layers=2, width=128, heads=4, hidden=256, vocabulary=1000, sequence=32, batch=2)
    return Model("bert-small", model.function, model.arguments)


def gpt2_block(width: int = 768, heads: int = 12, sequence: int = 128, batch: int = 1) -> Model:
    """One block as in GPT-2: normalizes before each half, attends causally, tanh gelu."""
    random = np.random.default_rng(3)
    parameters = transformer_layer(random, width, 4 * width)
    x = random.standard_normal((batch, sequence, width)).astype(np.float32)

    def function(p, x):
        x = x + attention(layer_norm(x, p["n1_scale"], p["n1_shift"]), p, heads, causal=True)
        inner = jax.nn.gelu(layer_norm(x, p["n2_scale"], p["n2_shift"]) @ p["w1"] + p["b1"], approximate=True)
        return x + inner @ p["w2"] + p["b2"]

    return Model("gpt2-block", function, (parameters, x))
