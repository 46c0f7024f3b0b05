# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Quantized tensors against the formulas of the specification, in NumPy: arguments and results are the integers that hold them."""

import numpy as np
import pytest

import latewood


class Quantization:
    """A quantized element type with the specification's `quantize` and `dequantize`, in f32."""

    def __init__(self, storage="i8", scales=(0.5,), zero_points=(0,), axis=None, low=None, high=None):
        signed, width = storage[0] == "i", int(storage[1:])
        self.dtype = np.dtype(f"{'int' if signed else 'uint'}{max(width, 8)}")
        self.low = low if low is not None else (-(2 ** (width - 1)) if signed else 0)
        self.high = high if high is not None else (2 ** (width - 1) - 1 if signed else 2**width - 1)
        self.scales, self.zero_points, self.axis = np.float32(scales), np.float32(zero_points), axis
        parameters = ",".join(f"{s!r}:{z}" for s, z in zip(map(float, scales), zero_points, strict=False))
        bounds = "" if low is None else f"<{low}:{high}>"
        self.element = (
            f"!quant.uniform<{storage}{bounds}:f32, {parameters}>"
            if axis is None
            else f"!quant.uniform<{storage}{bounds}:f32:{axis}, {{{parameters}}}>"
        )

    def tensor(self, *shape):
        return f"tensor<{''.join(f'{extent}x' for extent in shape)}{self.element}>"

    def along(self, values, rank):
        return values.reshape([-1 if i == self.axis else 1 for i in range(rank)]) if self.axis is not None else values

    def quantize(self, x):
        with np.errstate(all="ignore"):
            x = np.float32(x) / self.along(self.scales, np.ndim(x)) + self.along(self.zero_points, np.ndim(x))
        return np.nan_to_num(np.rint(np.clip(x, self.low, self.high)), nan=0).astype(self.dtype)

    def dequantize(self, q):
        return (np.float32(q) - self.along(self.zero_points, np.ndim(q))) * self.along(self.scales, np.ndim(q))

    def random(self, *shape, seed=0):
        values = np.random.default_rng(seed).integers(self.low, self.high, shape, endpoint=True)
        return values.astype(self.dtype)


A = Quantization(scales=(0.05,), zero_points=(-3,))
B = Quantization(scales=(0.125,), zero_points=(10,))
C = Quantization(scales=(0.25,))
PER_AXIS = Quantization(scales=(0.5, 0.25, 0.0625), zero_points=(1, -2, 0), axis=1)


def run(text, *arguments):
    return np.asarray(latewood.compile(text)(*arguments))


def call(op, arguments, result, shape=(4, 3), attributes=""):
    """A function of one operation, in generic form, on tensors of one shape."""
    names = ", ".join(f"%{i}" for i in range(len(arguments)))
    types = [q.tensor(*shape) if isinstance(q, Quantization) else q for q in arguments]
    result = result.tensor(*shape) if isinstance(result, Quantization) else result
    signature = ", ".join(f"%{i}: {type}" for i, type in enumerate(types))
    return (
        f"func.func @main({signature}) -> {result} {{\n"
        f'  %r = "stablehlo.{op}"({names}) {attributes} : ({", ".join(types)}) -> {result}\n'
        f"  return %r : {result}\n}}"
    )


SPECIAL = np.float32([0, -0.0, 1, -1, 0.26, 0.24, 0.75, 0.25, 1e30, -1e30, np.inf, -np.inf])
QUANTIZATIONS = [
    A,
    PER_AXIS,
    Quantization("u8", (0.1,), (128,)),
    Quantization("i4", (0.5,), (2,)),
    Quantization("i16", (0.001,), (-7,)),
    Quantization("i8", (0.1,), (0,), low=-127, high=126),
]


@pytest.mark.parametrize("q", QUANTIZATIONS, ids=lambda q: q.element)
def test_quantize(q):
    x = SPECIAL.reshape(4, 3)
    got = run(call("uniform_quantize", ["tensor<4x3xf32>"], q), x)
    np.testing.assert_array_equal(got.astype(q.dtype), q.quantize(x))


def test_quantize_nan():
    got = run(call("uniform_quantize", ["tensor<4x3xf32>"], A), np.full((4, 3), np.nan, np.float32))
    np.testing.assert_array_equal(got, np.zeros((4, 3), np.int8))


