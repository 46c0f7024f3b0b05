# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Each operation against JAX, for every element type, on values that include the special ones.

A test gives a dictionary of functions over the same arguments. They are compiled as one program, in which they may fuse, and
compared result by result: exactly, or within a number of units in the last place of the type.
"""

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from jax import lax

import latewood

FLOATS = ["float32", "float64", "float16", "bfloat16"]
SIGNED = ["int8", "int16", "int32", "int64"]
UNSIGNED = ["uint8", "uint16", "uint32", "uint64"]
INTEGERS = SIGNED + UNSIGNED
ALL = ["bool", *INTEGERS, *FLOATS]


def dtype_of(name: str) -> np.dtype:
    return np.dtype(getattr(ml_dtypes, name) if name == "bfloat16" else name)


def is_float(dtype: np.dtype) -> bool:
    return dtype.kind == "f" or dtype == ml_dtypes.bfloat16


def special_values(dtype: np.dtype, seed: int = 0) -> np.ndarray:
    """A vector of random numbers with the values at which operations differ from the plain case."""
    random = np.random.default_rng(seed)
    if dtype == np.bool_:
        return random.integers(0, 2, 37).astype(bool)
    if is_float(dtype):
        info = ml_dtypes.finfo(dtype)
        special = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 3.0, np.inf, -np.inf, np.nan]
        special += [float(info.max), float(info.min), float(info.smallest_normal), 1e-3, 80.0, -80.0]
        return np.concatenate([np.array(special), random.normal(0, 3, 21)]).astype(dtype)
    info = np.iinfo(dtype)
    special = [info.min, info.min + 1, info.max, info.max - 1, 0, 1, 2, 3, 7, 8]
    if info.min < 0:
        special += [-1, -2, -3, -7, -8]
    return np.concatenate([np.array(special, dtype), random.integers(info.min, info.max, 20, dtype, endpoint=True)])


def ulps(mine: np.ndarray, theirs: np.ndarray) -> float:
    """The greatest distance of two arrays in units in the last place of their type.

    NaN equals NaN, -0 equals 0. A subnormal number equals 0 where the reference has that: it flushes them.
    """
    a, b = mine.astype(np.float64), theirs.astype(np.float64)
    same = (
        (a == b)
        | (np.isnan(a) & np.isnan(b))
        | ((b == 0) & (np.abs(a) < float(ml_dtypes.finfo(mine.dtype).smallest_normal)))
    )
    if same.all():
        return 0.0
    with np.errstate(all="ignore"):
        info = ml_dtypes.finfo(mine.dtype)
        spacing = np.maximum(np.abs(b) * float(info.eps), float(info.smallest_normal) * float(info.eps))
        distance = np.where(same, 0.0, np.abs(a - b) / spacing)
    return float(np.where(np.isnan(distance), np.inf, distance).max())


def compare(functions: dict, *arguments, limit: float = 0.0):
    """Compiles all functions as one program and compares each result with JAX's."""

    def program(*operands):
        return {name: function(*operands) for name, function in functions.items()}

    jitted = jax.jit(program, keep_unused=True)
    executable = latewood.compile(jitted.lower(*arguments))
    results = executable(*[np.asarray(leaf) for leaf in jax.tree.leaves(arguments)])
    results = results if isinstance(results, tuple) else (results,)
    expected = jitted(*arguments)
    leaves = jax.tree_util.tree_flatten_with_path(expected)[0]
    assert len(results) == len(leaves)
    wrong = []
    for mine, (path, theirs) in zip(results, leaves, strict=True):
        name, theirs = jax.tree_util.keystr(path), np.asarray(theirs)
        assert (mine.dtype, mine.shape) == (theirs.dtype, theirs.shape), name
        if is_float(mine.dtype):
            distance = ulps(mine, theirs)
            if distance > limit:
                where = [i for i in np.ndindex(mine.shape) if ulps(mine[i][None], theirs[i][None]) > limit][:4]
                wrong.append(
                    f"{name}: {distance:.3g} ulps at " + ", ".join(f"{i}: {mine[i]} for {theirs[i]}" for i in where)
                )
        elif not np.array_equal(mine, theirs):
            where = list(zip(*np.nonzero(mine != theirs), strict=True))[:4]
            wrong.append(f"{name}: " + ", ".join(f"{mine[i]} for {theirs[i]} at {tuple(map(int, i))}" for i in where))
    assert not wrong, "\n".join(wrong)


