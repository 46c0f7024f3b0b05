# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products of dynamic shape: one executable for all lengths, against NumPy and JAX. Every extent of a product may be dynamic, alone
and with others, and is nothing, one, odd and large in turn; what is fused, convolutions, attention; and memory, which follows the
actual size."""

import itertools

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from jax import export
from test_contractions import bound, random

import latewood
from latewood import runtime

LENGTHS = [0, 1, 2, 5, 13, 24, 37, 100, 260]


def compile_symbolic(function, *specifications, **options):
    """An executable of `function` on arguments of (shape in letters, dtype)."""
    scope = export.SymbolicScope()
    arguments = [
        jax.ShapeDtypeStruct(export.symbolic_shape(shape, scope=scope), dtype) for shape, dtype in specifications
    ]
    return latewood.compile(export.export(jax.jit(function))(*arguments), **options)


def check_product(program, subscripts, extents, dtype, seed=0):
    generator = np.random.default_rng(seed)
    factors = subscripts.split("->")[0].split(",")
    a, b = (random(generator, [extents[letter] for letter in factor], dtype) for factor in factors)
    result = np.asarray(program(a, b))
    message = f"{subscripts} {extents}"
    if np.issubdtype(dtype, np.integer):
        expected = np.einsum(subscripts, a.astype(np.int64), b.astype(np.int64)).astype(dtype)
        np.testing.assert_array_equal(result, expected, err_msg=message)
        return
    expected = np.einsum(subscripts, a.astype(np.float64), b.astype(np.float64))
    assert result.shape == expected.shape, message
    difference = np.abs(result.astype(np.float64) - expected)
    assert np.all(difference <= bound(a, b, subscripts, dtype)), f"{message}: off by {np.max(difference)}"


ELEMENTS = {"float32": "f32", "float64": "f64", "float16": "f16", "bfloat16": "bf16"}


def product_program(subscripts, fixed, dtype, **options):
    """A product as StableHLO: from JAX, extents of 0 would be refused."""
    inputs, result = subscripts.split("->")
    lhs, rhs = inputs.split(",")
    name = np.dtype(dtype).name
    element = ELEMENTS.get(name) or name.replace("int", "i")
    tensor = lambda letters: f"tensor<{''.join(f'{fixed.get(letter, chr(63))}x' for letter in letters)}{element}>"
    batch = [letter for letter in lhs if letter in rhs and letter in result]
    reduced = [letter for letter in lhs if letter in rhs and letter not in result]
    product = "".join(
        batch + [c for c in lhs if c not in batch + reduced] + [c for c in rhs if c not in batch + reduced]
    )
    positions = lambda letters, of: f"[{', '.join(str(of.index(letter)) for letter in letters)}]"
    batching = f"batching_dims = {positions(batch, lhs)} x {positions(batch, rhs)}, " if batch else ""
    return latewood.compile(
        f"""func.func @main(%a: {tensor(lhs)}, %b: {tensor(rhs)}) -> {tensor(result)} {{
          %p = stablehlo.dot_general %a, %b, {batching}contracting_dims = {positions(reduced, lhs)} x {positions(reduced, rhs)}
            : ({tensor(lhs)}, {tensor(rhs)}) -> {tensor(product)}
          %r = stablehlo.transpose %p, dims = {positions(result, product)} : ({tensor(product)}) -> {tensor(result)}
          return %r : {tensor(result)}
        }}""",
        **options,
    )


FIXED = dict(m=37, n=50, k=70)


@pytest.mark.parametrize("dynamic", ["m", "n", "k", "mn", "mk", "nk", "mnk"])
def test_dynamic_extents(dynamic):
    program = product_program("mk,kn->mn", {d: e for d, e in FIXED.items() if d not in dynamic}, np.float32)
    lengths = LENGTHS if len(dynamic) == 1 else [0, 1, 7, 40, 130]
    for values in itertools.product(lengths, repeat=len(dynamic)):
        check_product(program, "mk,kn->mn", FIXED | dict(zip(dynamic, values, strict=True)), np.float32)


@pytest.mark.parametrize(
    "subscripts", ["km,kn->mn", "mk,nk->mn", "km,nk->mn", "mk,kn->nm", "bmk,bkn->bmn", "bmk,bnk->bmn", "mbk,nbk->bmn"]
)
def test_layouts(subscripts):
    program = product_program(subscripts, {}, np.float32)
    for m, n, k, b in [
        (1, 1, 1, 1),
        (1, 40, 30, 3),
        (5, 1, 70, 2),
        (13, 33, 17, 4),
        (130, 77, 50, 2),
        (3, 5, 0, 2),
        (4, 0, 3, 0),
    ]:
        check_product(program, subscripts, dict(m=m, n=n, k=k, b=b), np.float32)


@pytest.mark.parametrize(
    "dtype", [np.float64, ml_dtypes.bfloat16, np.float16, np.int32, np.int8, np.int64], ids=lambda t: np.dtype(t).name
)
def test_element_types(dtype):
    program = product_program("mk,kn->mn", {}, dtype)
    for m, n, k in [(0, 3, 3), (1, 33, 20), (7, 9, 11), (30, 70, 0), (65, 40, 33)]:
        check_product(program, "mk,kn->mn", dict(m=m, n=n, k=k), dtype)


@pytest.mark.parametrize(
    "subscripts, fixed", [("k,kn->n", "n"), ("mk,kn->mn", "n"), ("mk,kn->mn", "m"), ("mjk,kjn->nm", "mn")]
)
@pytest.mark.parametrize("dtype", [np.float32, ml_dtypes.bfloat16, np.int8], ids=lambda t: np.dtype(t).name)
def test_static_extents_of_one(subscripts, fixed, dtype):
    program = product_program(subscripts, dict.fromkeys(fixed, 1), dtype)
    for length in [0, 1, 5, 33, 300]:
        extents = {letter: 1 if letter in fixed else length for letter in set(subscripts) - set(",->")}
        check_product(program, subscripts, extents | ({"j": 3} if "j" in extents else {}), dtype)


def test_large():
    """Tasks over columns and rows, long sums in blocks, matrices that no cache holds."""
    program = product_program("mk,kn->mn", {}, np.float32)
    for m, n, k in [(24, 40, 5000), (260, 1030, 300), (512, 512, 512), (8, 1030, 2050), (1, 2050, 1030), (1, 40, 5000)]:
        check_product(program, "mk,kn->mn", dict(m=m, n=n, k=k), np.float32)


def test_streamed():
    """A large matrix of static shape and few rows, or many."""
    program = product_program("mk,kn->mn", dict(n=1000, k=1200), np.float32)
    for m in [0, 1, 2, 12, 24, 25, 40]:
        check_product(program, "mk,kn->mn", dict(m=m, n=1000, k=1200), np.float32)


def test_epilogue():
    """Bias, activation and residual are fused; every length of rows and columns goes through a mask."""

    def layer(x, w, b, r):
        return jax.nn.gelu(x @ w + b, approximate=True) + r

    program = compile_symbolic(
        layer, ("m, 48", np.float32), ("48, n", np.float32), ("n", np.float32), ("m, n", np.float32)
    )
    generator = np.random.default_rng(1)
    for m, n in itertools.product([1, 3, 20], [1, 8, 15, 16, 17, 31, 70]):
        arguments = [generator.standard_normal(s).astype(np.float32) for s in [(m, 48), (48, n), (n,), (m, n)]]
        np.testing.assert_allclose(np.asarray(program(*arguments)), np.asarray(layer(*arguments)), rtol=2e-4, atol=2e-4)


def attention(x, wq, wk, wv, wo):
    batch, length, width = x.shape
    heads = lambda w: (x @ w).reshape(batch, length, 4, width // 4).transpose(0, 2, 1, 3)
    q, k, v = heads(wq), heads(wk), heads(wv)
    p = jax.nn.softmax(jnp.einsum("bhqd,bhkd->bhqk", q, k) / np.sqrt(width // 4).astype(np.float32), axis=-1)
    o = jnp.einsum("bhqk,bhkd->bhqd", p, v).transpose(0, 2, 1, 3).reshape(batch, length, width)
    return x + o @ wo


def test_attention():
    program = compile_symbolic(attention, ("b, s, 64", np.float32), *[("64, 64", np.float32)] * 4)
    generator = np.random.default_rng(2)
    weights = [generator.standard_normal((64, 64)).astype(np.float32) / 8 for _ in range(4)]
    for batch, length in [(1, 1), (1, 7), (2, 33), (3, 64), (1, 130), (2, 1)]:
        x = generator.standard_normal((batch, length, 64)).astype(np.float32)
        np.testing.assert_allclose(
            np.asarray(program(x, *weights)), np.asarray(attention(x, *weights)), rtol=2e-3, atol=2e-4
        )


def test_hundred_lengths():
    """One executable serves them all; no length is compiled for."""

    def reference(x, wq, wk, wv, wo):
        batch, length, width = x.shape
        heads = lambda w: (x @ w).reshape(batch, length, 4, width // 4).transpose(0, 2, 1, 3)
        scores = heads(wq) @ heads(wk).transpose(0, 1, 3, 2) / np.sqrt(width // 4)
        scores = np.exp(scores - scores.max(-1, keepdims=True))
        mixed = scores / scores.sum(-1, keepdims=True) @ heads(wv)
        return x + mixed.transpose(0, 2, 1, 3).reshape(batch, length, width) @ wo

    program = compile_symbolic(attention, ("1, s, 32", np.float32), *[("32, 32", np.float32)] * 4)
    generator = np.random.default_rng(8)
    weights = [generator.standard_normal((32, 32)) / 6 for _ in range(4)]
    arguments = [w.astype(np.float32) for w in weights]
    for length in generator.permutation(np.arange(1, 101)):
        x = generator.standard_normal((1, length, 32))
        result = np.asarray(program(x.astype(np.float32), *arguments))
        np.testing.assert_allclose(result, reference(x, *weights), rtol=1e-3, atol=1e-4, err_msg=f"length {length}")


CONVOLUTIONS = {
    "plain": dict(padding="SAME"),
    "valid": dict(padding="VALID"),
    "strides": dict(padding="SAME", window_strides=(2, 3)),
    "dilated window": dict(padding="SAME", rhs_dilation=(2, 1)),
    "dilated input": dict(padding=((2, 2), (1, 3)), lhs_dilation=(2, 1)),
    "groups": dict(padding="SAME", feature_group_count=2),
    "channel by channel": dict(padding="SAME", feature_group_count=6),
}


@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_convolution(name):
    options = dict(window_strides=(1, 1)) | CONVOLUTIONS[name]
    groups = options.get("feature_group_count", 1)

    def layer(x, w):
        y = jax.lax.conv_general_dilated(x, w, dimension_numbers=("NHWC", "HWIO", "NHWC"), **options)
        return jnp.maximum(y, 0)

    window = (3, 3, 6 // groups, 12)
    program = compile_symbolic(layer, ("b, h+2, w+2, 6", np.float32), (", ".join(map(str, window)), np.float32))
    generator = np.random.default_rng(3)
    weights = generator.standard_normal(window).astype(np.float32)
    for shape in [(1, 3, 3), (1, 8, 8), (2, 7, 11), (3, 30, 16)]:
        x = generator.standard_normal((*shape, 6)).astype(np.float32)
        np.testing.assert_allclose(np.asarray(program(x, weights)), np.asarray(layer(x, weights)), rtol=1e-4, atol=1e-4)


def test_loop():
    """A loop carries matrices of dynamic shape."""

    def power(x, y):
        return jax.lax.fori_loop(0, 5, lambda i, y: jnp.tanh(x @ y), y)

    program = compile_symbolic(power, ("n, n", np.float32), ("n, m", np.float32))
    generator = np.random.default_rng(4)
    for n, m in [(1, 1), (5, 3), (40, 17)]:
        x, y = (generator.standard_normal(s).astype(np.float32) / max(1, n) for s in [(n, n), (n, m)])
        np.testing.assert_allclose(np.asarray(program(x, y)), np.asarray(power(x, y)), rtol=1e-4, atol=1e-5)


def test_branches():
    """Products in the branches of a conditional, and the shape of one that follows."""

    def function(x, y, p):
        z = jax.lax.cond(p > 0, lambda: x @ y, lambda: jnp.tanh(x) @ (2 * y))
        return z.T @ x

    program = compile_symbolic(function, ("m, k", np.float32), ("k, n", np.float32), ("", np.int32))
    generator = np.random.default_rng(6)
    for m, k, n in [(1, 1, 1), (7, 20, 3), (40, 5, 33)]:
        x, y = (generator.standard_normal(s).astype(np.float32) for s in [(m, k), (k, n)])
        for p in np.int32([0, 1]):
            expected = np.asarray(function(x, y, p))
            np.testing.assert_allclose(np.asarray(program(x, y, p)), expected, rtol=1e-3, atol=1e-3)


def test_deep():
    """A function of many parts is made of kernels, which take extents; equal layers are one."""

    def model(x, *ws):
        for w in ws:
            y = jax.nn.softmax(x @ w, axis=-1)
            x = x + jnp.einsum("bsd,btd->bst", y, x) @ x
            x = x / (1 + jnp.abs(x).sum(-1, keepdims=True))
        return x

    program = compile_symbolic(model, ("b, s, 24", np.float32), *[("24, 24", np.float32)] * 12)
    generator = np.random.default_rng(7)
    weights = [generator.standard_normal((24, 24)).astype(np.float32) for _ in range(12)]
    for shape in [(1, 1), (2, 9), (1, 70)]:
        x = generator.standard_normal((*shape, 24)).astype(np.float32)
        expected = np.asarray(model(x, *weights))
        np.testing.assert_allclose(np.asarray(program(x, *weights)), expected, rtol=1e-3, atol=1e-4)


def test_more_than_there_is():
    """A call that needs more memory than there is fails, and the next one does not."""

    program = compile_symbolic(lambda x, y: (x @ y) @ x, ("n, 1", np.float32), ("1, n", np.float32))
    session = runtime.RuntimeSession(program)
    x = np.ones((8_000_000, 1), np.float32)  # x @ y would be 256 TB
    with pytest.raises(latewood.OutOfMemoryError, match="temporary memory"):
        session.execute_function("main", in_args=[x, x.T])
    x = np.ones((5, 1), np.float32)
    (result,) = session.execute_function("main", in_args=[x, x.T])
    np.testing.assert_array_equal(np.asarray(result), 5 * x)


def chain(x, *ws):
    for w in ws:
        x = jnp.tanh(x @ w)
    return x


def test_memory_follows_the_size():
    """Blocks of temporary memory are as large as this call needs, not as the bound, which is 32 times more."""
    program = compile_symbolic(
        chain, ("m, 256", np.float32), *[("256, 256", np.float32)] * 6, options=["--bounds=0:0=1:64:2048"]
    )
    weights = [np.eye(256, dtype=np.float32)] * 6

    def peak(rows):
        session = runtime.RuntimeSession(program)
        x = np.ones((rows, 256), np.float32)
        session.execute_function("main", in_args=[x, *weights], out_args=[np.empty_like(x)])
        statistics = session.statistics()
        return statistics["workspace_bytes"] + statistics["system"]["peak_bytes"]

    small, large = peak(64), peak(2048)
    # Six products share two buffers; panels and tiles do not grow.
    assert large <= 3 * 2048 * 256 * 4 + (4 << 20)
    assert small <= 3 * 64 * 256 * 4 + (4 << 20)


def test_no_growth():
    program = compile_symbolic(chain, ("m, 16", np.float32), *[("16, 16", np.float32)] * 3)
    session = runtime.RuntimeSession(program)
    weights = [np.eye(16, dtype=np.float32)] * 3
    rows = np.random.default_rng(5).integers(1, 200, 10_000)
    inputs = {m: np.ones((m, 16), np.float32) for m in set(rows.tolist())}

    def serve(lengths):
        for m in lengths:
            (result,) = session.execute_function("main", in_args=[inputs[m], *weights])
            assert result.shape == (m, 16)

    serve(sorted(inputs))
    serve(rows[:500].tolist())
    before = session.statistics()["system"]
    serve(rows[500:].tolist())
    after = session.statistics()["system"]
    assert after["live_bytes"] <= 2 * before["live_bytes"] + (1 << 20)
