# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs of JAX by way of TensorRT's layers: divided among TensorRT and the CPU, converted to layers, simplified, raised to softmax,
normalization, attention and GELU, and computed on the CPU. The results are JAX's, to 2e-4 relative and 1e-5 absolute."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from tensorrt_oracle import compile_by_layers

random = np.random.default_rng(1)


def normal(*shape, dtype=np.float32):
    return random.standard_normal(shape).astype(dtype)


def integers(low, high, *shape):
    return random.integers(low, high, shape).astype(np.int32)


X, V, IMAGE, KERNEL = normal(6, 8), normal(37), normal(2, 9, 9, 4), normal(3, 3, 4, 6)
NHWC = ("NHWC", "HWIO", "NHWC")


def check(function, arguments, layers=(), rtol=2e-4, atol=1e-5):
    executable, found, _ = compile_by_layers(jax.jit(function, keep_unused=True).lower(*arguments))
    for layer in layers:
        assert found[layer] > 0, f"no {layer} among {dict(found)}"
    results = executable(*arguments)
    results = list(results) if isinstance(results, tuple) else [results]
    expected = [np.asarray(leaf) for leaf in jax.tree.leaves(jax.jit(function)(*arguments))]
    assert len(results) == len(expected)
    for mine, theirs in zip(results, expected, strict=True):
        assert (mine.dtype, mine.shape) == (theirs.dtype, theirs.shape)
        if np.issubdtype(theirs.dtype, np.integer) or theirs.dtype == bool:
            np.testing.assert_array_equal(mine, theirs)
        else:
            narrow = theirs.dtype.itemsize == 2
            np.testing.assert_allclose(
                mine.astype(np.float64),
                theirs.astype(np.float64),
                rtol=2e-2 if narrow else rtol,
                atol=2e-2 if narrow else atol,
            )
    return found


def convolution(*arguments, **options):
    return lambda a, k: lax.conv_general_dilated(a, k, *arguments, dimension_numbers=NHWC, **options)