# --- Elementwise ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FLOATS)
def test_exact_functions_of_floats(name):
    x = special_values(dtype_of(name))
    compare(
        {
            "abs": lax.abs,
            "neg": lax.neg,
            "sign": lax.sign,
            "floor": lax.floor,
            "ceil": lax.ceil,
            "round_afz": lambda v: lax.round(v, lax.RoundingMethod.AWAY_FROM_ZERO),
            "round_even": lambda v: lax.round(v, lax.RoundingMethod.TO_NEAREST_EVEN),
            "is_finite": lax.is_finite,
            "square": lax.square,
            "sqrt": lax.sqrt,
        },
        x,
    )


@pytest.mark.parametrize("name", FLOATS)
def test_elementary_functions(name):
    dtype = dtype_of(name)
    x = special_values(dtype)
    # A narrow type is computed in f32 and rounded; the reference may round another way.
    compare(
        {
            "exp": lax.exp,
            "expm1": lax.expm1,
            "log": lax.log,
            "log1p": lax.log1p,
            "tanh": lax.tanh,
            "logistic": lax.logistic,
            "rsqrt": lax.rsqrt,
            "cbrt": lax.cbrt,
            "erf": lax.erf,
            "erfc": lax.erfc,
        },
        x,
        limit=64 if dtype.itemsize >= 4 else 2,
    )


@pytest.mark.parametrize("name", ["float32", "float64"])
def test_trigonometric_functions(name):
    x = np.linspace(-9, 9, 101).astype(name)
    unit = np.linspace(-1, 1, 101).astype(name)
    compare({"sin": lax.sin, "cos": lax.cos, "atan": lax.atan, "sinh": lax.sinh, "cosh": lax.cosh}, x, limit=64)
    compare({"asin": lax.asin, "acos": lax.acos, "atanh": lax.atanh, "erf_inv": lax.erf_inv}, unit, limit=64)
    compare(
        {"atan2": lax.atan2, "pow": lambda a, b: lax.pow(lax.abs(a), b)},
        x,
        special_values(np.dtype(name))[:1] * 0 + x[::-1],
        limit=64,
    )


@pytest.mark.parametrize("name", FLOATS)
def test_binary_operations_of_floats(name):
    dtype = dtype_of(name)
    x, y = np.meshgrid(special_values(dtype), special_values(dtype, 1))
    compare(
        {
            "add": lax.add,
            "sub": lax.sub,
            "mul": lax.mul,
            "div": lax.div,
            "max": lax.max,
            "min": lax.min,
            "eq": lax.eq,
            "ne": lax.ne,
            "lt": lax.lt,
            "le": lax.le,
            "gt": lax.gt,
            "ge": lax.ge,
        },
        x,
        y,
    )


@pytest.mark.parametrize("name", ["float32", "float64"])
def test_remainder_of_floats(name):
    x, y = np.meshgrid(special_values(np.dtype(name))[:17], special_values(np.dtype(name), 1)[:17])
    # The reference loses the remainder of quotients that its type cannot hold.
    x, y = np.clip(x, -1e3, 1e3), np.clip(y, -1e3, 1e3)
    compare({"rem": lax.rem}, x, y)