@pytest.mark.parametrize("q", [q for q in QUANTIZATIONS if "i4" not in q.element], ids=lambda q: q.element)
def test_dequantize(q):
    integers = q.random(4, 3)
    got = run(call("uniform_dequantize", [q], "tensor<4x3xf32>"), integers)
    np.testing.assert_array_equal(got, q.dequantize(integers))


@pytest.mark.parametrize("to", [B, C, PER_AXIS], ids=lambda q: q.element)
def test_requantize(to):
    integers = A.random(4, 3)
    got = run(call("uniform_quantize", [A], to), integers)
    np.testing.assert_array_equal(got, to.quantize(A.dequantize(integers)))


UNARY = {
    "abs": np.abs,
    "ceil": np.ceil,
    "cosine": np.cos,
    "exponential": np.exp,
    "floor": np.floor,
    "negate": np.negative,
    "round_nearest_even": np.rint,
    "sign": np.sign,
    "tanh": np.tanh,
}


@pytest.mark.parametrize("name", UNARY)
def test_unary(name):
    integers = A.random(4, 3)
    got = run(call(name, [A], B), integers)
    expected = B.quantize(UNARY[name](A.dequantize(integers)))
    assert np.abs(got.astype(int) - expected.astype(int)).max() <= (
        1 if name in ("cosine", "exponential", "tanh") else 0
    )


BINARY = {"add": np.add, "subtract": np.subtract, "multiply": np.multiply, "maximum": np.maximum, "minimum": np.minimum}


@pytest.mark.parametrize("name", BINARY)
def test_binary(name):
    x, y = A.random(4, 3), B.random(4, 3, seed=1)
    got = run(call(name, [A, B], C), x, y)
    np.testing.assert_array_equal(got, C.quantize(BINARY[name](A.dequantize(x), B.dequantize(y))))


def test_add_per_axis():
    x, y = A.random(4, 3), PER_AXIS.random(4, 3, seed=1)
    got = run(call("add", [A, PER_AXIS], PER_AXIS), x, y)
    np.testing.assert_array_equal(got, PER_AXIS.quantize(A.dequantize(x) + PER_AXIS.dequantize(y)))


@pytest.mark.parametrize("name", ["maximum", "minimum"])
def test_one_scale_orders_integers(name):
    x, y = A.random(4, 3), A.random(4, 3, seed=1)
    np.testing.assert_array_equal(run(call(name, [A, A], A), x, y), BINARY[name](x, y))


@pytest.mark.parametrize("other", [A, B], ids=["one scale", "two scales"])
def test_compare(other):
    x, y = A.random(4, 3), other.random(4, 3, seed=1)
    attributes = (
        "{comparison_direction = #stablehlo<comparison_direction LT>, compare_type = #stablehlo<comparison_type FLOAT>}"
    )
    got = run(call("compare", [A, other], "tensor<4x3xi1>", attributes=attributes), x, y)
    np.testing.assert_array_equal(got, A.dequantize(x) < other.dequantize(y))


def test_select_and_clamp():
    x, y = A.random(4, 3), B.random(4, 3, seed=1)
    condition = np.arange(12).reshape(4, 3) % 3 == 0
    got = run(call("select", ["tensor<4x3xi1>", A, B], C), condition, x, y)
    np.testing.assert_array_equal(got, C.quantize(np.where(condition, A.dequantize(x), B.dequantize(y))))
    low, high = np.full((4, 3), -20, np.int8), np.full((4, 3), 20, np.int8)
    np.testing.assert_array_equal(run(call("clamp", [A, A, A], A), low, x, high), np.clip(x, -20, 20))


def test_is_finite():
    assert run(call("is_finite", [A], "tensor<4x3xi1>"), A.random(4, 3)).all()


def test_movement_leaves_integers():
    text = f"""
    func.func @main(%x: {PER_AXIS.tensor(4, 3)}) -> tensor<2x6xi8> {{
      %0 = stablehlo.transpose %x, dims = [1, 0] : ({PER_AXIS.tensor(4, 3)}) -> tensor<3x4x!quant.uniform<i8:f32:0, {{0.5:1,0.25:-2,0.0625:0}}>>
      %1 = stablehlo.bitcast_convert %0 : (tensor<3x4x!quant.uniform<i8:f32:0, {{0.5:1,0.25:-2,0.0625:0}}>>) -> tensor<3x4xi8>
      %2 = stablehlo.reshape %1 : (tensor<3x4xi8>) -> tensor<2x6xi8>
      return %2 : tensor<2x6xi8>
    }}"""
    x = PER_AXIS.random(4, 3)
    np.testing.assert_array_equal(run(text, x), x.T.reshape(2, 6))


