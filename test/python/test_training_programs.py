# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whole programs as people write them: training steps with gradients and optimizers, decoding with caches, layers by scan,
solvers, filters, dynamic programming, signal processing. Small sizes; each gives JAX's result in both calling conventions."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import latewood
from latewood import runtime

random = np.random.default_rng(7)
PROGRAMS = {}


def normal(*shape, scale=1.0):
    return (random.standard_normal(shape) * scale).astype(np.float32)


def integers(low, high, *shape):
    return random.integers(low, high, shape).astype(np.int32)


def program(*arguments, tolerance=1e-4):
    def register(function):
        PROGRAMS[function.__name__.strip("_")] = (function, arguments, tolerance)
        return function

    return register


KEY = np.array([3, 9], np.uint32)
NHWC = ("NHWC", "HWIO", "NHWC")


def convolve(x, w, stride=1, **options):
    return lax.conv_general_dilated(x, w, (stride, stride), "SAME", dimension_numbers=NHWC, **options)


def max_pool(x):
    return lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")


def cross_entropy(logits, labels):
    return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], 1))


# --- Images

CNN = {"c": normal(3, 3, 3, 8, scale=0.2), "w": normal(128, 10, scale=0.1), "b": normal(10)}


@program(CNN, normal(4, 8, 8, 3), integers(0, 10, 4))
def cnn_step(parameters, x, y):
    def loss(p):
        hidden = max_pool(jax.nn.relu(convolve(x, p["c"]))).reshape(4, -1)
        return cross_entropy(hidden @ p["w"] + p["b"], y)

    value, gradients = jax.value_and_grad(loss)(parameters)
    return value, jax.tree.map(lambda p, g: p - 0.1 * g, parameters, gradients)


RESIDUAL = {"a": normal(3, 3, 4, 4, scale=0.2), "g": normal(4), "b": normal(4), "d": normal(1, 1, 4, 8, scale=0.3)}


@program(RESIDUAL, jax.tree.map(np.zeros_like, RESIDUAL), normal(2, 6, 6, 4), tolerance=1e-3)
def residual_block_with_momentum(parameters, momentum, x):
    def loss(p):
        h = convolve(x, p["a"])
        mean, variance = h.mean((0, 1, 2)), h.var((0, 1, 2))
        h = jax.nn.relu(x + (h - mean) * lax.rsqrt(variance + 1e-5) * p["g"] + p["b"])
        return (convolve(h, p["d"], 2) ** 2).mean(), (mean, variance)

    (value, statistics), gradients = jax.value_and_grad(loss, has_aux=True)(parameters)
    momentum = jax.tree.map(lambda m, g: 0.9 * m + g, momentum, gradients)
    return value, statistics, momentum, jax.tree.map(lambda p, m: p - 0.1 * m, parameters, momentum)


@program(
    normal(1, 6, 6, 4), normal(1, 1, 4, 8, scale=0.3), normal(3, 3, 1, 8, scale=0.3), normal(1, 1, 8, 4, scale=0.3)
)
def depthwise_block_gradients(x, expand, depthwise, project):
    def loss(*weights):
        h = jax.nn.relu6(convolve(x, weights[0]))
        h = jax.nn.relu6(convolve(h, weights[1], feature_group_count=8))
        return ((x + convolve(h, weights[2])) ** 2).mean()

    return jax.grad(loss, (0, 1, 2))(expand, depthwise, project)


@program(
    normal(1, 8, 8, 2), normal(3, 3, 2, 4, scale=0.3), normal(2, 2, 4, 2, scale=0.3), normal(3, 3, 4, 1, scale=0.3)
)
def unet_gradients(x, down, up, out):
    def loss(*w):
        a = jax.nn.relu(convolve(x, w[0]))
        u = lax.conv_transpose(max_pool(a), w[1], (2, 2), "SAME", dimension_numbers=NHWC)
        return jax.nn.softplus(convolve(jnp.concatenate([u, x], -1), w[2])).mean()

    return jax.grad(loss, (0, 1, 2))(down, up, out)


@program(normal(1, 5, 5, 5, 2), normal(3, 3, 3, 2, 4, scale=0.3), tolerance=1e-3)
def volume_convolution_gradients(x, w):
    numbers = ("NDHWC", "DHWIO", "NDHWC")
    return jax.grad(
        lambda x, w: (lax.conv_general_dilated(x, w, (1, 1, 1), "SAME", dimension_numbers=numbers) ** 2).sum(), (0, 1)
    )(x, w)