@pytest.mark.parametrize("name", INTEGERS)
def test_operations_of_integers(name):
    dtype = np.dtype(name)
    x, y = np.meshgrid(special_values(dtype), special_values(dtype, 1))
    functions = {
        "add": lax.add,
        "sub": lax.sub,
        "mul": lax.mul,
        "div": lax.div,
        "rem": lax.rem,
        "max": lax.max,
        "min": lax.min,
        "and": lax.bitwise_and,
        "or": lax.bitwise_or,
        "xor": lax.bitwise_xor,
        "lt": lax.lt,
        "ge": lax.ge,
        "eq": lax.eq,
        "clz": lambda a, b: lax.clz(a),
        "popcnt": lambda a, b: lax.population_count(a),
        "not": lambda a, b: lax.bitwise_not(a),
        "sign": lambda a, b: lax.sign(a),
        "power": lambda a, b: lax.integer_pow(a, 5),
    }
    if dtype.kind == "i":
        functions |= {"neg": lambda a, b: lax.neg(a), "abs": lambda a, b: lax.abs(a)}
    compare(functions, x, y)


@pytest.mark.parametrize("name", INTEGERS)
def test_shifts(name):
    dtype = np.dtype(name)
    bits = dtype.itemsize * 8
    x, y = np.meshgrid(special_values(dtype), np.array([0, 1, bits - 1, bits, bits + 1], dtype))
    compare({"shl": lax.shift_left, "shra": lax.shift_right_arithmetic, "shrl": lax.shift_right_logical}, x, y)


def test_operations_of_booleans():
    x, y = special_values(np.dtype(bool)), special_values(np.dtype(bool), 1)
    compare(
        {
            "and": lax.bitwise_and,
            "or": lax.bitwise_or,
            "xor": lax.bitwise_xor,
            "not": lambda a, b: lax.bitwise_not(a),
            "eq": lax.eq,
            "lt": lax.lt,
            "max": lax.max,
            "any": lambda a, b: jnp.any(a),
            "all": lambda a, b: jnp.all(b),
        },
        x,
        y,
    )


@pytest.mark.parametrize("source", ALL)
def test_conversions(source):
    x = special_values(dtype_of(source))
    compare({target: (lambda v, t=target: lax.convert_element_type(v, dtype_of(t))) for target in ALL}, x)


@pytest.mark.parametrize("name", ["float32", "int32", "uint8", "bfloat16"])
def test_select_and_clamp(name):
    dtype = dtype_of(name)
    x, y = special_values(dtype), special_values(dtype, 1)
    p = np.arange(x.size) % 3 == 0
    low, high = np.array(1, dtype), np.array(5, dtype)
    compare(
        {
            "select": lambda p, x, y, low, high: lax.select(p, x, y),
            "select_scalar": lambda p, x, y, low, high: lax.cond(True, lambda: x, lambda: y),
            "clamp": lambda p, x, y, low, high: lax.clamp(low, x, high),
            "where": lambda p, x, y, low, high: jnp.where(x[0] > y[0], x, y),
        },
        p,
        x,
        y,
        low,
        high,
    )


def test_total_order():
    x = np.concatenate([special_values(np.dtype("float32")), -special_values(np.dtype("float32"))])
    compare({"sort": lax.sort, "descending": lambda v: -lax.sort(-v), "argsort": lambda v: jnp.argsort(v)}, x)


def test_bitcasts():
    x = special_values(np.dtype("float32"))
    compare(
        {
            "same": lambda v: lax.bitcast_convert_type(v, jnp.int32),
            "narrower": lambda v: lax.bitcast_convert_type(v, jnp.uint8),
            "wider": lambda v: lax.bitcast_convert_type(v[:36].reshape(18, 2), jnp.int64),
        },
        x,
    )


@pytest.mark.parametrize("bits", [(5, 10), (8, 7), (4, 3), (8, 23)])
def test_reduce_precision(bits):
    x = special_values(np.dtype("float32"))
    compare({"reduce_precision": lambda v: lax.reduce_precision(v, *bits)}, x)


