# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs written in TensorRT's layers (`--input=tensorrt`), on the CPU, against NumPy and JAX. Tolerance 1e-4."""

import jax
import numpy as np
import pytest
from jax import lax

import latewood

random = np.random.default_rng(3)
ELEMENTS = {"float32": "f32", "int32": "i32", "int64": "i64", "bool": "i1", "int8": "i8", "float16": "f16"}


def normal(*shape):
    return random.standard_normal(shape).astype(np.float32)


def type_of(array):
    array = np.asarray(array)
    return "tensor<" + "".join(f"{n}x" for n in array.shape) + ELEMENTS[str(array.dtype)] + ">"


def run(body, results, arguments):
    """`body` computes %r0, %r1... of the types of `results` from %x0, %x1..."""
    signature = ", ".join(f"%x{i}: {type_of(a)}" for i, a in enumerate(arguments))
    types = [type_of(r) for r in results]
    text = f"func.func public @main({signature}) -> ({', '.join(types)}) {{\n{body}\n  return "
    text += ", ".join(f"%r{i}" for i in range(len(results))) + " : " + ", ".join(types) + "\n}\n"
    got = latewood.compile(text, options=["--input=tensorrt"])(*arguments)
    return list(got) if isinstance(got, tuple) else [got]


def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


X, Y, IMAGE = normal(4, 6), normal(4, 6), normal(2, 4, 5, 6)
Q, K = normal(2, 4, 5, 8), normal(2, 2, 7, 8)