@program(normal(2, 40, 4), normal(5, 4, 8, scale=0.3))
def causal_dilated_convolution(x, w):
    return jax.nn.gelu(
        lax.conv_general_dilated(x, w, (1,), [(8, 0)], rhs_dilation=(2,), dimension_numbers=("NWC", "WIO", "NWC"))
    )


@program(random.integers(0, 256, (2, 5, 37, 3)).astype(np.uint8), normal(3, 5, 41, 4), normal(2, 70, 2))
def channels_first(image, planes, pairs):
    return jnp.transpose(image, (0, 3, 1, 2)) / 255.0, jnp.transpose(planes, (0, 3, 1, 2)), pairs.swapaxes(1, 2) + 1


# --- Transformers

LAYER = {
    name: normal(*shape, scale=0.2)
    for name, shape in {
        "q": (16, 16),
        "k": (16, 16),
        "v": (16, 16),
        "o": (16, 16),
        "u": (16, 32),
        "d": (32, 16),
    }.items()
}


def rotate(x):
    length, width = x.shape[-2:]
    angle = jnp.arange(length)[:, None] / 100.0 ** (jnp.arange(0, width, 2) / width)
    a, b = x[..., ::2], x[..., 1::2]
    return jnp.stack([a * jnp.cos(angle) - b * jnp.sin(angle), a * jnp.sin(angle) + b * jnp.cos(angle)], -1).reshape(
        x.shape
    )