# --- Shapes --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["float32", "int8", "bool", "float64"])
def test_shapes(name):
    dtype = np.dtype(name)
    x = np.resize(special_values(dtype), (4, 6, 5))
    compare(
        {
            "transpose": lambda v: v.transpose(2, 0, 1),
            "reshape": lambda v: v.reshape(12, 10),
            "flatten": lambda v: v.reshape(-1),
            "broadcast": lambda v: jnp.broadcast_to(v[:, :1, None], (4, 3, 1, 5)),
            "reverse": lambda v: lax.rev(v, (0, 2)),
            "slice": lambda v: v[1:4:2, ::3, 2:],
            "concatenate": lambda v: jnp.concatenate([v, v[:, :2], v[:, 3:]], axis=1),
            "stack": lambda v: jnp.stack([v[0], v[2]]),
            "pad": lambda v: lax.pad(v, np.zeros((), dtype), [(1, 2, 0), (-1, 0, 1), (0, -2, 0)]),
            "crop": lambda v: lax.pad(v, np.ones((), dtype), [(-2, -1, 2), (0, 0, 0), (-7, 9, 1)]),
            "roll": lambda v: jnp.roll(v, 2, axis=1),
            "tile": lambda v: jnp.tile(v, (1, 2, 1)),
            "empty": lambda v: v[:, :0],
        },
        x,
    )


@pytest.mark.parametrize("name", ["float32", "int16", "uint64", "bfloat16"])
def test_iota(name):
    dtype = dtype_of(name)
    compare({"iota": lambda: lax.broadcasted_iota(dtype, (3, 7), 1), "eye": lambda: jnp.eye(5, dtype=dtype)})


# --- Reductions ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("axes", [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)])
def test_reductions(axes):
    x = np.random.default_rng(3).normal(size=(9, 33, 17)).astype(np.float32)
    compare({"max": lambda v: v.max(axes), "min": lambda v: v.min(axes)}, x)
    compare(
        {"sum": lambda v: (jnp.abs(v) + 1).sum(axes), "mean": lambda v: (v * v).mean(axes, keepdims=True)}, x, limit=64
    )


@pytest.mark.parametrize("name", [*INTEGERS, "bfloat16", "float16", "float64"])
def test_reductions_by_type(name):
    dtype = dtype_of(name)
    x = np.resize(special_values(dtype), (5, 40))
    x = x if dtype.kind in "iu" else np.nan_to_num(np.clip(x, -9, 9))
    functions = {
        "max": lambda v: lax.reduce_max(v, (1,)),
        "min": lambda v: lax.reduce_min(v, (1,)),
        "argmax": lambda v: jnp.argmax(v, 1),
        "argmin": lambda v: jnp.argmin(v, 0),
    }
    if dtype.kind in "iu":
        functions |= {"sum": lambda v: lax.reduce_sum(v, (0,)), "prod": lambda v: lax.reduce_prod(v, (0,))}
    compare(functions, x)


def test_nan_in_reductions():
    x = np.ones((4, 33), np.float32)
    x[1, 5], x[2, 32], x[3, 0] = np.nan, np.inf, -np.inf
    compare(
        {"max": lambda v: v.max(1), "min": lambda v: v.min(1), "sum": lambda v: v.sum(1), "all": lambda v: v.max()}, x
    )


def test_empty_reductions():
    x = np.zeros((3, 0), np.float32)
    compare(
        {
            "sum": lambda v: v.sum(1),
            "max": lambda v: jnp.max(v, 1, initial=2.0),
            "outer": lambda v: v.sum(0),
            "product": lambda v: v @ v.T,
            "elementwise": lambda v: jnp.exp(v) + 1,
            "concatenate": lambda v: jnp.concatenate([v, v + 1, jnp.ones((3, 2))], axis=1),
            "pad": lambda v: jnp.pad(v, 1),
            "transpose": lambda v: v.T,
        },
        x,
    )


@pytest.mark.parametrize("name", ["float32", "int32"])
def test_scans(name):
    x = np.arange(1, 61).reshape(4, 15).astype(name)
    compare(
        {
            "cumsum": lambda v: jnp.cumsum(v, 1),
            "cumsum0": lambda v: jnp.cumsum(v, 0),
            "cummax": lambda v: lax.cummax(v, 1, reverse=True),
            "cumprod": lambda v: jnp.cumprod(v[:, :3], 1),
        },
        x,
        limit=8,
    )


