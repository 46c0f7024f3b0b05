# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Element types that no processor computes with: floats of 8 bits and fewer, integers of 2 and 4 bits, complex numbers.

Conversions of narrow floats are compared with ml_dtypes bit by bit: every code of a format, and numbers on both sides of
everything that rounding depends on.
"""

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from jax import lax

import latewood

NARROW = {
    "f8E4M3FN": "float8_e4m3fn",
    "f8E4M3FNUZ": "float8_e4m3fnuz",
    "f8E4M3B11FNUZ": "float8_e4m3b11fnuz",
    "f8E4M3": "float8_e4m3",
    "f8E3M4": "float8_e3m4",
    "f8E5M2": "float8_e5m2",
    "f8E5M2FNUZ": "float8_e5m2fnuz",
    "f8E8M0FNU": "float8_e8m0fnu",
    "f4E2M1FN": "float4_e2m1fn",
    "f6E2M3FN": "float6_e2m3fn",
    "f6E3M2FN": "float6_e3m2fn",
}
WIDE = {"f32": np.float32, "f64": np.float64, "f16": np.float16, "bf16": ml_dtypes.bfloat16}
INTEGERS = {"i8": np.int8, "ui8": np.uint8, "i32": np.int32, "ui32": np.uint32, "i64": np.int64}


def dtype_of(spelling: str) -> np.dtype:
    return (
        np.dtype(getattr(ml_dtypes, NARROW[spelling])) if spelling in NARROW else np.dtype((WIDE | INTEGERS)[spelling])
    )


def conversion(source: str, target: str, size: int):
    return latewood.compile(
        f"func.func @main(%x: tensor<{size}x{source}>) -> tensor<{size}x{target}> {{\n"
        f"  %0 = stablehlo.convert %x : (tensor<{size}x{source}>) -> tensor<{size}x{target}>\n"
        f"  return %0 : tensor<{size}x{target}>\n}}"
    )


def codes(dtype: np.dtype) -> np.ndarray:
    """All numbers of a narrow format, in the order of their codes."""
    return np.arange(2 ** ml_dtypes.finfo(dtype).bits, dtype=np.uint8).view(dtype)


def neighbourhood(dtype: np.dtype) -> np.ndarray:
    """Numbers of f64 at which conversion to a narrow format decides: its own, the middles between them, and next to both."""
    with np.errstate(all="ignore"):
        own = codes(dtype).astype(np.float64)
        own = np.unique(own[np.isfinite(own)])
        step = own[-1] - own[-2]
        own = np.concatenate([own, own[-1] + step * np.array([0.5, 1, 2, 4])])
        points = np.concatenate([own, (own[1:] + own[:-1]) / 2])
        near = [
            points * (1 + delta) for delta in (0.0, 2.0**-23, -(2.0**-23), 2.0**-50, -(2.0**-50), 2.0**-8, -(2.0**-8))
        ]
        special = [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-45, -1e-45, 1e-40, 3e38, -3e38, 65504.0]
        values = np.concatenate([*near, -points, special])
    return np.concatenate([values, np.zeros(-len(values) % 16)])


def same(mine: np.ndarray, theirs: np.ndarray) -> np.ndarray:
    """Elements of equal bits, or two NaNs."""
    bits = np.dtype(f"u{mine.dtype.itemsize}")
    with np.errstate(all="ignore"):
        bothNaN = np.isnan(mine.astype(np.float64)) & np.isnan(theirs.astype(np.float64))
    return (mine.view(bits) == theirs.view(bits)) | bothNaN


@pytest.mark.parametrize("target", [*WIDE, *INTEGERS])
@pytest.mark.parametrize("source", NARROW)
def test_from_narrow(source, target):
    """Every code of the format."""
    x = codes(dtype_of(source))
    got = conversion(source, target, len(x))(x)
    wide = x.astype(np.float32)
    if target in INTEGERS:
        # Truncated, saturated, NaN is 0.
        info = np.iinfo(INTEGERS[target])
        limits = (float(info.min), float(info.max))
        expected = [
            0 if np.isnan(v) else info.min if v <= limits[0] else info.max if v >= limits[1] else int(v) for v in wide
        ]
        np.testing.assert_array_equal(got, np.array(expected, INTEGERS[target]))
        return
    with np.errstate(all="ignore"):
        expected = wide.astype(WIDE[target])
    assert same(got, expected).all()


@pytest.mark.parametrize("source", WIDE)
@pytest.mark.parametrize("target", NARROW)
def test_to_narrow(target, source):
    """Numbers around everything that rounding depends on."""
    narrow, wide = dtype_of(target), dtype_of(source)
    with np.errstate(all="ignore"):
        x = neighbourhood(narrow).astype(wide)
        if target == "f8E8M0FNU":
            # ml_dtypes rounds subnormal f32 up, not to the nearest power.
            x = np.where(np.abs(x) < np.finfo(np.float32).tiny, x.dtype.type(1), x)
        got = conversion(source, target, len(x))(x)
        if source == "f64":
            # ml_dtypes goes over f32, rounding twice; rounded to odd there, the second rounding is right.
            once = x.astype(np.float32)
            toofar = np.abs(once.astype(np.float64)) > np.abs(x)
            odd = np.where(toofar, once.view(np.uint32) - 1, once.view(np.uint32)) | 1
            exact = (once.astype(np.float64) == x) | np.isnan(x)
            expected = np.where(exact, once, odd.astype(np.uint32).view(np.float32)).astype(narrow)
        else:
            expected = x.astype(np.float32).astype(narrow)
    wrong = ~same(got, expected)
    assert not wrong.any(), [
        (float(v), got[i].view(np.uint8), expected[i].view(np.uint8)) for i, v in enumerate(x) if wrong[i]
    ][:5]


@pytest.mark.parametrize("source", INTEGERS)
@pytest.mark.parametrize("target", NARROW)
def test_integer_to_narrow(target, source):
    dtype = INTEGERS[source]
    info = np.iinfo(dtype)
    values = [info.min, info.max, *[v for v in range(-40, 520) if info.min <= v <= info.max]]
    x = np.array(values + [1] * (-len(values) % 16), dtype)
    got = conversion(source, target, len(x))(x)
    with np.errstate(all="ignore"):
        assert same(got, x.astype(np.float32).astype(dtype_of(target))).all()


@pytest.mark.parametrize("target", NARROW)
def test_many_floats(target):
    """Bit patterns from the whole range of f32."""
    x = np.random.default_rng(3).integers(0, 2**32, 1 << 16, np.uint64).astype(np.uint32).view(np.float32)
    tooSmall = np.abs(x) < (np.finfo(np.float32).tiny if target == "f8E8M0FNU" else 0)
    x = np.where(np.isnan(x) | tooSmall, np.float32(1.25), x)
    got = conversion("f32", target, len(x))(x)
    with np.errstate(all="ignore"):
        assert same(got, x.astype(dtype_of(target))).all()


@pytest.mark.parametrize(
    "name", [name for name in NARROW.values() if name.startswith("float8") and name != "float8_e8m0fnu"]
)
def test_arithmetic(name):
    """Each operation is computed in f32 and rounded."""
    dtype = np.dtype(getattr(ml_dtypes, name))
    element = next(spelling for spelling, other in NARROW.items() if other == name)
    x = codes(dtype)
    y = np.random.default_rng(1).permutation(x)
    type_, pred = f"tensor<256x{element}>", "tensor<256xi1>"
    executable = latewood.compile(
        f"func.func @main(%x: {type_}, %y: {type_}) -> ({type_}, {type_}, {type_}, {type_}, {pred}, {type_}, tensor<{element}>) {{\n"
        f"  %0 = stablehlo.add %x, %y : {type_}\n  %1 = stablehlo.multiply %0, %y : {type_}\n"
        f"  %2 = stablehlo.negate %x : {type_}\n  %3 = stablehlo.abs %x : {type_}\n"
        f"  %4 = stablehlo.compare LT, %x, %y : ({type_}, {type_}) -> {pred}\n"
        f"  %5 = stablehlo.select %4, %x, %y : {pred}, {type_}\n"
        f"  %init = stablehlo.constant dense<-2.0> : tensor<{element}>\n"
        f"  %6 = stablehlo.reduce(%5 init: %init) applies stablehlo.minimum across dimensions = [0]"
        f" : ({type_}, tensor<{element}>) -> tensor<{element}>\n"
        f"  return %0, %1, %2, %3, %4, %5, %6 : {type_}, {type_}, {type_}, {type_}, {pred}, {type_}, tensor<{element}>\n}}"
    )
    got = executable(x, y)
    with np.errstate(all="ignore"):
        a, b = x.astype(np.float32), y.astype(np.float32)
        total = (a + b).astype(dtype)
        expected = [total, (total.astype(np.float32) * b).astype(dtype), (-a).astype(dtype), np.abs(a).astype(dtype)]
        for mine, theirs in zip(got[:4], expected, strict=True):
            assert same(mine, theirs).all()
        np.testing.assert_array_equal(got[4], a < b)
        chosen = np.where(a < b, x.view(np.uint8), y.view(np.uint8)).view(dtype)
        assert (got[5].view(np.uint8) == chosen.view(np.uint8)).all()
        least = np.minimum(chosen.astype(np.float32).min(), np.float32(-2))
        assert same(np.asarray(got[6]).reshape(1), np.array([least]).astype(dtype)).all()


@pytest.mark.parametrize("name", ["float8_e4m3fn", "float8_e5m2"])
def test_products(name):
    """Sums of products in f32."""
    random = np.random.default_rng(5)
    x = random.normal(0, 1, (33, 70)).astype(getattr(ml_dtypes, name))
    y = random.normal(0, 1, (70, 24)).astype(getattr(ml_dtypes, name))

    def product(a, b):
        return lax.dot_general(a, b, (((1,), (0,)), ((), ())), preferred_element_type=jnp.float32)

    got = latewood.compile(jax.jit(product).lower(x, y))(x, y)
    expected = x.astype(np.float64) @ y.astype(np.float64)
    np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("source,target,shape", [
    ("f8E4M3FN", "ui8", (37,)), ("ui8", "f8E5M2", (256,)), ("f8E4M3FN", "f16", (5, 2)), ("f32", "f8E5M2", (7,)),
    ("f32", "ui8", (7,)),
])  # fmt: skip
def test_bitcast(source, target, shape):
    """The bits stay, and with them the payloads of NaNs."""
    a = dtype_of(source)
    b = dtype_of(target)
    data = np.random.default_rng(2).integers(0, 256, int(np.prod(shape)) * a.itemsize, np.uint8)
    x = data.view(a).reshape(shape)
    ratio = a.itemsize / b.itemsize
    result = shape if ratio == 1 else (*shape, int(ratio)) if ratio > 1 else shape[:-1]
    types = [f"tensor<{'x'.join(map(str, s))}x{e}>" for s, e in ((shape, source), (result, target))]
    got = latewood.compile(
        f"func.func @main(%x: {types[0]}) -> {types[1]} {{\n"
        f"  %0 = stablehlo.bitcast_convert %x : ({types[0]}) -> {types[1]}\n  return %0 : {types[1]}\n}}"
    )(x)
    assert got.shape == result
    assert got.tobytes() == data.tobytes()


@pytest.mark.parametrize("element", ["i4", "ui4", "f4E2M1FN"])
def test_bitcast_of_half_bytes(element):
    """Two elements of 4 bits are a byte, the first one its low half. In memory each has a byte of its own."""
    dtype = np.dtype({"i4": ml_dtypes.int4, "ui4": ml_dtypes.uint4, "f4E2M1FN": ml_dtypes.float4_e2m1fn}[element])
    halves = np.stack(np.meshgrid(np.arange(16), np.arange(16)), -1).reshape(256, 2).astype(np.uint8)
    # A signed element is held with its sign.
    held = np.where(halves > 7, halves | 0xF0, halves).astype(np.uint8) if element == "i4" else halves
    x = held.view(dtype)
    pairs, bytes_ = f"tensor<256x2x{element}>", "tensor<256xui8>"
    got, back = latewood.compile(
        f"func.func @main(%x: {pairs}) -> ({bytes_}, {pairs}) {{\n"
        f"  %0 = stablehlo.bitcast_convert %x : ({pairs}) -> {bytes_}\n"
        f"  %1 = stablehlo.bitcast_convert %0 : ({bytes_}) -> {pairs}\n  return %0, %1 : {bytes_}, {pairs}\n}}"
    )(x)
    np.testing.assert_array_equal(got, halves[:, 0] | halves[:, 1] << 4)
    np.testing.assert_array_equal(back.view(np.uint8), held)


@pytest.mark.parametrize("element", ["f8E4M3FN", "f8E5M2", "f4E2M1FN", "f6E3M2FN", "i4", "ui2"])
def test_constants(element):
    """In the file, and copied into the code."""
    long, short = f"tensor<96x{element}>", f"tensor<4x{element}>"
    numbers = [1, 2, 3, 0] if element == "ui2" else [1, -2, 3, 0]
    text = ", ".join(f"{number}.0" if element[0] == "f" else str(number) for number in numbers)
    got, other = latewood.compile(
        f"func.func @main(%x: {long}, %y: {short}) -> ({long}, {short}) {{\n"
        f"  %0 = stablehlo.constant dense<[{', '.join([text] * 24)}]> : {long}\n"
        f"  %1 = stablehlo.constant dense<[{text}]> : {short}\n"
        f"  %2 = stablehlo.add %0, %x : {long}\n  %3 = stablehlo.add %1, %y : {short}\n"
        f"  return %2, %3 : {long}, {short}\n}}"
    )(*(np.zeros(size, small_dtype(element)) for size in (96, 4)))
    np.testing.assert_array_equal(got.astype(np.float32), np.array(numbers * 24, np.float32))
    np.testing.assert_array_equal(other.astype(np.float32), np.array(numbers, np.float32))


def small_dtype(element: str) -> np.dtype:
    integers = {"i2": "int2", "i4": "int4", "ui2": "uint2", "ui4": "uint4"}
    return np.dtype(getattr(ml_dtypes, integers.get(element) or NARROW[element]))


@pytest.mark.parametrize("name,unsigned", [("i4", False), ("ui4", True), ("i2", False), ("ui2", True)])
def test_small_integers(name, unsigned):
    """Arithmetic wraps at the width."""
    bits = int(name[-1])
    values = np.arange(2**bits) if unsigned else np.arange(-(2 ** (bits - 1)), 2 ** (bits - 1))
    dtype = getattr(ml_dtypes, ("u" if unsigned else "") + f"int{bits}")
    x, y = (m.ravel().astype(dtype) for m in np.meshgrid(values, values))
    type_ = f"tensor<{len(x)}x{name}>"
    got = latewood.compile(
        f"func.func @main(%x: {type_}, %y: {type_}) -> ({type_}, {type_}, {type_}) {{\n"
        f"  %0 = stablehlo.add %x, %y : {type_}\n  %1 = stablehlo.multiply %x, %y : {type_}\n"
        f"  %2 = stablehlo.maximum %x, %y : {type_}\n  return %0, %1, %2 : {type_}, {type_}, {type_}\n}}"
    )(x, y)
    a, b = x.astype(np.int32), y.astype(np.int32)
    for mine, exact in zip(got, [a + b, a * b, np.maximum(a, b)], strict=True):
        wrapped = exact % 2**bits if unsigned else (exact + 2 ** (bits - 1)) % 2**bits - 2 ** (bits - 1)
        np.testing.assert_array_equal(mine.astype(np.int32), wrapped)


COMPLEX = ["complex64", "complex128"]


def complex_values(dtype: str, shape, seed=0) -> np.ndarray:
    random = np.random.default_rng(seed)
    return (random.normal(0, 2, shape) + 1j * random.normal(0, 2, shape)).astype(dtype)


def compare_complex(functions: dict, *arguments, digits: float = 8):
    """Compares with JAX up to some units in the last place of the larger part."""

    def program(*operands):
        return {name: function(*operands) for name, function in functions.items()}

    jitted = jax.jit(program, keep_unused=True)
    got = latewood.compile(jitted.lower(*arguments))(*[np.asarray(leaf) for leaf in jax.tree.leaves(arguments)])
    got = got if isinstance(got, tuple) else (got,)
    expected = jitted(*arguments)
    for name, mine in zip(sorted(functions), got, strict=True):
        theirs = np.asarray(expected[name])
        assert mine.dtype == theirs.dtype, name
        assert mine.shape == theirs.shape, name
        if theirs.dtype.kind in "biu":
            np.testing.assert_array_equal(mine, theirs, err_msg=name)
        else:
            eps = np.finfo(theirs.dtype).eps
            np.testing.assert_allclose(mine, theirs, rtol=digits * eps, atol=digits * eps, err_msg=name)


def first_only(function):
    return lambda x, y: function(x)


@pytest.mark.parametrize("dtype", COMPLEX)
def test_complex_elementwise(dtype):
    functions = {
        "abs": jnp.abs, "add": lambda x, y: x + y, "angle": lambda x, y: jnp.angle(x), "conj": lambda x, y: jnp.conj(x),
        "cos": jnp.cos, "cosh": jnp.cosh, "div": lambda x, y: x / y, "eq": lambda x, y: x == y, "exp": jnp.exp,
        "expm1": jnp.expm1, "imag": jnp.imag, "log": jnp.log, "log1p": jnp.log1p, "mul": lambda x, y: x * y,
        "ne": lambda x, y: x != y, "neg": lambda x, y: -x, "pow": lambda x, y: x**y, "real": jnp.real, "sign": jnp.sign,
        "sin": jnp.sin, "sinh": jnp.sinh, "sqrt": jnp.sqrt, "square": jnp.square, "sub": lambda x, y: x - y, "tanh": jnp.tanh,
        "where": lambda x, y: jnp.where(jnp.real(x) > 0, x, y),
    }  # fmt: skip
    one = {
        "abs",
        "cos",
        "cosh",
        "exp",
        "expm1",
        "imag",
        "log",
        "log1p",
        "real",
        "sign",
        "sin",
        "sinh",
        "sqrt",
        "square",
        "tanh",
    }
    functions = {name: first_only(function) if name in one else function for name, function in functions.items()}
    compare_complex(functions, complex_values(dtype, 61), complex_values(dtype, 61, 1), digits=64)


@pytest.mark.parametrize("dtype", COMPLEX)
def test_complex_inverse_functions(dtype):
    functions = {
        name: getattr(jnp, name) for name in ("arcsin", "arccos", "arctan", "arcsinh", "arccosh", "arctanh", "tan")
    }
    compare_complex(functions, complex_values(dtype, (5, 13)), digits=30)


@pytest.mark.parametrize("dtype", COMPLEX)
def test_complex_shapes(dtype):
    x = complex_values(dtype, (6, 5))
    functions = {
        "broadcast": lambda x: jnp.broadcast_to(x[:, None], (6, 3, 5)),
        "concatenate": lambda x: jnp.concatenate([x, 2 * x], 1),
        "constant": lambda x: x + complex_values(dtype, (6, 5), 9),
        "dynamic_slice": lambda x: lax.dynamic_slice(x, (2, 1), (3, 2)),
        "dynamic_update": lambda x: lax.dynamic_update_slice(x, x[:2, :2] * 1j, (1, 3)),
        "gather": lambda x: x[jnp.array([3, 0, 5])],
        "iota": lambda x: lax.iota(dtype, 7),
        "pad": lambda x: jnp.pad(x, ((1, 2), (0, 3)), constant_values=1 + 2j),
        "reshape": lambda x: x.reshape(3, 10),
        "reverse": lambda x: x[::-1],
        "scalar": lambda x: x[2, 3],
        "scatter": lambda x: x.at[jnp.array([1, 1, 4])].add(x[:3]),
        "slice": lambda x: x[1:5:2, ::3],
        "transpose": lambda x: x.T,
        "unchanged": lambda x: x,
    }
    compare_complex(functions, x)


@pytest.mark.parametrize("dtype", COMPLEX)
def test_complex_reductions(dtype):
    x = complex_values(dtype, (7, 9))
    functions = {
        "cumsum": lambda x: jnp.cumsum(x, 0),
        "mean": lambda x: x.mean(),
        "prod": lambda x: x.prod(1),
        "sort": lambda x: jnp.sort(x, 1),
        "sum": lambda x: x.sum(0),
        "vdot": lambda x: jnp.vdot(x, x),
    }
    compare_complex(functions, x, digits=64)


@pytest.mark.parametrize("dtype", COMPLEX)
def test_complex_products(dtype):
    x, y = complex_values(dtype, (2, 17, 33)), complex_values(dtype, (2, 33, 20), 1)
    image, kernel = complex_values(dtype, (1, 2, 8, 8)), complex_values(dtype, (3, 2, 3, 3), 2)
    functions = {
        "convolution": lambda x, y, i, k: lax.conv(i, k, (1, 1), "SAME"),
        "dot": lambda x, y, i, k: x @ y,
        "einsum": lambda x, y, i, k: jnp.einsum("bij,bjk->ki", x, y),
    }
    compare_complex(functions, x, y, image, kernel, digits=400)


@pytest.mark.parametrize("dtype", COMPLEX)
def test_complex_control_flow(dtype):
    x = complex_values(dtype, 8)

    def mandelbrot(c):
        def step(state):
            i, z, count = state
            z = z * z + c
            return i + 1, jnp.where(jnp.abs(z) < 2, z, 0), count + (jnp.abs(z) < 2)

        return lax.while_loop(lambda s: s[0] < 10, step, (0, jnp.zeros_like(c), jnp.zeros(c.shape, jnp.int32)))

    functions = {
        "cond": lambda x: lax.cond(jnp.real(x[0]) > 0, lambda v: v * 2j, lambda v: v - 1, x),
        "scan": lambda x: lax.scan(lambda c, v: (c * v, c + v), jnp.ones((), dtype), x)[1],
        "while": lambda x: mandelbrot(x)[2],
    }
    compare_complex(functions, x, digits=64)


REDUCTION = """
func.func public @main(%x: tensor<{rows}x{n}x{element}>, %init: tensor<{element}>) -> tensor<{rows}x{element}> {{
  %0 = stablehlo.reduce(%x init: %init) applies stablehlo.{operation} across dimensions = [1]
    : (tensor<{rows}x{n}x{element}>, tensor<{element}>) -> tensor<{rows}x{element}>
  return %0 : tensor<{rows}x{element}>
}}
"""


@pytest.mark.parametrize("rows,n", [(1, 1000), (3, 257), (64, 5), (1, 5), (1, 9), (2, 13)])
@pytest.mark.parametrize("operation", ["add", "multiply", "xor", "maximum"])
@pytest.mark.parametrize("element", ["i2", "i4", "ui2", "ui4", "i8", "i32"])
def test_an_initial_value_is_used_once(element, operation, rows, n):
    """Also one that is computed, and no identity."""
    bits = int(element.lstrip("ui"))
    low, high = (0, 1 << bits) if element[0] == "u" else (-(1 << (bits - 1)), 1 << (bits - 1))
    x = np.random.default_rng(1).integers(max(low, -50), min(high, 50), (rows, n), dtype=np.int32)
    init = np.int32(1 if element == "i2" else 3)
    fold = {"add": np.add, "multiply": np.multiply, "xor": np.bitwise_xor, "maximum": np.maximum}[operation]
    if operation == "multiply":
        x = x | 1
    with np.errstate(over="ignore"):
        want = fold.reduce(np.concatenate([np.full((rows, 1), init), x], 1), axis=1, dtype=np.int32).astype(np.int64)
    want = (want - low) % (high - low) + low
    dtype = small_dtype(element) if bits < 8 else np.dtype(f"int{bits}")
    executable = latewood.compile(REDUCTION.format(rows=rows, n=n, element=element, operation=operation))
    got = np.asarray(executable(x.astype(dtype), init.astype(dtype)))
    np.testing.assert_array_equal(got.astype(np.int64), want)


def test_a_body_that_is_no_operation_takes_the_initial_value_once():
    """Products of complex numbers: a reducer with two accumulators."""
    x = np.exp(1j * np.linspace(0, 3, 301)).astype(np.complex64)
    text = """
func.func public @main(%x: tensor<301xcomplex<f32>>, %i: tensor<complex<f32>>) -> tensor<complex<f32>> {
  %0 = stablehlo.reduce(%x init: %i) applies stablehlo.multiply across dimensions = [0]
    : (tensor<301xcomplex<f32>>, tensor<complex<f32>>) -> tensor<complex<f32>>
  return %0 : tensor<complex<f32>>
}
"""
    got = latewood.compile(text)(x, np.complex64(2j))
    np.testing.assert_allclose(np.asarray(got), 2j * np.prod(x.astype(np.complex128)), rtol=1e-5)