def attention(q, k, v, causal=None):
    k, v = np.repeat(k, q.shape[1] // k.shape[1], 1), np.repeat(v, q.shape[1] // v.shape[1], 1)
    scores = np.einsum("bhqd,bhkd->bhqk", q, k)
    if causal is not None:
        scores = np.where(np.tril(np.ones(scores.shape[-2:], bool), causal), scores, -np.inf)
    return np.einsum("bhqk,bhkd->bhqd", softmax(scores), v)


def group_norm(x, scale, bias, groups):
    y = x.reshape(x.shape[0], groups, -1)
    y = (y - y.mean(-1, keepdims=True)) / np.sqrt(y.var(-1, keepdims=True) + 1e-5)
    return y.reshape(x.shape) * scale + bias


def resized(x, shape, method):
    return np.asarray(jax.image.resize(x, shape, method, antialias=False))


def lrn(x, size, alpha, beta, k):
    squares = np.pad(x * x, ((0, 0), (size // 2, size // 2), (0, 0), (0, 0)))
    total = sum(squares[:, i : i + x.shape[1]] for i in range(size))
    return x / (k + alpha / size * total) ** beta


def rotary(x, cos, sin):
    half = x.shape[-1] // 2
    a, b, c, s = x[..., :half], x[..., half:], cos[:, None], sin[:, None]
    return np.concatenate([a * c - b * s, a * s + b * c], -1)


A = "activationType = #tensorrt<activation_type %s>"
RESIZE = "coordinateTransformation = #tensorrt<resize_coordinate_transformation kHALF_PIXEL>, selectorForSinglePixel = #tensorrt<resize_selector kFORMULA>"
INDICES = np.array([[0, 3], [-1, 1], [2, 2]], np.int32)
PICKED = random.integers(0, 4, (4, 6)).astype(np.int32)
MASK = random.random((2, 1, 5, 7)) > 0.3
COS, SIN = normal(2, 5, 4), normal(2, 5, 4)

# Name: (layer with its operands and attributes, expected, arguments).
LAYERS = {
    "leaky relu": ("activation %x0 {" + A % "kLEAKY_RELU" + ", alpha = 0.1 : f32}", np.where(X >= 0, X, 0.1 * X), X),
    "elu": ("activation %x0 {" + A % "kELU" + ", alpha = 2.0 : f32}", np.where(X >= 0, X, 2 * np.expm1(X)), X),
    "softsign": ("activation %x0 {" + A % "kSOFTSIGN" + "}", X / (1 + np.abs(X)), X),
    "softplus": ("activation %x0 {" + A % "kSOFTPLUS" + ", alpha = 2.0 : f32, beta = 3.0 : f32}", 2 * np.log1p(np.exp(3 * X)), X),
    "clip": ("activation %x0 {" + A % "kCLIP" + ", alpha = -0.5 : f32, beta = 0.25 : f32}", np.clip(X, -0.5, 0.25), X),
    "hard sigmoid": ("activation %x0 {" + A % "kHARD_SIGMOID" + ", alpha = 0.2 : f32, beta = 0.5 : f32}", np.clip(0.2 * X + 0.5, 0, 1), X),
    "gelu": ("activation %x0 {" + A % "kGELU_ERF" + "}", jax.nn.gelu(X, approximate=False), X),
    "gelu by tanh": ("activation %x0 {" + A % "kGELU_TANH" + "}", jax.nn.gelu(X, approximate=True), X),
    "broadcast": ("element_wise %x0, %x1 {elementwiseOperation = #tensorrt<element_wise_operation kSUB>}", X - Y[:1], X, Y[:1]),
    "floor division": ("element_wise %x0, %x1 {elementwiseOperation = #tensorrt<element_wise_operation kFLOOR_DIV>}", np.array([-4, 3, -1], np.int32), np.array([-7, 7, -3], np.int32), np.array([2, 2, 3], np.int32)),
    "parametric relu": ("parametric_relu %x0, %x1", np.where(X >= 0, X, X * Y[:, :1]), X, Y[:, :1]),
    "softmax": ("softmax %x0 {axis = 0 : i64}", softmax(X, 0), X),
    "lrn": ("lrn %x0 {window = 3 : i64, alpha = 0.5 : f32, beta = 0.75 : f32, k = 2.0 : f32}", lrn(IMAGE, 3, 0.5, 0.75, 2.0), IMAGE),
    "scale": ("scale %x0 {mode = #tensorrt<scale_mode kCHANNEL>, shift = dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>}", IMAGE + np.arange(1, 5, dtype=np.float32)[:, None, None], IMAGE),
    "group norm": ("normalization %x0, %x1, %x2 {axis = array<i64: 2, 3>, num_groups = 2 : i64}", group_norm(IMAGE, IMAGE[:1, :, :1, :1], IMAGE[1:, :, :1, :1], 2), IMAGE, IMAGE[:1, :, :1, :1], IMAGE[1:, :, :1, :1]),
    "exclusive sums": ("cumulative %x0 {axis = 1 : i64, cumulativeOperation = #tensorrt<cumulative_operation kSUM>, exclusive = true}", np.cumsum(X, 1) - X, X),
    "matrix by vector": ("matrix_multiply %x0, %x1 {op0 = #tensorrt<matrix_operation kTRANSPOSE>, op1 = #tensorrt<matrix_operation kVECTOR>}", X.T @ Y[:, 0], X, Y[:, 0].copy()),
    "broadcast product": ("matrix_multiply %x0, %x1 {op0 = #tensorrt<matrix_operation kNONE>, op1 = #tensorrt<matrix_operation kTRANSPOSE>}", IMAGE @ np.swapaxes(IMAGE[:1, :1], 2, 3), IMAGE, IMAGE[:1, :1]),
    "diagonal": ('einsum %x0 {equation = "ii->i"}', np.diag(X[:, :4]), X[:, :4].copy()),
    "einsum of three": ('einsum %x0, %x1, %x2 {equation = "ij,kj,k->i"}', np.einsum("ij,kj,k->i", X, Y, Y[:, 0]), X, Y, Y[:, 0].copy()),
    "einsum without arrow": ('einsum %x0, %x1 {equation = "ji,jk"}', X.T @ Y, X, Y),
    "average without padding": ("pooling %x0 {windowSize = array<i64: 2, 2>, stride = array<i64: 1, 2>, prePadding = array<i64: 1, 0>, postPadding = array<i64: 0, 0>, poolingType = #tensorrt<pooling_type kAVERAGE>}",
                                lax.reduce_window(IMAGE, 0.0, lax.add, (1, 1, 2, 2), (1, 1, 1, 2), ((0, 0), (0, 0), (1, 0), (0, 0))) / lax.reduce_window(np.ones_like(IMAGE), 0.0, lax.add, (1, 1, 2, 2), (1, 1, 1, 2), ((0, 0), (0, 0), (1, 0), (0, 0))), IMAGE),
    "attention": ("attention %x0, %x1, %x1", attention(Q, K, K), Q, K),
    "causal attention": ("attention %x0, %x1, %x1 {causalKind = #tensorrt<causal_mask_kind kLOWER_RIGHT>}", attention(Q, K, K, 2), Q, K),
    "rotary embedding": ("rotary_embedding %x0, %x1, %x2", rotary(Q, COS, SIN), Q, COS, SIN),
    "mean": ("reduce %x0 {reduceAxes = array<i64: 1>, keepDimensions = true, reduceOperation = #tensorrt<reduce_operation kAVG>}", X.mean(1, keepdims=True), X),
    "shuffle": ("shuffle %x0 {firstTranspose = array<i64: 1, 0>, reshape = array<i64: 0, -1, 2>, secondTranspose = array<i64: 1, 2, 0>}", X.T.reshape(6, 2, 2).transpose(1, 2, 0), X),
    "backwards": ("slice %x0 {staticStart = array<i64: 3, 5>, staticSize = array<i64: 2, 3>, staticStride = array<i64: -1, -2>}", X[3:1:-1, 5::-2], X),
    "repeated": ("slice %x0 {staticStart = array<i64: 1, 0>, staticSize = array<i64: 3, 6>, staticStride = array<i64: 0, 1>}", np.repeat(X[1:2], 3, 0), X),
    "wrapped": ("slice %x0 {staticStart = array<i64: -1, 0>, staticSize = array<i64: 6, 6>, staticStride = array<i64: 1, 1>, mode = #tensorrt<sample_mode kWRAP>}", np.pad(X, ((1, 1), (0, 0)), mode="wrap"), X),
    "reflected": ("slice %x0 {staticStart = array<i64: 0, -2>, staticSize = array<i64: 4, 10>, staticStride = array<i64: 1, 1>, mode = #tensorrt<sample_mode kREFLECT>}", np.pad(X, ((0, 0), (2, 2)), mode="reflect"), X),
    "padding": ("padding %x0 {prePadding = array<i64: 1, -1>, postPadding = array<i64: 0, 2>}", np.pad(IMAGE, ((0, 0), (0, 0), (1, 0), (0, 2)))[..., 1:], IMAGE),
    "counting": ("linspace {staticStart = 2.0 : f64, staticStep = 0.5 : f64}", np.arange(5, dtype=np.float32) * 0.5 + 2),
    "reverse sequence": ("reverse_sequence %x0, %x1 {batchAxis = 0 : i64, sequenceAxis = 1 : i64}", np.stack([np.concatenate([X[i, :n][::-1], X[i, n:]]) for i, n in enumerate([0, 2, 5, 6])]), X, np.array([0, 2, 5, 6], np.int32)),
    "gather": ("gather %x0, %x1 {axis = 1 : i64}", X[:, INDICES], X, INDICES),
    "gather vectors": ("gather_nd %x0, %x1", X[INDICES[:, 0], INDICES[:, 1]], X, INDICES),
    "gather elements": ("gather_elements %x0, %x1 {axis = 0 : i64}", np.take_along_axis(X, PICKED, 0), X, PICKED),
    "one hot": ("one_hot", np.eye(5, dtype=np.float32)[INDICES % 5] * 3 + 1, INDICES % 5),
    "nearest": ("resize_nearest %x0 {" + RESIZE + ", nearestRounding = #tensorrt<resize_round_mode kHALF_DOWN>}", resized(IMAGE, (2, 4, 10, 12), "nearest"), IMAGE),
    "linear": ("resize_linear %x0 {" + RESIZE + "}", resized(IMAGE, (2, 4, 9, 12), "linear"), IMAGE),
    "quantized": ("quantize %x0, %x1", np.clip(np.rint(X / np.float32(0.1)), -128, 127).astype(np.int8), X, np.float32(0.1)),
    "dequantized along an axis": ("dequantize %x0, %x1 {axis = 0 : i64}", np.arange(24, dtype=np.float32).reshape(4, 6) * Y[:, :1], np.arange(24, dtype=np.int8).reshape(4, 6), Y[:, 0].copy()),
}  # fmt: skip


@pytest.mark.parametrize("name", LAYERS)
def test_layer(name):
    text, expected, *arguments = LAYERS[name]
    expected = np.asarray(expected)
    if text == "one_hot":
        body = "  %on = tensorrt.constant dense<[1.0, 4.0]> : tensor<2xf32>\n  %depth = tensorrt.constant dense<5> : tensor<i32>\n"
        body += f"  %r0 = tensorrt.one_hot %x0, %on, %depth {{axis = -1 : i64}} : ({type_of(arguments[0])}, tensor<2xf32>, tensor<i32>) -> {type_of(expected)}"
        (got,) = run(body, [expected], arguments)
    else:
        operands = text.split("{")[0].count("%x")
        inputs = [arguments[int(part[0])] for part in text.split("%x")[1 : operands + 1]]
        body = f"  %r0 = tensorrt.{text} : ({', '.join(type_of(i) for i in inputs)}) -> {type_of(expected)}"
        (got,) = run(body, [expected], arguments)
    assert got.dtype == expected.dtype
    np.testing.assert_allclose(got.astype(np.float64), expected.astype(np.float64), rtol=1e-4, atol=1e-5)


def test_loops():
    """A loop with a trip count, with a conditional in it, and one with a condition that passes on something else."""
    body = """
      %zero = tensorrt.constant dense<0> : tensor<i32>
      %one = tensorrt.constant dense<1> : tensor<i32>
      %two = tensorrt.constant dense<2> : tensor<i32>
      %five = tensorrt.constant dense<5> : tensor<i32>
      %r0 = tensorrt.for %zero to %five step %two init(%x0) : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<4x6xf32>) -> tensor<4x6xf32> {
      ^bb0(%i: tensor<i32>, %x: tensor<4x6xf32>):
        %c = tensorrt.element_wise %i, %two {elementwiseOperation = #tensorrt<element_wise_operation kEQUAL>} : (tensor<i32>, tensor<i32>) -> tensor<i1>
        %y = tensorrt.if(%c : tensor<i1>) -> tensor<4x6xf32> {
          %n = tensorrt.unary %x {unaryOperation = #tensorrt<unary_operation kNEG>} : (tensor<4x6xf32>) -> tensor<4x6xf32>
          tensorrt.yield %n : tensor<4x6xf32>
        } else {
          %d = tensorrt.element_wise %x, %x {elementwiseOperation = #tensorrt<element_wise_operation kSUM>} : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
          tensorrt.yield %d : tensor<4x6xf32>
        }
        tensorrt.yield %y : tensor<4x6xf32>
      }
      %r1 = tensorrt.while(%zero) : (tensor<i32>) -> tensor<i32> {
      ^bb0(%i: tensor<i32>):
        %less = tensorrt.element_wise %i, %five {elementwiseOperation = #tensorrt<element_wise_operation kLESS>} : (tensor<i32>, tensor<i32>) -> tensor<i1>
        %next = tensorrt.element_wise %i, %one {elementwiseOperation = #tensorrt<element_wise_operation kSUM>} : (tensor<i32>, tensor<i32>) -> tensor<i32>
        tensorrt.condition(%less : tensor<i1>) %next : tensor<i32>
      } do {
      ^bb0(%i: tensor<i32>):
        tensorrt.yield %i : tensor<i32>
      }
    """
    loop, count = run(body, [X, np.int32(0)], [X])
    np.testing.assert_allclose(loop, -4 * X, rtol=1e-6)
    assert count == 6


def test_scatter():
    updates = normal(3)
    body = (
        "  %r0 = tensorrt.scatter_nd %x0, %x1, %x2 : (tensor<4x6xf32>, tensor<3x2xi32>, tensor<3xf32>) -> tensor<4x6xf32>\n"
        "  %r1 = tensorrt.scatter_elements %x0, %x3, %x4 {axis = 1 : i64} : (tensor<4x6xf32>, tensor<4x2xi32>, tensor<4x2xf32>) -> tensor<4x6xf32>"
    )
    at = np.array([[0, 5], [1, 1], [3, 2], [4, 0]], np.int32)
    vectors, elements = X.copy(), X.copy()
    vectors[INDICES[:, 0], INDICES[:, 1]] = updates
    np.put_along_axis(elements, at, Y[:, :2], 1)
    got = run(body, [X, X], [X, INDICES, updates, at, Y[:, :2].copy()])
    np.testing.assert_array_equal(got[0], vectors)
    np.testing.assert_array_equal(got[1], elements)


def test_top_k():
    body = "  %r0, %r1 = tensorrt.top_k %x0 {k = 3 : i64, axis = 1 : i64, topkOperation = #tensorrt<top_k_operation kMAX>} : (tensor<4x6xf32>) -> (tensor<4x3xf32>, tensor<4x3xi32>)"
    values, indices = run(body, [X[:, :3], INDICES[:1, :1].repeat(4, 0).repeat(3, 1)], [X])
    np.testing.assert_array_equal(indices, np.argsort(-X, 1)[:, :3])
    np.testing.assert_array_equal(values, -np.sort(-X, 1)[:, :3])


def test_cache_and_mask():
    """A cache of keys that is written at each sequence's own place, and attention with a mask of booleans."""
    cache, update, at = normal(2, 4, 7, 8), normal(2, 4, 2, 8), np.array([1, 4], np.int32)
    body = (
        "  %r0 = tensorrt.kv_cache_update %x0, %x1, %x2 : (tensor<2x4x7x8xf32>, tensor<2x4x2x8xf32>, tensor<2xi32>) -> tensor<2x4x7x8xf32>\n"
        "  %r1 = tensorrt.attention %x3, %r0, %r0 mask(%x4) : (tensor<2x4x5x8xf32>, tensor<2x4x7x8xf32>, tensor<2x4x7x8xf32>, tensor<2x1x5x7xi1>) -> tensor<2x4x5x8xf32>"
    )
    written = cache.copy()
    for i, start in enumerate(at):
        written[i, :, start : start + 2] = update[i]
    mask = MASK.copy()
    mask[..., 0] = True
    scores = np.where(mask, np.einsum("bhqd,bhkd->bhqk", Q, written), -np.inf)
    got = run(body, [cache, Q], [cache, update, at, Q, mask])
    np.testing.assert_array_equal(got[0], written)
    np.testing.assert_allclose(got[1], np.einsum("bhqk,bhkd->bhqd", softmax(scores), written), rtol=1e-4, atol=1e-5)


def test_experts():
    states, scores = normal(1, 3, 4), np.abs(normal(1, 3, 2))
    experts = np.array([[[0, 2], [1, 1], [2, 0]]], np.int32)
    gate, up, down = normal(3, 4, 5), normal(3, 4, 5), normal(3, 5, 4)
    body = "  %r0 = tensorrt.moe %x0, %x1, %x2 weights(%x3, %x4, %x5) : (tensor<1x3x4xf32>, tensor<1x3x2xi32>, tensor<1x3x2xf32>, tensor<3x4x5xf32>, tensor<3x4x5xf32>, tensor<3x5x4xf32>) -> tensor<1x3x4xf32>"
    expected = np.zeros_like(states)
    for t in range(3):
        for e, s in zip(experts[0, t], scores[0, t], strict=True):
            g = states[0, t] @ gate[e]
            expected[0, t] += s * ((g / (1 + np.exp(-g)) * (states[0, t] @ up[e])) @ down[e])
    (got,) = run(body, [states], [states, experts, scores, gate, up, down])
    np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-5)


def test_grid_sample():
    """The grid of the pixels themselves gives the image."""
    rows, columns = np.meshgrid(np.linspace(-1, 1, 5), np.linspace(-1, 1, 6), indexing="ij")
    grid = np.broadcast_to(np.stack([columns, rows], -1), (2, 5, 6, 2)).astype(np.float32).copy()
    body = "  %r0 = tensorrt.grid_sample %x0, %x1 {alignCorners = true} : (tensor<2x4x5x6xf32>, tensor<2x5x6x2xf32>) -> tensor<2x4x5x6xf32>"
    (got,) = run(body, [IMAGE], [IMAGE, grid])
    np.testing.assert_allclose(got, IMAGE, rtol=1e-3, atol=1e-4)


def test_non_zero():
    """A result whose extent is known when the program has run."""
    text = """func.func public @main(%x: tensor<4x6xf32>) -> tensor<2x?xi32> {
      %zero = tensorrt.constant dense<1.0> : tensor<1x1xf32>
      %c = tensorrt.element_wise %x, %zero {elementwiseOperation = #tensorrt<element_wise_operation kGREATER>} : (tensor<4x6xf32>, tensor<1x1xf32>) -> tensor<4x6xi1>
      %r = tensorrt.non_zero %c : (tensor<4x6xi1>) -> tensor<2x?xi32>
      return %r : tensor<2x?xi32>
    }"""
    executable = latewood.compile(text, options=["--input=tensorrt"])
    for x in (X, -np.abs(X), np.abs(X) + 2):
        np.testing.assert_array_equal(executable(x), np.stack(np.nonzero(x > 1)))


def test_dynamic_shapes():
    """Layers of unknown extents: a product, a bias that is repeated, a mean, a reshape by a computed shape."""
    text = """func.func public @main(%x: tensor<?x6xf32>, %w: tensor<6x4xf32>, %b: tensor<1x4xf32>) -> (tensor<?x4xf32>, tensor<?x2xf32>) {
      %p = tensorrt.matrix_multiply %x, %w {op0 = #tensorrt<matrix_operation kNONE>, op1 = #tensorrt<matrix_operation kNONE>} : (tensor<?x6xf32>, tensor<6x4xf32>) -> tensor<?x4xf32>
      %s = tensorrt.element_wise %p, %b {elementwiseOperation = #tensorrt<element_wise_operation kSUM>} : (tensor<?x4xf32>, tensor<1x4xf32>) -> tensor<?x4xf32>
      %m = tensorrt.reduce %s {reduceAxes = array<i64: 1>, keepDimensions = true, reduceOperation = #tensorrt<reduce_operation kAVG>} : (tensor<?x4xf32>) -> tensor<?x1xf32>
      %c = tensorrt.element_wise %s, %m {elementwiseOperation = #tensorrt<element_wise_operation kSUB>} : (tensor<?x4xf32>, tensor<?x1xf32>) -> tensor<?x4xf32>
      %r = tensorrt.reshape %c : (tensor<?x4xf32>) -> tensor<?x2xf32>
      return %c, %r : tensor<?x4xf32>, tensor<?x2xf32>
    }"""
    executable = latewood.compile(text, options=["--input=tensorrt"])
    for rows in (1, 3, 8):
        x, w, b = normal(rows, 6), normal(6, 4), normal(1, 4)
        s = x @ w + b
        centered, pairs = executable(x, w, b)
        np.testing.assert_allclose(centered, s - s.mean(1, keepdims=True), rtol=1e-4, atol=1e-5)
        np.testing.assert_array_equal(pairs, centered.reshape(-1, 2))


def test_plugins_are_refused():
    with pytest.raises(
        latewood.CompilationError, match="'tensorrt.opaque_plugin' has no equivalent that the CPU could compute"
    ):
        run(
            '  %r0 = tensorrt.opaque_plugin(%x0) {pluginName = "P", pluginVersion = "1", pluginNamespace = "", creatorParams = {}} : (tensor<4x6xf32>) -> tensor<4x6xf32>',
            [X],
            [X],
        )