def test_pooling():
    x = np.random.default_rng(5).normal(size=(2, 9, 8, 3)).astype(np.float32)
    window = lambda init, f: lambda v: lax.reduce_window(v, np.float32(init), f, (1, 3, 2, 1), (1, 2, 2, 1), "SAME")  # noqa: E731
    compare({"max": window(-np.inf, lax.max), "sum": window(0, lax.add)}, x, limit=16)
    compare({"grad": jax.grad(lambda v: window(-np.inf, lax.max)(v).sum())}, x)


# --- Contractions --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "spec",
    [
        "ij,jk->ik",
        "ij,kj->ik",
        "ji,jk->ik",
        "bij,bjk->bik",
        "bqhd,bkhd->bhqk",
        "ijk,kj->i",
        "i,j->ij",
        "ij,ij->",
        "i,ij->j",
    ],
)
@pytest.mark.parametrize("name", ["float32", "float64", "int32", "int8", "bfloat16"])
def test_einsum(spec, name):
    sizes = dict(zip("bhijkqd", (2, 3, 5, 7, 4, 6, 8), strict=True))
    random = np.random.default_rng(7)
    # Small integers, so that every order of the sums gives the same.
    operands = [
        random.integers(-2, 3, [sizes[letter] for letter in part]).astype(dtype_of(name))
        for part in spec.split("->")[0].split(",")
    ]
    compare({spec: lambda a, b: jnp.einsum(spec, a, b)}, *operands)


@pytest.mark.parametrize("accumulator", [np.int32, np.float32])
def test_mixed_products(accumulator):
    source = np.int8 if accumulator is np.int32 else ml_dtypes.bfloat16
    random = np.random.default_rng(9)
    a, b = (random.integers(-3, 4, shape).astype(source) for shape in ((9, 20), (20, 11)))
    compare({"dot": lambda a, b: lax.dot(a, b, preferred_element_type=accumulator)}, a, b)


@pytest.mark.parametrize("options", [
    {"window_strides": (1, 1), "padding": "SAME"},
    {"window_strides": (2, 1), "padding": [(0, 2), (1, -1)]},
    {"window_strides": (1, 2), "padding": "VALID", "rhs_dilation": (2, 1)},
    {"window_strides": (1, 1), "padding": [(1, 1), (2, 0)], "lhs_dilation": (2, 3)},
])  # fmt: skip
def test_convolutions(options):
    random = np.random.default_rng(11)
    x = random.integers(-2, 3, (2, 8, 9, 4)).astype(np.float32)
    k = random.integers(-2, 3, (3, 2, 4, 6)).astype(np.float32)
    grouped = random.integers(-2, 3, (3, 2, 2, 6)).astype(np.float32)
    numbers = ("NHWC", "HWIO", "NHWC")
    compare(
        {
            "plain": lambda x, k, g: lax.conv_general_dilated(x, k, dimension_numbers=numbers, **options),
            "grouped": lambda x, k, g: lax.conv_general_dilated(
                x, g, dimension_numbers=numbers, feature_group_count=2, **options
            ),
        },
        x,
        k,
        grouped,
    )


# --- Indexing ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("index", ["int32", "int64", "uint8"])
def test_gathers(index):
    table = np.arange(60, dtype=np.float32).reshape(10, 6)
    i = np.array([[0, 3, 9], [200, 5, 1]]).astype(index)
    compare(
        {
            "rows": lambda t, i: jnp.take(t, i, axis=0, mode="clip"),
            "fill": lambda t, i: jnp.take(t, i, axis=0, mode="fill"),
            "columns": lambda t, i: jnp.take(t, i, axis=1, mode="clip"),
            "points": lambda t, i: t.at[i, i[:, ::-1]].get(mode="clip"),
            "along": lambda t, i: jnp.take_along_axis(t[:2], i % 6, 1, mode="clip"),
            "one": lambda t, i: t[i[0, 1]],
            "batched": lambda t, i: jax.vmap(lambda row, k: row[k])(t[:2], i % 6),
        },
        table,
        i,
    )