def layer(x, p):
    batch, length, width = x.shape
    n = x * lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-6)
    q, k, v = ((n @ p[name]).reshape(batch, length, 2, width // 2).transpose(0, 2, 1, 3) for name in "qkv")
    scores = jnp.einsum("bhqd,bhkd->bhqk", rotate(q), rotate(k)) / np.float32(np.sqrt(width // 2))
    scores = jnp.where(jnp.tril(jnp.ones((length, length), bool)), scores, -1e9)
    mixed = jnp.einsum("bhqk,bhkd->bhqd", jax.nn.softmax(scores), v).transpose(0, 2, 1, 3).reshape(x.shape)
    x = x + mixed @ p["o"]
    return x + jax.nn.silu(x @ p["u"]) @ p["d"]


LAYERS = jax.tree.map(lambda *leaves: np.stack(leaves), LAYER, jax.tree.map(lambda leaf: leaf * 0.9, LAYER))


@program(LAYERS, normal(2, 8, 16))
def layers_by_scan(parameters, x):
    return lax.scan(lambda x, p: (layer(x, p), None), x, parameters)[0]


@program(LAYERS, normal(2, 8, 16), tolerance=1e-3)
def checkpointed_layers_by_scan_gradients(parameters, x):
    return jax.grad(lambda p: (lax.scan(lambda x, p: (jax.checkpoint(layer)(x, p), None), x, p)[0] ** 2).mean())(
        parameters
    )


TOKENS = {"e": normal(20, 16, scale=0.3), "l": LAYER}


@program(
    TOKENS,
    jax.tree.map(np.zeros_like, TOKENS),
    jax.tree.map(np.zeros_like, TOKENS),
    np.float32(3),
    integers(0, 20, 2, 9),
    tolerance=1e-3,
)
def language_model_adam(parameters, first, second, step, tokens):
    def loss(p):
        logits = layer(p["e"][tokens[:, :-1]], p["l"]) @ p["e"].T
        return cross_entropy(logits.reshape(-1, 20), tokens[:, 1:].reshape(-1))

    value, gradients = jax.value_and_grad(loss)(parameters)
    norm = jnp.sqrt(sum(jnp.sum(g * g) for g in jax.tree.leaves(gradients)))
    gradients = jax.tree.map(lambda g: g * jnp.minimum(1.0, 1.0 / norm), gradients)
    first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, gradients)
    second = jax.tree.map(lambda v, g: 0.99 * v + 0.01 * g * g, second, gradients)
    update = lambda p, m, v: p - 1e-3 * (m / (1 - 0.9**step)) / (jnp.sqrt(v / (1 - 0.99**step)) + 1e-3)  # noqa: E731
    return value, norm, first, second, jax.tree.map(update, parameters, first, second)


@program(normal(1, 64, 16), normal(16, 48, scale=0.2), normal(15, 2))
def shifted_window_attention(x, w, bias):
    h = jnp.roll(x.reshape(1, 8, 8, 16), (-2, -2), (1, 2)).reshape(1, 2, 4, 2, 4, 16).transpose(0, 1, 3, 2, 4, 5)
    qkv = (h.reshape(4, 16, 16) @ w).reshape(4, 16, 3, 2, 8)
    q, k, v = qkv[:, :, 0], qkv[:, :, 1], qkv[:, :, 2]
    place = jnp.arange(16)
    scores = jnp.einsum("nqhd,nkhd->nhqk", q, k) + bias[jnp.clip(place[:, None] - place[None] + 7, 0, 14)].transpose(
        2, 0, 1
    )
    return jnp.einsum("nhqk,nkhd->nqhd", jax.nn.softmax(scores), v).reshape(4, 16, 16)


@program(normal(2, 16), normal(16, 48, scale=0.3), normal(2, 2, 12, 8), normal(2, 2, 12, 8), np.int32(7))
def attention_with_cache(x, w, keys, values, position):
    q, k, v = jnp.split((x @ w).reshape(2, 6, 8), 3, 1)
    keys = lax.dynamic_update_slice(keys, k[:, :, None], (0, 0, position, 0))
    values = lax.dynamic_update_slice(values, v[:, :, None], (0, 0, position, 0))
    scores = jnp.where(jnp.arange(12) <= position, jnp.einsum("bhd,bhkd->bhk", q, keys), -jnp.inf)
    return jnp.einsum("bhk,bhkd->bhd", jax.nn.softmax(scores), values), keys, values


@program(normal(10, 10), integers(0, 10, 1))
def beam_search(table, start):
    scores = jax.nn.log_softmax(2 * table)

    def step(state, _):
        total, tokens, i = state
        best, index = lax.top_k((total[:, None] + scores[tokens[:, i]]).reshape(-1), 3)
        return (best, tokens[index // 10].at[:, i + 1].set(index % 10), i + 1), None

    first = (jnp.where(jnp.arange(3) == 0, 0.0, -jnp.inf), jnp.zeros((3, 9), jnp.int32).at[:, 0].set(start[0]), 0)
    return lax.scan(step, first, None, length=8)[0][:2]


@program(normal(16, 8), normal(8, 4), normal(4, 8, 16, scale=0.3), normal(4, 16, 8, scale=0.3))
def mixture_of_experts_gradients(x, gate, up, down):
    def loss(gate, up, down):
        weight, chosen = lax.top_k(jax.nn.softmax(x @ gate), 2)
        hot = jax.nn.one_hot(chosen, 4)
        place = ((jnp.cumsum(hot.reshape(-1, 4), 0) - 1).reshape(hot.shape) * hot).astype(jnp.int32)
        slots = hot[..., None] * jax.nn.one_hot(place, 8)
        h = jax.nn.gelu(jnp.einsum("ecd,edf->ecf", jnp.einsum("tkec,td->ecd", slots, x), up))
        return (jnp.einsum("tkec,tk,ecd->td", slots, weight, jnp.einsum("ecf,efd->ecd", h, down)) ** 2).mean()

    return jax.grad(loss, (0, 1, 2))(gate, up, down)


# --- Sequences


@program(normal(6, 2, 4), normal(4, 32, scale=0.3), normal(8, 32, scale=0.3), integers(0, 8, 2))
def lstm_gradients(x, w, u, y):
    def cell(state, a, w, u):
        h, c = state
        i, f, g, o = jnp.split(a @ w + h @ u, 4, -1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h

    zero = jnp.zeros((2, 8))
    return jax.grad(
        lambda w, u: cross_entropy(lax.scan(lambda s, a: cell(s, a, w, u), (zero, zero), x)[0][0], y), (0, 1)
    )(w, u)


@program(normal(2, 7, 6), integers(1, 6, 2, 3), tolerance=1e-3)
def connectionist_temporal_classification(logits, labels):
    def loss(logits):
        scores = jax.nn.log_softmax(logits)
        path = jnp.zeros((2, 7), jnp.int32).at[:, 1::2].set(labels)
        emitted = jnp.take_along_axis(scores, jnp.broadcast_to(path[:, None], (2, 7, 7)), 2)
        skips = jnp.concatenate([jnp.zeros((2, 2), bool), (path[:, 2:] != path[:, :-2]) & (path[:, 2:] != 0)], 1)

        def step(a, e):
            one = jnp.pad(a, ((0, 0), (1, 0)), constant_values=-1e30)[:, :-1]
            two = jnp.where(skips, jnp.pad(a, ((0, 0), (2, 0)), constant_values=-1e30)[:, :-2], -1e30)
            return jnp.logaddexp(jnp.logaddexp(a, one), two) + e, None

        first = jnp.full((2, 7), -1e30).at[:, :2].set(emitted[:, 0, :2])
        last = lax.scan(step, first, emitted[:, 1:].swapaxes(0, 1))[0]
        return -jnp.logaddexp(last[:, -1], last[:, -2]).sum()

    return jax.value_and_grad(loss)(logits)


@program(integers(0, 4, 9), integers(0, 4, 11))
def edit_distance(a, b):
    def row(above, step):
        letter, i = step

        def cell(left, here):
            up, diagonal, other = here
            value = jnp.minimum(jnp.minimum(left + 1, up + 1), diagonal + (other != letter))
            return value, value

        rest = lax.scan(cell, i + 1, (above[1:], above[:-1], b))[1]
        return jnp.concatenate([(i + 1)[None], rest]), None

    return lax.scan(row, jnp.arange(12), (a, jnp.arange(9)))[0][-1]


@program(normal(20, 3, 3, scale=0.4), normal(20, 3))
def linear_recurrence(a, b):
    def combine(left, right):
        return right[0] @ left[0], jnp.einsum("...ij,...j->...i", right[0], left[1]) + right[1]

    return lax.associative_scan(combine, (a, b))


# --- Random numbers


@program(normal(8, 16), normal(16, 16, scale=0.3), KEY)
def dropout_gradients(x, w, key):
    mask = jax.random.bernoulli(jax.random.wrap_key_data(key), 0.8, (8, 16))
    return jax.grad(lambda w: (jnp.where(mask, jax.nn.relu(x @ w) / 0.8, 0) @ w).mean())(w)


@program(KEY, normal(5))
def metropolis(key, start):
    def step(state, key):
        x, density = state
        first, second = jax.random.split(key)
        y = x + 0.3 * jax.random.normal(first, x.shape)
        new = -0.5 * jnp.sum(y * y)
        accepted = jnp.log(jax.random.uniform(second)) < new - density
        return (jnp.where(accepted, y, x), jnp.where(accepted, new, density)), accepted

    keys = jax.random.split(jax.random.wrap_key_data(key), 12)
    return lax.scan(step, (start, -0.5 * jnp.sum(start * start)), keys)


# --- Graphs, particles, grids


@program(normal(12, 4), integers(0, 12, 30), integers(0, 12, 30), normal(4, 4), normal(8))
def graph_attention_gradients(x, source, target, w, a):
    def loss(w, a):
        h = x @ w
        score = jax.nn.leaky_relu(jnp.concatenate([h[source], h[target]], 1) @ a)
        score = jnp.exp(score - lax.stop_gradient(jax.ops.segment_max(score, target, 12))[target])
        total = jax.ops.segment_sum(score, target, 12)
        return (jax.ops.segment_sum(h[source] * (score / total[target])[:, None], target, 12) ** 2).sum()

    return jax.grad(loss, (0, 1))(w, a)


@program(normal(9, 3), normal(9, 3, scale=0.1), np.abs(normal(9)))
def n_body(x, v, m):
    def force(x):
        d = x[None] - x[:, None]
        r = (d * d).sum(-1) + 0.1
        return (d * (m[None] / (r * jnp.sqrt(r)))[..., None]).sum(1)

    def step(state, _):
        x, v = state
        v = v + 0.01 * force(x)
        return (x + 0.01 * v, v), 0.5 * (v * v).sum()

    return lax.scan(step, (x, v), None, length=5)


@program((normal(12, 12) > 0.3).astype(np.int8))
def game_of_life(board):
    def step(b, _):
        n = sum(jnp.roll(b, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j)
        return ((n == 3) | ((b == 1) & (n == 2))).astype(jnp.int8), None

    return lax.scan(step, board, None, length=4)[0]


@program(np.linspace(-2, 1, 13).astype(np.float32), np.linspace(-1, 1, 11).astype(np.float32))
def mandelbrot(x, y):
    c = x[None] + 1j * y[:, None]

    def step(_, state):
        z, n = state
        inside = jnp.abs(z) <= 2
        return jnp.where(inside, z * z + c, z), n + inside

    return lax.fori_loop(0, 10, step, (jnp.zeros_like(c), jnp.zeros(c.shape, jnp.int32)))[1]


# --- Signals and solvers


@program(normal(2, 272), normal(2, 17), tolerance=1e-3)
def fourier_convolution(x, k):
    return jnp.fft.irfft(jnp.fft.rfft(x, 288) * jnp.fft.rfft(k, 288), 288)


@program((normal(1, 130) + 1j * normal(1, 130)).astype(np.complex64), tolerance=1e-3)
def spectrum(z):
    return jnp.abs(jnp.fft.fft(z)), jnp.fft.ifft(jnp.fft.fft(z) * 2)


@program(normal(10, 4), normal(4, 4, scale=0.3), normal(2, 4), tolerance=1e-3)
def kalman_filter(z, f, h):
    def step(state, z):
        x, p = state
        x, p = f @ x, f @ p @ f.T + 0.1 * jnp.eye(4)
        k = jnp.linalg.solve(h @ p @ h.T + 0.5 * jnp.eye(2), h @ p).T
        x, p = x + k @ (z[:2] - h @ x), (jnp.eye(4) - k @ h) @ p
        return (x, p), x

    return lax.scan(step, (jnp.zeros(4), jnp.eye(4)), z)[1]


@program(normal(9, 2), normal(11, 2))
def optimal_transport(a, b):
    cost = ((a[:, None] - b[None]) ** 2).sum(-1)

    def step(_, state):
        f = -0.5 * jax.nn.logsumexp((state[1][None] - cost) / 0.5, 1)
        return f, -0.5 * jax.nn.logsumexp((f[:, None] - cost) / 0.5, 0)

    return lax.fori_loop(0, 5, step, (jnp.zeros(9), jnp.zeros(11)))


# --- Narrow types


def bytes_(*shape):
    return random.integers(-128, 128, shape).astype(np.int8)


@program(bytes_(29, 77), bytes_(77, 45))
def byte_product(a, b):
    return lax.dot_general(a, b, (((1,), (0,)), ((), ())), preferred_element_type=jnp.int32)


@program(bytes_(19, 130), bytes_(40, 130), bytes_(40, 19))
def byte_products_of_transposed_factors(a, b, c):
    product = lambda x, y, dims: lax.dot_general(x, y, (dims, ((), ())), preferred_element_type=jnp.int32)  # noqa: E731
    return product(a, b, ((1,), (1,))), product(c, b, ((0,), (0,))), product(c, a, ((1,), (0,)))


@program(bytes_(3, 17, 33).astype(np.uint8), bytes_(3, 33, 21))
def mixed_byte_products_of_batches(a, b):
    wide = lambda x: x.astype(jnp.int32)  # noqa: E731
    return wide(a) @ wide(b), wide(b.swapaxes(1, 2)) @ wide(b)


@program(bytes_(2, 9, 9, 5), bytes_(3, 3, 5, 20))
def byte_convolution(x, w):
    return convolve(x, w, preferred_element_type=jnp.int32), convolve(x, w, 2, preferred_element_type=jnp.int32)


@program(random.integers(-(2**15), 2**15, (9, 31)).astype(np.int16), np.full((31, 33), -(2**15), np.int16))
def short_product_wraps(a, b):
    return a.astype(jnp.int32) @ b.astype(jnp.int32)


@program(normal(5, 32), bytes_(32, 24), np.abs(normal(24)))
def dynamically_quantized_layer(x, w, scale):
    factor = jnp.abs(x).max(-1, keepdims=True) / 127
    q = jnp.clip(jnp.round(x / factor), -127, 127).astype(jnp.int8)
    return (
        lax.dot_general(q, w, (((1,), (0,)), ((), ())), preferred_element_type=jnp.int32).astype(jnp.float32)
        * factor
        * scale
    )


def compare(results, expected, tolerance):
    assert len(results) == len(expected)
    for mine, theirs in zip(results, expected, strict=True):
        assert (mine.dtype, mine.shape) == (theirs.dtype, theirs.shape)
        if theirs.dtype.kind in "biu":
            np.testing.assert_array_equal(mine, theirs)
        else:
            scale = max(1.0, float(np.max(np.abs(theirs), initial=0, where=np.isfinite(theirs))))
            np.testing.assert_allclose(mine, theirs, rtol=tolerance, atol=tolerance * scale)


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name, client):
    function, arguments, tolerance = PROGRAMS[name]
    with jax.enable_x64(False):
        jitted = jax.jit(function, keep_unused=True)
        executable = latewood.compile(jitted.lower(*arguments))
        expected = [np.asarray(leaf) for leaf in jax.tree.leaves(jitted(*arguments))]
    leaves = [np.asarray(leaf) for leaf in jax.tree.leaves(arguments)]
    results = executable(*leaves)
    compare(list(results) if isinstance(results, tuple) else [results], expected, tolerance)

    destinations = [np.zeros_like(array) for array in expected]
    session = runtime.RuntimeSession(client, runtime.RuntimeSessionOptions(), executable)
    session.execute_function("main", in_args=leaves, out_args=destinations)
    compare(destinations, expected, tolerance)
