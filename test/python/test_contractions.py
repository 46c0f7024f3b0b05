# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Matrix products against NumPy: shapes that divide by nothing, one row, one column, nothing at all, every layout of the factors
and of the result, batches, sums over several dimensions, every element type, what is fused into a product, and convolutions."""

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest

import latewood

SHAPES = [
    (1, 1, 1),
    (1, 5, 3),
    (3, 1, 7),
    (2, 2, 2),
    (4, 8, 2),
    (12, 32, 16),
    (13, 33, 17),
    (5, 100, 64),
    (37, 10, 78),
    (64, 40, 33),
    (130, 200, 77),
    (1, 1000, 130),
    (300, 1, 64),
    (1, 70, 1),
    (70, 1, 1),
]
# Sizes that take a path of their own: long sums in blocks, tasks over columns and rows, streamed matrices.
LARGE = [(24, 40, 5000), (260, 1030, 300), (1500, 40, 30), (512, 512, 512), (8, 1030, 2050), (1, 2050, 1030)]
EMPTY = [(0, 4, 4), (4, 0, 4), (4, 4, 0), (0, 0, 0), (1, 7, 0), (7, 1, 0)]


def bound(a, b, subscripts: str, dtype) -> np.ndarray:
    """What rounding may do to a sum of products, in any order, and to its result."""
    a, b = np.abs(a.astype(np.float64)), np.abs(b.astype(np.float64))
    magnitude = np.einsum(subscripts, a, b)
    sums = np.float64 if dtype == np.float64 else np.float32
    # Errors of independent roundings grow with the square root of their number; 4 is far out.
    steps = max(1, a.size * b.size / max(1, magnitude.size)) ** 0.25
    tolerance = 4 * steps * np.finfo(sums).eps * magnitude
    if dtype != sums:
        tolerance = tolerance + ml_dtypes.finfo(dtype).eps * magnitude
    return tolerance + np.finfo(sums).tiny


def random(generator, shape, dtype):
    if np.issubdtype(dtype, np.integer):
        information = np.iinfo(dtype)
        return generator.integers(max(information.min, -1000), min(information.max, 1000) + 1, shape).astype(dtype)
    return generator.standard_normal(shape).astype(dtype)


def run(cases, dtype, seed=0):
    """One program with all products; `cases` are (subscripts, {letter: extent})."""
    generator = np.random.default_rng(seed)
    arguments = []
    for subscripts, extents in cases:
        for factor in subscripts.split("->")[0].split(","):
            arguments.append(random(generator, [extents[letter] for letter in factor], dtype))

    def products(*arguments):
        return tuple(
            jnp.einsum(subscripts, arguments[2 * i], arguments[2 * i + 1], preferred_element_type=dtype)
            for i, (subscripts, _) in enumerate(cases)
        )

    results = latewood.compile(jax.jit(products, keep_unused=True).lower(*arguments))(*arguments)
    results = results if isinstance(results, tuple) else (results,)
    for i, ((subscripts, extents), result) in enumerate(zip(cases, results, strict=True)):
        a, b, result = arguments[2 * i], arguments[2 * i + 1], np.asarray(result)
        message = f"{subscripts} {extents}"
        assert result.dtype == dtype, message
        if np.issubdtype(dtype, np.integer):
            expected = np.einsum(subscripts, a.astype(np.int64), b.astype(np.int64)).astype(dtype)
            np.testing.assert_array_equal(result, expected, err_msg=message)
        else:
            expected = np.einsum(subscripts, a.astype(np.float64), b.astype(np.float64))
            assert result.shape == expected.shape, message
            difference = np.abs(result.astype(np.float64) - expected)
            assert np.all(difference <= bound(a, b, subscripts, dtype)), f"{message}: off by {np.max(difference)}"


def matrices(shapes, subscripts="mk,kn->mn"):
    return [(subscripts, dict(m=m, n=n, k=k)) for m, n, k in shapes]


@pytest.mark.parametrize("subscripts", ["mk,kn->mn", "km,kn->mn", "mk,nk->mn", "km,nk->mn", "mk,kn->nm", "km,nk->nm"])
def test_shapes(subscripts):
    run(matrices(SHAPES, subscripts), np.dtype(np.float32))


@pytest.mark.parametrize("subscripts", ["mk,kn->mn", "km,nk->nm"])
def test_large(subscripts):
    run(matrices(LARGE, subscripts), np.dtype(np.float32))


def test_empty():
    run([*matrices(EMPTY), ("bmk,bkn->bmn", dict(b=0, m=3, n=3, k=3))], np.dtype(np.float32))


TYPES = ["float64", "float16", "bfloat16", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]


@pytest.mark.parametrize("name", TYPES)
def test_types(name):
    dtype = np.dtype(getattr(ml_dtypes, name, None) or name)
    shapes = [(1, 50, 40), (50, 1, 40), (33, 70, 19), (13, 33, 300), (130, 64, 128), (8, 2050, 1030)]
    cases = matrices(shapes[:5]) + matrices(shapes[1:4], "km,nk->mn") + matrices(shapes[2:4], "mk,kn->nm")
    if name in ("bfloat16", "float64"):
        cases += matrices(shapes[5:])
    run(cases, dtype)


@pytest.mark.parametrize(
    ("narrow", "wide"),
    [("int8", "int32"), ("uint8", "int32"), ("int16", "int32"), ("bfloat16", "float32"), ("float16", "float32")],
)
def test_wider_result(narrow, wide):
    narrow = np.dtype(getattr(ml_dtypes, narrow, None) or narrow)
    generator = np.random.default_rng(1)
    a, b = random(generator, (33, 70), narrow), random(generator, (70, 50), narrow)

    def product(a, b):
        return jax.lax.dot_general(a, b, (((1,), (0,)), ((), ())), preferred_element_type=wide)

    result = np.asarray(latewood.compile(jax.jit(product).lower(a, b))(a, b))
    assert result.dtype == np.dtype(wide)
    expected = a.astype(np.float64) @ b.astype(np.float64)
    if np.issubdtype(np.dtype(wide), np.integer):
        np.testing.assert_array_equal(result, expected)
    else:
        assert np.all(np.abs(result - expected) <= bound(a, b, "mk,kn->mn", np.dtype(wide)))


BATCHES = [
    ("bmk,bkn->bmn", dict(b=12, m=128, n=128, k=64)),
    ("bmk,bkn->bmn", dict(b=3, m=13, n=31, k=20)),
    ("bmk,bnk->bmn", dict(b=3, m=13, n=31, k=20)),
    ("bshe,bthe->bhst", dict(b=2, s=17, t=19, h=4, e=8)),
    ("bhst,bthe->bshe", dict(b=2, s=17, t=19, h=4, e=8)),
    ("bsd,dhe->bhse", dict(b=2, s=17, d=40, h=4, e=8)),
    ("bhse,hed->bsd", dict(b=2, s=17, d=40, h=4, e=8)),
    ("bhse,hed->bsd", dict(b=1, s=128, d=96, h=12, e=64)),
    ("bsk,kn->bsn", dict(b=4, s=32, k=50, n=60)),
    ("sk,bkn->bsn", dict(b=4, s=32, k=50, n=60)),
    ("bk,bkn->bn", dict(b=20, n=60, k=70)),
    ("bmk,bk->bm", dict(b=20, m=60, k=70)),
    ("bk,bk->b", dict(b=20, k=70)),
    ("k,k->", dict(k=1000)),
    ("m,n->mn", dict(m=20, n=30)),
    ("bmk,bkn->mnb", dict(b=5, m=20, n=17, k=11)),
    ("abk,akc->bca", dict(a=1, b=20, c=17, k=11)),
    ("mkl,lkn->mn", dict(m=20, n=33, k=6, l=10)),
    ("mklj,kjln->nm", dict(m=20, n=33, k=3, l=5, j=4)),
]


@pytest.mark.parametrize("name", ["float32", "int32"])
def test_batches(name):
    run(BATCHES, np.dtype(name))


@pytest.mark.parametrize("seed", range(4))
def test_random(seed):
    """Any number of dimensions of each kind, in any order in each operand."""
    choice = np.random.default_rng(seed)
    cases = []
    while len(cases) < 12:
        kinds = [
            "bc"[: choice.integers(3)],
            "mp"[: choice.integers(3)],
            "nq"[: choice.integers(3)],
            "kl"[: choice.integers(1, 3)],
        ]
        batch, rows, columns, reduced = kinds
        extents = {letter: int(choice.choice([1, 2, 3, 5])) for letter in batch}
        extents |= {letter: int(choice.choice([1, 2, 7, 12, 13, 17, 31, 32, 33, 65])) for letter in rows + columns}
        extents |= {letter: int(choice.choice([1, 2, 3, 8, 15, 64])) for letter in reduced}
        if np.prod(list(extents.values()), dtype=np.float64) > 4e6:
            continue
        operands = [
            "".join(choice.permutation(list(letters)))
            for letters in (batch + rows + reduced, batch + columns + reduced, batch + rows + columns)
        ]
        cases.append((f"{operands[0]},{operands[1]}->{operands[2]}", extents))
    run(cases, np.dtype(np.float32 if seed % 2 else np.int32), seed)


def test_fused(check):
    generator = np.random.default_rng(2)

    def f32(*shape):
        return generator.standard_normal(shape).astype(np.float32)

    x, w, b, r, s = f32(33, 70), f32(70, 50), f32(50), f32(33, 50), f32(33, 1)
    tolerance = dict(rtol=1e-4, atol=1e-4)
    check(lambda x, w, b: jax.nn.relu(x @ w + b), x, w, b, **tolerance)
    check(lambda x, w, b: jax.nn.gelu(x @ w + b), x, w, b, **tolerance)
    check(lambda x, w, b, r, s: (x @ w + b) * s + r, x, w, b, r, s, **tolerance)
    check(lambda x, w, r: jnp.where(r > 0, x @ w, -1.0), x, w, r, **tolerance)
    check(lambda x, w, r: (x @ w).T + r.T, x, w, r, **tolerance)
    check(lambda x, w, r: x @ w + r, x, w, r, **tolerance)
    # Two users of one product; a product of a product.
    check(lambda x, w: (x @ w, jnp.tanh(x @ w)), x, w, **tolerance)
    check(lambda x, w: (x @ w) @ w.T, x, w, **tolerance)
    # The result is also a factor of the next product.
    square = f32(40, 40) * 0.1
    check(lambda a: a @ a @ a + a, square, **tolerance)
    # One row: the epilogue of a matrix-vector product.
    check(lambda x, w, b: jax.nn.relu(x @ w + b), f32(70), w, b, **tolerance)
    # Reshapes between the product and what follows.
    check(lambda x, w, b: (x.reshape(3, 11, 70) @ w + b).reshape(33, 50).T, x, w, b, **tolerance)
    check(lambda x, w, b: (x @ w).reshape(3, 11, 5, 10) + b.reshape(5, 10), x, w, b, **tolerance)


def test_conversions_around(check):
    generator = np.random.default_rng(3)
    x = generator.integers(-100, 100, (20, 30)).astype(np.int8)
    w = generator.integers(-100, 100, (30, 40)).astype(np.int8)
    check(lambda x, w: x.astype(np.int32) @ w.astype(np.int32), x, w)
    u = generator.integers(0, 255, (20, 30)).astype(np.uint8)
    check(lambda u, w: u.astype(np.int32) @ w.astype(np.int32), u, w)
    h = generator.standard_normal((20, 30)).astype(ml_dtypes.bfloat16)
    f = generator.standard_normal((30, 40)).astype(np.float32)
    check(lambda h, f: (h.astype(np.float32) @ f).astype(ml_dtypes.bfloat16), h, f, rtol=1e-2, atol=1e-2)


def test_threads_do_not_change_results():
    # Tasks are fixed by the shape: any number of calls, on any threads, gives the same bits.
    generator = np.random.default_rng(4)
    a = generator.standard_normal((300, 700)).astype(np.float32)
    b = generator.standard_normal((700, 500)).astype(np.float32)
    executable = latewood.compile(jax.jit(jnp.matmul).lower(a, b))
    first = np.asarray(executable(a, b)).copy()
    for _ in range(20):
        np.testing.assert_array_equal(np.asarray(executable(a, b)), first)


@pytest.mark.parametrize("level", ["x86-64-v3", "native"])
def test_levels(level):
    generator = np.random.default_rng(5)
    a = generator.standard_normal((37, 129)).astype(np.float32)
    b = generator.standard_normal((129, 75)).astype(np.float32)
    executable = latewood.compile(jax.jit(jnp.matmul).lower(a, b), [f"--target={level}"])
    expected = a.astype(np.float64) @ b.astype(np.float64)
    assert np.all(np.abs(np.asarray(executable(a, b)) - expected) <= bound(a, b, "mk,kn->mn", a.dtype))


CONVOLUTIONS = [
    dict(),
    dict(strides=(2, 2)),
    dict(padding=((0, 0), (3, 1))),
    dict(rhs_dilation=(2, 1)),
    dict(lhs_dilation=(2, 2), padding=((1, 1), (2, 2))),
    dict(window=(1, 1)),
    dict(window=(5, 2), strides=(3, 1)),
    dict(groups=2),
    dict(groups=8),
    dict(layouts=("NCHW", "OIHW", "NCHW")),
    dict(layouts=("NCHW", "OIHW", "NCHW"), strides=(2, 1)),
    dict(layouts=("NHWC", "OIHW", "NCHW")),
    dict(channels=(3, 40)),
    dict(channels=(64, 33), batch=1),
]


@pytest.mark.parametrize("case", CONVOLUTIONS, ids=str)
def test_convolutions(check, case):
    generator = np.random.default_rng(6)
    groups, (features, results) = case.get("groups", 1), case.get("channels", (8, 16))
    extents = dict(N=case.get("batch", 2), C=features, H=13, W=15)
    height, width = case.get("window", (3, 3))
    window = dict(O=results, I=features // groups, H=height, W=width)
    layouts = case.get("layouts", ("NHWC", "HWIO", "NHWC"))
    x = generator.standard_normal([extents[letter] for letter in layouts[0]]).astype(np.float32)
    w = generator.standard_normal([window[letter] for letter in layouts[1]]).astype(np.float32)
    b = generator.standard_normal(results).astype(np.float32)

    def convolve(x, w, b):
        y = jax.lax.conv_general_dilated(
            x,
            w,
            case.get("strides", (1, 1)),
            case.get("padding", "SAME"),
            lhs_dilation=case.get("lhs_dilation"),
            rhs_dilation=case.get("rhs_dilation"),
            dimension_numbers=layouts,
            feature_group_count=groups,
        )
        return jax.nn.relu(y + (b if layouts[2] == "NHWC" else b[:, None, None]))

    check(convolve, x, w, b, rtol=1e-4, atol=1e-4)