def test_constants_calls_and_loops():
    """Types change through constants, calls, regions and signatures alike."""
    q = A.tensor(3)
    text = f"""
    func.func private @double(%x: {q}) -> {q} {{
      %0 = stablehlo.add %x, %x : {q}
      return %0 : {q}
    }}
    func.func @main(%x: {q}) -> {q} {{
      %c = "stablehlo.constant"() {{value = dense<[1, 2, 3]> : tensor<3xi8>}} : () -> {q}
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %r:2 = stablehlo.while(%i = %zero, %y = %x) : tensor<i32>, {q}
      cond {{
        %two = stablehlo.constant dense<2> : tensor<i32>
        %p = stablehlo.compare LT, %i, %two : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %p : tensor<i1>
      }} do {{
        %one = stablehlo.constant dense<1> : tensor<i32>
        %j = stablehlo.add %i, %one : tensor<i32>
        %z = func.call @double(%y) : ({q}) -> {q}
        stablehlo.return %j, %z : tensor<i32>, {q}
      }}
      %s = stablehlo.add %r#1, %c : {q}
      return %s : {q}
    }}"""
    x = np.int8([-3, 2, 7])
    number = A.dequantize(x)
    for _ in range(2):
        number = A.dequantize(A.quantize(number + number))
    np.testing.assert_array_equal(run(text, x), A.quantize(number + A.dequantize(np.int8([1, 2, 3]))))


def test_reduction():
    text = f"""
    func.func @main(%x: {C.tensor(4, 3)}) -> {C.tensor(4)} {{
      %zero = "stablehlo.constant"() {{value = dense<0> : tensor<i8>}} : () -> {C.tensor()}
      %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : ({C.tensor(4, 3)}, {C.tensor()}) -> {C.tensor(4)}
      return %0 : {C.tensor(4)}
    }}"""
    x = C.random(4, 3) // 4
    np.testing.assert_array_equal(run(text, x), x.sum(axis=1).astype(np.int8))


def dot(lhs, rhs, result, m, k, n):
    return (
        f"func.func @main(%x: {lhs.tensor(m, k)}, %y: {rhs.tensor(k, n)}) -> {result.tensor(m, n)} {{\n"
        f"  %r = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : "
        f"({lhs.tensor(m, k)}, {rhs.tensor(k, n)}) -> {result.tensor(m, n)}\n"
        f"  return %r : {result.tensor(m, n)}\n}}"
    )


def centred(q, integers):
    return integers.astype(np.int64) - q.along(q.zero_points, integers.ndim).astype(np.int64)


@pytest.mark.parametrize("lhs_zero", [0, -7])
@pytest.mark.parametrize("rhs_zero", [0, 5])
@pytest.mark.parametrize("storage", ["i8", "u8"])
def test_dot_is_exact_in_32_bits(storage, lhs_zero, rhs_zero):
    """The sums of products are exact, whatever the zero points, and however many there are."""
    offset = 128 if storage == "u8" else 0
    lhs = Quantization(storage, (0.5,), (lhs_zero + offset,))
    rhs = Quantization(storage, (0.25,), (rhs_zero + offset,))
    sums = Quantization("i32", (0.125,), (0,))
    x, y = lhs.random(5, 700), rhs.random(700, 9, seed=1)
    got = run(dot(lhs, rhs, sums, 5, 700, 9), x, y)
    np.testing.assert_array_equal(got, centred(lhs, x) @ centred(rhs, y))


def test_dot_rescales():
    weights = Quantization(scales=(0.02, 0.03, 0.005), zero_points=(0, 0, 0), axis=1)
    result = Quantization(scales=(0.9,), zero_points=(4,))
    x, y = A.random(5, 40), weights.random(40, 3, seed=1)
    got = run(dot(A, weights, result, 5, 40, 3), x, y)
    expected = result.quantize((centred(A, x) @ centred(weights, y)) * (np.float32(0.05) * weights.scales))
    assert np.abs(got.astype(int) - expected.astype(int)).max() <= 1