def test_dynamic_slices():
    x = np.arange(70, dtype=np.int32).reshape(10, 7)
    u = -np.ones((3, 2), np.int32)
    for start in (-5, 0, 4, 100):
        compare(
            {
                "slice": lambda x, u, i: lax.dynamic_slice(x, (i, jnp.int32(2)), (4, 3)),
                "update": lambda x, u, i: lax.dynamic_update_slice(x, u, (i, i)),
            },
            x,
            u,
            np.int32(start),
        )


def test_scatters():
    x = np.zeros((8, 4), np.float32)
    i = np.array([1, 7, 1, -20, 30], np.int32)
    u = np.arange(20, dtype=np.float32).reshape(5, 4)
    compare(
        {
            "add": lambda x, i, u: x.at[i].add(u, mode="drop"),
            "max": lambda x, i, u: x.at[i].max(u, mode="drop"),
            "set": lambda x, i, u: x.at[i[:2]].set(u[:2], unique_indices=True),
            "columns": lambda x, i, u: x.at[:, i[:2] % 4].mul(2.0),
            "grad": lambda x, i, u: jax.grad(lambda t: (t[jnp.clip(i, 0, 7)] * u).sum())(x),
        },
        x,
        i,
        u,
    )


@pytest.mark.parametrize("name", ["int32", "float32", "uint8"])
def test_sorts(name):
    dtype = np.dtype(name)
    x = np.resize(special_values(dtype), (5, 33))
    x = np.nan_to_num(x) if is_float(dtype) else x
    compare(
        {
            "last": lambda v: jnp.sort(v, 1),
            "first": lambda v: jnp.sort(v, 0),
            "argsort": lambda v: jnp.argsort(v, 1),
            "pairs": lambda v: lax.sort(
                (v, v * 0 + 1, lax.broadcasted_iota(jnp.int32, v.shape, 1)), dimension=1, num_keys=1
            ),
        },
        x,
    )


# --- Control flow --------------------------------------------------------------------------------------------------------


def test_loops():
    x = np.arange(8, dtype=np.float32)
    compare(
        {
            "fori": lambda v: lax.fori_loop(0, 10, lambda i, s: s * 0.5 + i, v),
            "while": lambda v: lax.while_loop(lambda s: s[0] < 50, lambda s: (s[0] * 2 + 1, s[1] + s[0]), (1, v)),
            "swap": lambda v: lax.fori_loop(0, 7, lambda i, s: (s[1] + 1, s[0] * 2), (v, -v)),
            "rotate": lambda v: lax.fori_loop(0, 5, lambda i, s: (s[1], s[2], s[0][::-1]), (v, v + 10, v + 20)),
            "scan": lambda v: lax.scan(lambda c, t: (c + t, c * t), jnp.float32(0), v),
            "nested": lambda v: lax.fori_loop(0, 3, lambda i, s: lax.fori_loop(0, i, lambda j, t: t + j, s), v),
            "pass": lambda v: lax.fori_loop(0, 3, lambda i, s: (s[0], s[1] + s[0]), (v, v)),
        },
        x,
        limit=4,
    )


@pytest.mark.parametrize("which", [-1, 0, 1, 2, 9])
def test_branches(which):
    x = np.arange(8, dtype=np.float32)
    compare(
        {
            "cond": lambda i, v: lax.cond(i > 0, lambda t: t + 1, lambda t: t * 2, v),
            "switch": lambda i, v: lax.switch(i, [lambda t: t, lambda t: -t, lambda t: t * t], v),
            "scalars": lambda i, v: lax.cond(i > 0, lambda: (jnp.int32(3), v.sum()), lambda: (i, v[2])),
        },
        np.int32(which),
        x,
    )


def test_random_bits():
    key = jax.random.key_data(jax.random.key(42))
    compare(
        {
            "bits": lambda k: jax.random.bits(jax.random.wrap_key_data(k), (5, 3)),
            "uniform": lambda k: jax.random.uniform(jax.random.wrap_key_data(k), (16,)),
            "permutation": lambda k: jax.random.permutation(jax.random.wrap_key_data(k), 10),
        },
        key,
    )