# Name: (layers that must be there, function, arguments).
PROGRAMS = {
    "elementwise": (["element_wise", "unary"], lambda x: jnp.exp(x) * jnp.sin(x) - jnp.abs(x) / 3, X),
    "activations": (["activation"], lambda x: (jax.nn.relu(x), jax.nn.sigmoid(x), jnp.tanh(x), jax.nn.softplus(x)), X),
    "expm1 and log1p": (["unary"], lambda x: (jnp.expm1(x * 1e-3), jnp.expm1(x * 10), jnp.log1p(jnp.abs(x) * 1e-4)), V),
    "rounding": (["unary"], lambda x: (jnp.round(x * 3), lax.round(x * 2, lax.RoundingMethod.AWAY_FROM_ZERO), jnp.floor(x)), V),
    "comparisons": (["element_wise"], lambda x: (x < 0, x >= 0.5, x == x, x != 0, (x > 0) & (x < 1), jnp.isnan(x), jnp.isfinite(x)), V),
    "integers": (["element_wise"], lambda x: (x // 3, x % 7, x * x + 1, jnp.abs(x), jnp.sign(x), jnp.maximum(x, 2)), integers(-9, 9, 20)),
    "booleans": (["element_wise"], lambda x: ((x > 0) ^ (x > 1), ~(x > 0), (x > 0) == (x > 1)), V),
    "casts": (["cast"], lambda x: (x.astype(jnp.int32), x.astype(jnp.float16), (x * 4).astype(bool)), V),
    "where": (["select"], lambda x: jnp.where(x > 0, x, 0.1 * x), X),
    "clip": (["element_wise"], lambda x: jnp.clip(x, -0.5, 0.5), X),
    "gelu by tanh": (["activation"], lambda x: jax.nn.gelu(x, approximate=True), X),
    "softmax": (["softmax"], lambda x: jax.nn.softmax(x, axis=-1), X),
    "softmax along the first": (["softmax"], lambda x: jax.nn.softmax(x, axis=0), X),
    "log softmax": (["reduce"], lambda x: jax.nn.log_softmax(x), X),
    "sums": (["reduce"], lambda x: (x.sum(), x.sum(0), x.mean(1), x.max(), x.min(0), jnp.prod(x, 1)), X),
    "all and any": (["reduce"], lambda x: (jnp.any(x > 1, 0), jnp.all(x > -2, 1)), X),
    "argmax": (["argmax", "argmin"], lambda x: (jnp.argmax(x, 0), jnp.argmin(x, 1), jnp.argmax(x)), X),
    "cumsum": (["cumulative"], lambda x: (jnp.cumsum(x, 0), lax.cumsum(x, 1, reverse=True)), X),
    "sort": (["top_k"], lambda x: -jnp.sort(-x, axis=1), integers(-50, 50, 5, 9)),
    "layer norm": (["normalization"], lambda x, s, b: (x - x.mean(-1, keepdims=True)) * lax.rsqrt(((x - x.mean(-1, keepdims=True)) ** 2).mean(-1, keepdims=True) + 1e-5) * s + b, X, normal(8), normal(8)),
    "rms norm": (["reduce"], lambda x, s: x * lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-6) * s, X, normal(8)),
    "matmul": (["matrix_multiply"], lambda a, b: a @ b, normal(5, 7), normal(7, 3)),
    "matmul transposed": (["matrix_multiply"], lambda a, b: a @ b.T, normal(5, 7), normal(3, 7)),
    "vector products": (["matrix_multiply"], lambda a, b, c: (a @ b, b @ a.T, b @ c), normal(5, 7), normal(7), normal(7)),
    "batched matmul": (["matrix_multiply"], lambda a, b: a @ b, normal(2, 3, 5, 7), normal(2, 3, 7, 4)),
    "matmul by a matrix": (["matrix_multiply"], lambda a, b: a @ b, normal(2, 3, 5, 7), normal(7, 4)),
    "einsum": (["matrix_multiply"], lambda a, b: (jnp.einsum("bsnh,nhd->bsd", a, b), jnp.einsum("bqhd,bkhd->bhqk", a, a)), normal(2, 5, 3, 4), normal(3, 4, 6)),
    "outer product": (["element_wise"], lambda a, b: jnp.outer(a, b), normal(5), normal(4)),
    "f16 matmul": (["matrix_multiply"], lambda a: a @ a.T, normal(6, 8, dtype=np.float16)),
    "convolution": (["convolution"], convolution((1, 1), "SAME"), IMAGE, KERNEL),
    "strided convolution": (["convolution"], convolution((2, 2), "VALID"), IMAGE, KERNEL),
    "dilated convolution": (["convolution"], convolution((1, 1), ((2, 1), (0, 3)), rhs_dilation=(2, 1)), IMAGE, KERNEL),
    "grouped convolution": (["convolution"], convolution((1, 1), "SAME", feature_group_count=2), IMAGE, normal(3, 3, 2, 6)),
    "transposed convolution": (["deconvolution"], lambda a, k: lax.conv_transpose(a, k, (2, 2), "SAME"), IMAGE, KERNEL),
    "convolution of one dimension": (["convolution"], lambda a, k: lax.conv_general_dilated(a, k, (1,), "SAME", dimension_numbers=("NWC", "WIO", "NWC")), normal(2, 9, 3), normal(3, 3, 5)),
    "max pool": (["pooling"], lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME"), IMAGE),
    "average pool": (["pooling"], lambda x: lax.reduce_window(x, 0.0, lax.add, (1, 2, 2, 1), (1, 2, 2, 1), "VALID") / 4, IMAGE),
    "min pool of a vector": (["pooling"], lambda x: lax.reduce_window(x, jnp.inf, lax.min, (4,), (3,), "VALID"), V),
    "reshape and transpose": (["shuffle"], lambda x: x.reshape(2, 3, 8).transpose(2, 0, 1).reshape(8, 6), X),
    "slices": (["slice"], lambda x: (x[1:5:2, ::-1], x[-1], x[:, 3], x[..., ::3]), X),
    "concatenate and pad": (["concatenation", "slice"], lambda x: (jnp.concatenate([x, x * 2], 1), jnp.pad(x, ((1, 2), (0, 3)), constant_values=7.0), lax.pad(x, np.float32(1.5), ((0, 1, 2), (2, -3, 1)))), X),
    "iota": (["linspace"], lambda x: (jnp.arange(5) + x[0, :5].astype(jnp.int32), jnp.arange(8.0) * x, lax.broadcasted_iota(jnp.int32, (6, 8), 0) * x), X),
    "eye and triangle": (["element_wise"], lambda x: (jnp.eye(6, 8) * x, jnp.tril(x), jnp.triu(x, 1)), X),
    "broadcast": (["element_wise"], lambda x, v: x + v + v[:1] + x[:, :1] + 3, X, normal(8)),
    "take": (["gather"], lambda x, i: (x[i], jnp.take(x, i, axis=1), jnp.take_along_axis(x, i[:, None], axis=1)), X, integers(0, 6, 6)),
    "gather slices": (["gather_nd"], lambda x, i: jax.vmap(lambda s: lax.dynamic_slice(x, (s, s + 1), (2, 3)))(i), X, integers(0, 9, 4)),
    "embedding": (["gather"], lambda t, i: t[i].sum(1), normal(20, 8), integers(0, 20, 3, 5)),
    "scatter": (["scatter_nd"], lambda x, i: (x.at[i].set(0.0), x.at[1, 2].set(5.0), x.at[i, i].set(1.0), x.at[9].set(3.0, mode="drop")), X, np.array([1, 4, 7], np.int32)),
    "dynamic slices": (["slice"], lambda x, i: (lax.dynamic_slice(x, (i, i), (2, 3)), lax.dynamic_update_slice(x, x[:2, :3] * 9, (i, i + 1))), X, np.int32(3)),
    "one hot": (["element_wise"], lambda i: jax.nn.one_hot(i, 10), integers(0, 10, 6)),
    "cond": (["if"], lambda x, c: lax.cond(c > 0, lambda v: v * 2, lambda v: v - 1, x), X, np.int32(1)),
    "switch": (["if"], lambda x, c: lax.switch(c, [jnp.sin, jnp.cos, jnp.tanh, jnp.abs], x), X, np.int32(2)),
    "while": (["while"], lambda x: lax.while_loop(lambda c: jnp.sum(c) < 100, lambda c: c * 1.5 + 1, jnp.abs(x)), X),
    "fori": (["while"], lambda x: lax.fori_loop(0, 10, lambda i, c: c * 0.9 + i, x), X),
    "scan": (["while"], lambda x: lax.scan(lambda c, a: (c + a, c * a), jnp.zeros(8, jnp.float32), x), X),
    "attention": (["attention"], lambda q, k, v: jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", q, k) / np.float32(np.sqrt(8)), axis=-1), v), *(normal(2, 5, 3, 8) for _ in range(3))),
    "causal attention": (["softmax", "matrix_multiply"], lambda q: jax.nn.dot_product_attention(q, q, q, is_causal=True), normal(2, 16, 4, 8)),
    "exponential of a matrix": (["matrix_multiply", "if"], jax.scipy.linalg.expm, normal(3, 3)),
    "quantized": (["quantize", "dequantize"], lambda x: jnp.clip(jnp.round(x / 0.05), -128, 127).astype(jnp.int8).astype(jnp.float32) * 0.05, X),
    "f64 stays": ([], lambda x: jnp.cumsum(x.astype(jnp.complex64).real), V),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name):
    layers, function, *arguments = PROGRAMS[name]
    check(function, arguments, layers)


# Name: (layers, function, symbolic shapes, shapes of calls).
DYNAMIC = {
    "mlp": (["matrix_multiply"], lambda x, w: jax.nn.relu(x @ w) + 1, ["b, 8", "8, 5"], [[(2, 8), (8, 5)], [(7, 8), (8, 5)]]),
    "softmax": (["softmax"], lambda x: jax.nn.softmax(x, -1), ["b, n"], [[(2, 3)], [(4, 9)]]),
    "batched product": (["matrix_multiply"], lambda a, b: a @ b, ["b, n, 4", "b, 4, m"], [[(2, 3, 4), (2, 4, 5)]]),
    "transpose and reshape": (["transpose", "reshape"], lambda x: x.transpose(1, 0, 2).reshape(3, -1), ["b, 3, 4"], [[(2, 3, 4)], [(5, 3, 4)]]),
    "concatenate and slice": (["concatenation", "slice"], lambda x: jnp.concatenate([x, x[:, ::-1]], 0)[:, :2], ["b, 4"], [[(3, 4)]]),
    "convolution": (["convolution"], lambda x, k: lax.conv_general_dilated(x, k, (1, 1), "SAME", dimension_numbers=NHWC), ["b, 6, 6, 2", "3, 3, 2, 4"], [[(2, 6, 6, 2), (3, 3, 2, 4)]]),
    "running sums": (["cumulative"], lambda x: jnp.cumsum(x, 0) + lax.cumsum(x, 1, reverse=True), ["b, n"], [[(3, 4)], [(1, 7)], [(5, 1)]]),
    "arange": (["linspace"], lambda x: x * jnp.arange(x.shape[0], dtype=jnp.float32)[:, None], ["b, 4"], [[(3, 4)], [(6, 4)]]),
}  # fmt: skip


@pytest.mark.parametrize("name", DYNAMIC)
def test_dynamic_program(name):
    layers, function, symbols, calls = DYNAMIC[name]
    scope = jax.export.SymbolicScope()
    shapes = [jax.ShapeDtypeStruct(jax.export.symbolic_shape(s, scope=scope), np.float32) for s in symbols]
    executable, found, _ = compile_by_layers(str(jax.export.export(jax.jit(function))(*shapes).mlir_module()))
    for layer in layers:
        assert found[layer] > 0, f"no {layer} among {dict(found)}"
    for call in calls:
        arguments = [normal(*shape) for shape in call]
        np.testing.assert_allclose(executable(*arguments), function(*arguments), rtol=2e-4, atol=1e-5)


def layer_norm(x, scale, bias):
    mean = x.mean(-1, keepdims=True)
    variance = ((x - mean) ** 2).mean(-1, keepdims=True)
    return (x - mean) * lax.rsqrt(variance + 1e-5) * scale + bias


def split_heads(x, heads):
    return x.reshape(*x.shape[:-1], heads, -1)


def attend(x, p, heads, mask=None):
    q, k, v = (split_heads(x @ p[n] + p[n + "b"], heads) for n in ("q", "k", "v"))
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / np.float32(np.sqrt(q.shape[-1]))
    if mask is not None:
        scores = jnp.where(mask, scores, -1e30)
    mixed = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores, axis=-1), v)
    return mixed.reshape(x.shape) @ p["o"] + p["ob"]


def block_parameters(width):
    names = {n: (width, width) for n in "qkvo"} | {"up": (width, 4 * width), "down": (4 * width, width)}
    result = {n: normal(*shape) / np.float32(np.sqrt(shape[0])) for n, shape in names.items()}
    result |= {n + "b": normal(shape[1]) * np.float32(0.1) for n, shape in names.items()}
    return result | {
        "s1": 1 + normal(width) * np.float32(0.1),
        "b1": normal(width),
        "s2": 1 + normal(width) * np.float32(0.1),
        "b2": normal(width),
    }


def test_gpt2_block():
    """A block of GPT-2, small: normalization in front, causal attention, GELU by tanh."""
    p = block_parameters(32)
    mask = np.tril(np.ones((7, 7), bool))

    def block(x):
        x = x + attend(layer_norm(x, p["s1"], p["b1"]), p, 4, mask)
        h = jax.nn.gelu(layer_norm(x, p["s2"], p["b2"]) @ p["up"] + p["upb"], approximate=True)
        return x + h @ p["down"] + p["downb"]

    found = check(
        block, [normal(2, 7, 32)], ["normalization", "attention", "activation", "matrix_multiply"], rtol=1e-3, atol=1e-4
    )
    assert found["normalization"] == 2


def test_bert_layers():
    """Two layers of BERT, small: embeddings, normalization behind, exact GELU, a mask of padding."""
    layers = [block_parameters(24) for _ in range(2)]
    words, positions = normal(50, 24), normal(9, 24)

    def bert(tokens, lengths):
        mask = (jnp.arange(9) < lengths[:, None])[:, None, None, :]
        x = jnp.asarray(words)[tokens] + positions
        for p in layers:
            x = layer_norm(x + attend(x, p, 3, mask), p["s1"], p["b1"])
            h = jax.nn.gelu(x @ p["up"] + p["upb"], approximate=False)
            x = layer_norm(x + h @ p["down"] + p["downb"], p["s2"], p["b2"])
        return x, jnp.tanh(x[:, 0])

    check(
        bert,
        [integers(0, 50, 2, 9), np.array([9, 5], np.int32)],
        ["normalization", "attention", "gather", "activation"],
        rtol=1e-3,
        atol=1e-4,
    )


def test_resnet_stage():
    """The stem and two blocks of ResNet-18, small: convolutions, batch normalization, pooling, a residual of another size."""

    def parameters(height, inputs, outputs):
        return {
            "w": normal(height, height, inputs, outputs) * np.float32(0.1),
            "m": normal(outputs),
            "v": np.abs(normal(outputs)) + 1,
            "g": normal(outputs),
            "b": normal(outputs),
        }

    stem, a1, a2 = parameters(7, 3, 8), parameters(3, 8, 8), parameters(3, 8, 8)
    b1, b2, down, head = parameters(3, 8, 16), parameters(3, 16, 16), parameters(1, 8, 16), normal(16, 10)

    def layer(x, p, stride):
        x = lax.conv_general_dilated(x, p["w"], (stride, stride), "SAME", dimension_numbers=NHWC)
        return (x - p["m"]) * (p["g"] / jnp.sqrt(p["v"] + 1e-5)) + p["b"]

    def resnet(x):
        x = jax.nn.relu(layer(x, stem, 2))
        x = lax.reduce_window(x, -jnp.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME")
        x = jax.nn.relu(layer(jax.nn.relu(layer(x, a1, 1)), a2, 1) + x)
        x = jax.nn.relu(layer(jax.nn.relu(layer(x, b1, 2)), b2, 1) + layer(x, down, 2))
        return x.mean((1, 2)) @ head

    check(resnet, [normal(2, 32, 32, 3)], ["convolution", "pooling", "reduce", "matrix_multiply"], rtol=1e-3, atol=1e-3)