def test_dot_of_wide_integers_computes_on_numbers():
    q = Quantization("i16", (0.01,), (0,))
    x, y = q.random(3, 4) // 64, q.random(4, 2, seed=1) // 64
    got = run(dot(q, q, q, 3, 4, 2), x, y)
    expected = q.quantize(q.dequantize(x) @ q.dequantize(y))
    assert np.abs(got.astype(int) - expected.astype(int)).max() <= 1


def test_hybrid_dot():
    x, w = np.random.default_rng(0).standard_normal((4, 4)).astype(np.float32), PER_AXIS.random(4, 3)
    text = (
        f"func.func @main(%x: tensor<4x4xf32>, %w: {PER_AXIS.tensor(4, 3)}) -> tensor<4x3xf32> {{\n"
        f"  %r = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : "
        f"(tensor<4x4xf32>, {PER_AXIS.tensor(4, 3)}) -> tensor<4x3xf32>\n  return %r : tensor<4x3xf32>\n}}"
    )
    np.testing.assert_allclose(run(text, x, w), x @ PER_AXIS.dequantize(w), rtol=1e-5)


@pytest.mark.parametrize("zero", [0, 9])
def test_convolution_pads_with_the_zero_point(zero):
    """Outside of the image the number is zero: the integer is the zero point."""
    image = Quantization(scales=(0.5,), zero_points=(zero,))
    kernel = Quantization(scales=(0.25, 0.125), zero_points=(0, 0), axis=2)
    sums = Quantization("i32", (0.125, 0.0625), (0, 0), axis=2)
    x, w = image.random(1, 6, 3), kernel.random(3, 3, 2, seed=1)
    types = f"({image.tensor(1, 6, 3)}, {kernel.tensor(3, 3, 2)}) -> {sums.tensor(1, 6, 2)}"
    text = (
        f"func.func @main(%x: {image.tensor(1, 6, 3)}, %w: {kernel.tensor(3, 3, 2)}) -> {sums.tensor(1, 6, 2)} {{\n"
        f"  %r = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {{pad = [[1, 1]]}} "
        f"{{batch_group_count = 1 : i64, feature_group_count = 1 : i64}} : {types}\n"
        f"  return %r : {sums.tensor(1, 6, 2)}\n}}"
    )
    padded = np.pad(centred(image, x), ((0, 0), (1, 1), (0, 0)))
    windows = np.stack([padded[:, i : i + 3] for i in range(6)], axis=1)
    np.testing.assert_array_equal(run(text, x, w), np.einsum("bskf,kfo->bso", windows, w.astype(np.int64)))


def test_signature_has_the_integers():
    executable = latewood.compile(call("uniform_dequantize", [A], "tensor<4x3xf32>"))
    with pytest.raises(latewood.InvalidArgumentError, match="i8|int8|si8"):
        executable(np.zeros((4, 3), np.float32))


def test_other_quantized_types_are_refused():
    text = "func.func @main(%x: tensor<2x!quant.any<i8:f32>>) -> tensor<2x!quant.any<i8:f32>> { return %x : tensor<2x!quant.any<i8:f32>> }"
    with pytest.raises(latewood.CompilationError, match="quant"):
        latewood.compile(text)


def test_count_of_differences_of_constants_is_compiled():
    """All is known at compile time here, the masks of the last vector too; code generation must come to an end."""
    text = """
    func.func @main() -> tensor<i1> {
      %x = stablehlo.constant dense<[[-0.78, 0.42, -2.42, 0.02, -0.39], [1.27, -2.20, 1.1, 0.5, 3.0], [1.9, -0.1, 0.3, 0.9, -7.0]]> : tensor<3x5xf32>
      %q = stablehlo.uniform_quantize %x : (tensor<3x5xf32>) -> tensor<3x5x!quant.uniform<i8:f32, 0.25:-3>>
      %y = stablehlo.uniform_dequantize %q : (tensor<3x5x!quant.uniform<i8:f32, 0.25:-3>>) -> tensor<3x5xf32>
      %e = stablehlo.constant dense<[[-0.75, 0.5, -2.5, 0.0, -0.5], [1.25, -2.25, 1.0, 0.5, 3.0], [2.0, 0.0, 0.25, 1.0, -7.0]]> : tensor<3x5xf32>
      %0 = stablehlo.custom_call @check.eq(%e, %y) : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<i1>
      return %0 : tensor<i1>
    }"""
    for target in ("x86-64-v3", "x86-64-v4"):
        latewood.compile(text, [f"--target={target}"])
    assert latewood.compile(text)()
