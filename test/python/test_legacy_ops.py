# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations that the specification has left, and CHLO's that broadcast, group and scan, against NumPy and JAX."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import latewood

RNG = np.random.default_rng(0)


def normal(*shape, dtype=np.float32):
    return RNG.standard_normal(shape).astype(dtype)


def type_of(x) -> str:
    x = np.asarray(x)
    names = {
        "float32": "f32",
        "float64": "f64",
        "int32": "i32",
        "int8": "i8",
        "bool": "i1",
        "complex64": "complex<f32>",
    }
    return f"tensor<{''.join(f'{extent}x' for extent in x.shape)}{names[x.dtype.name]}>"


def run_op(op, arguments, result, attributes=""):
    """Runs one operation in generic form; `result` is an array of the expected type, and values."""
    types = [type_of(x) for x in arguments]
    signature = ", ".join(f"%{i}: {type}" for i, type in enumerate(types))
    names = ", ".join(f"%{i}" for i in range(len(types)))
    text = (
        f"func.func @main({signature}) -> {type_of(result)} {{\n"
        f'  %r = "{op}"({names}) {{{attributes}}} : ({", ".join(types)}) -> {type_of(result)}\n'
        f"  return %r : {type_of(result)}\n}}"
    )
    return np.asarray(latewood.compile(text)(*arguments))


# --- Operations that the specification has left ----------------------------------------------------------------------------


@pytest.mark.parametrize("lhs, rhs", [((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 4)), ((2, 3), (3, 4))])
def test_dot(lhs, rhs):
    x, y = normal(*lhs), normal(*rhs)
    np.testing.assert_allclose(run_op("stablehlo.dot", [x, y], x @ y), x @ y, rtol=1e-5)


def test_dot_of_narrow_integers():
    x, y = RNG.integers(-128, 127, (3, 20), np.int8), RNG.integers(-128, 127, (20, 2), np.int8)
    expected = x.astype(np.int32) @ y.astype(np.int32)
    np.testing.assert_array_equal(run_op("stablehlo.dot", [x, y], expected), expected)


def test_broadcast():
    x = normal(3)
    expected = np.broadcast_to(x, (2, 1, 3))
    np.testing.assert_array_equal(
        run_op("stablehlo.broadcast", [x], expected, "broadcast_sizes = array<i64: 2, 1>"), expected
    )


EINSUMS = [
    ("ab,bc->ac", (4, 5), (5, 3)),
    ("ab,cb->ca", (4, 5), (3, 5)),
    ("bij,bjk->bik", (2, 3, 4), (2, 4, 5)),
    ("abc,cb->a", (2, 3, 4), (4, 3)),
    ("ab,cd->abcd", (2, 3), (4, 5)),
    ("ab,ac->a", (2, 3), (2, 4)),
    ("aab,b->a", (3, 3, 2), (2,)),
    ("...ij,...jk->...ik", (2, 3, 4), (2, 4, 5)),
    ("a,a->", (5,), (5,)),
    ("ab,bc", (4, 5), (5, 3)),
    ("ab,ab->ba", (2, 3), (2, 3)),
]


@pytest.mark.parametrize("config, lhs, rhs", EINSUMS, ids=[e[0] for e in EINSUMS])
def test_einsum(config, lhs, rhs):
    x, y = normal(*lhs), normal(*rhs)
    expected = np.einsum(config, x, y)
    got = run_op("stablehlo.einsum", [x, y], expected, f'einsum_config = "{config}"')
    np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("config, shape", [("ab->ba", (2, 3)), ("ab->a", (2, 3)), ("aa->a", (3, 3)), ("aa->", (3, 3)),
                                           ("abab->ba", (2, 3, 2, 3)), ("...a->...", (2, 3, 4)), ("ba", (2, 3))])  # fmt: skip
def test_unary_einsum(config, shape):
    x = normal(*shape)
    expected = np.einsum(config, x)
    got = run_op("stablehlo.unary_einsum", [x], expected, f'einsum_config = "{config}"')
    np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-6)


def test_diagonals_ignore_what_is_beside_them():
    x = np.where(np.eye(3, dtype=bool), np.float32(2), np.float32(np.nan))
    got = run_op("stablehlo.unary_einsum", [x], np.zeros(3, np.float32), 'einsum_config = "aa->a"')
    np.testing.assert_array_equal(got, [2, 2, 2])


@pytest.mark.parametrize("dim, batch, operand, index", [(0, 0, (5, 3), (4,)), (1, 0, (2, 5), (3, 2)), (2, 1, (2, 3, 6, 4), (2, 5, 2)),
                                                        (1, 1, (3, 4), (3,))])  # fmt: skip
def test_torch_index_select(dim, batch, operand, index):
    x = normal(*operand)
    i = RNG.integers(-1, operand[dim] + 1, index, np.int32)

    def select(x, i, depth):
        if depth:
            return np.stack([select(a, b, depth - 1) for a, b in zip(x, i, strict=False)])
        return np.take(x, np.clip(i, 0, operand[dim] - 1), axis=dim - batch)

    expected = select(x, i, batch)
    attributes = f"dim = {dim} : i64, batch_dims = {batch} : i64"
    np.testing.assert_array_equal(run_op("stablehlo.torch_index_select", [x, i], expected, attributes), expected)


def test_one_process_alone():
    """Sums of one process, asynchronous operations, and values shown to a debugger."""
    text = """
    func.func @main(%x: tensor<8x2xf32>) -> tensor<4x2xf32> {
      %0 = "stablehlo.cross-replica-sum"(%x) {replica_groups = dense<0> : tensor<1x1xi64>} : (tensor<8x2xf32>) -> tensor<8x2xf32>
      %1 = "stablehlo.collective_reduce"(%0) ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %s = stablehlo.add %a, %b : tensor<f32>
        stablehlo.return %s : tensor<f32>
      }) {replica_groups = dense<0> : tensor<1x1xi64>} : (tensor<8x2xf32>) -> tensor<8x2xf32>
      stablehlo.trace %1, "here" : tensor<8x2xf32>
      %2 = "stablehlo.async_start"(%1) ({
      ^bb0(%y: tensor<8x2xf32>):
        %3 = stablehlo.slice %y [2:6, 0:2] : (tensor<8x2xf32>) -> tensor<4x2xf32>
        stablehlo.return %3 : tensor<4x2xf32>
      }) : (tensor<8x2xf32>) -> !stablehlo.future<tensor<4x2xf32>>
      %4 = "stablehlo.async_done"(%2) : (!stablehlo.future<tensor<4x2xf32>>) -> tensor<4x2xf32>
      return %4 : tensor<4x2xf32>
    }"""
    x = normal(8, 2)
    np.testing.assert_array_equal(latewood.compile(text)(x), x[2:6])


# --- CHLO: broadcasting --------------------------------------------------------------------------------------------------------

BROADCASTS = {
    "add": np.add,
    "atan2": np.arctan2,
    "divide": np.divide,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "multiply": np.multiply,
    "next_after": np.nextafter,
    "power": lambda x, y: np.power(np.abs(x), y),
    "remainder": np.fmod,
    "subtract": np.subtract,
}


@pytest.mark.parametrize("shapes", [((3,), (2, 3)), ((2, 1), (1, 3)), ((), (2, 3)), ((2, 3), (2, 3))], ids=str)
@pytest.mark.parametrize("name", BROADCASTS)
def test_broadcasting(name, shapes):
    x, y = normal(*shapes[0]), normal(*shapes[1])
    if name == "power":
        x = np.abs(x)
    expected = BROADCASTS[name](x, y)
    got = run_op(f"chlo.broadcast_{name}", [np.asarray(x), np.asarray(y)], expected)
    np.testing.assert_allclose(got, expected, rtol=1e-6)


@pytest.mark.parametrize("name, function", [("and", np.bitwise_and), ("or", np.bitwise_or), ("xor", np.bitwise_xor),
                                            ("shift_left", np.left_shift), ("shift_right_arithmetic", np.right_shift)])  # fmt: skip
def test_broadcasting_of_integers(name, function):
    x, y = RNG.integers(-100, 100, (2, 1), np.int32), RNG.integers(0, 31, 3, np.int32)
    np.testing.assert_array_equal(run_op(f"chlo.broadcast_{name}", [x, y], function(x, y)), function(x, y))


def test_broadcasting_to_given_dimensions():
    x, y = normal(2, 3), normal(2)
    expected = x - y[:, None]
    got = run_op("chlo.broadcast_subtract", [x, y], expected, "broadcast_dimensions = array<i64: 0>")
    np.testing.assert_array_equal(got, expected)


def test_broadcasting_of_other_kinds():
    x, y, p = normal(2, 1), normal(3), np.array([True, False, True])
    got = run_op("chlo.broadcast_compare", [x, y], x < y, "comparison_direction = #chlo<comparison_direction LT>")
    np.testing.assert_array_equal(got, x < y)
    expected = (x + 1j * y).astype(np.complex64)
    np.testing.assert_array_equal(run_op("chlo.broadcast_complex", [x, y], expected), expected)
    expected = np.where(p, x, y)
    np.testing.assert_array_equal(run_op("chlo.broadcast_select", [p, x, y], expected), expected)
    expected = np.full((2, 1), 7, np.int32)
    np.testing.assert_array_equal(run_op("chlo.constant_like", [x], expected, "value = 7 : i32"), expected)


# --- CHLO: products of groups, scans -----------------------------------------------------------------------------------------

RAGGED = {
    "rows": (((1,), (1,)), ((), ()), 0, [0], (7, 4), (3, 4, 5), (3,)),
    "rows of a batch": (((2,), (2,)), ((0,), (1,)), 1, [0], (2, 7, 4), (3, 2, 4, 5), (2, 3)),
    "rows of a batch, sizes shared": (((2,), (2,)), ((0,), (1,)), 1, [0], (2, 7, 4), (3, 2, 4, 5), (3,)),
    "contracted": (((1,), (0,)), ((), ()), 1, [], (4, 7), (7, 5), (3,)),
    "contracted in a batch": (((2,), (1,)), ((0,), (0,)), 2, [], (2, 4, 7), (2, 7, 5), (2, 3)),
    "batch": (((2,), (1,)), ((0,), (0,)), 0, [], (7, 4, 3), (7, 3, 5), (3,)),
}


@pytest.mark.parametrize("case", RAGGED)
def test_ragged_dot(case):
    contracting, batching, ragged, group, lhs, rhs, sizes = RAGGED[case]
    numbers = lax.RaggedDotDimensionNumbers((contracting, batching), [ragged], group)
    x, y = normal(*lhs), normal(*rhs)
    s = RNG.integers(0, 4, sizes, np.int32)  # may leave rows over
    expected = np.asarray(lax.ragged_dot_general(x, y, s, numbers))
    dims = lambda name, list_: f"{name} = [{', '.join(map(str, list_))}]"  # noqa: E731
    attribute = ", ".join(
        dims(name, list_)
        for name, list_ in [
            ("lhs_batching_dimensions", batching[0]),
            ("rhs_batching_dimensions", batching[1]),
            ("lhs_contracting_dimensions", contracting[0]),
            ("rhs_contracting_dimensions", contracting[1]),
            ("lhs_ragged_dimensions", [ragged]),
            ("rhs_group_dimensions", group),
        ]
    )
    got = run_op(
        "chlo.ragged_dot", [x, y, s], expected, f"ragged_dot_dimension_numbers = #chlo.ragged_dot<{attribute}>"
    )
    np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-5)


def test_ragged_dot_keeps_groups_apart():
    """A number of another group does no harm."""
    x, y = normal(4, 2), normal(2, 2, 3)
    y[1] = np.inf
    numbers = "lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]"
    got = run_op("chlo.ragged_dot", [x, y, np.int32([3, 0])], np.zeros((4, 3), np.float32),
                 f"ragged_dot_dimension_numbers = #chlo.ragged_dot<{numbers}>")  # fmt: skip
    np.testing.assert_allclose(got, np.vstack([x[:3] @ y[0], np.zeros((1, 3))]), rtol=1e-5)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("dimension", [0, 1])
def test_scan(reverse, dimension):
    x = normal(5, 4)
    slice_type = f"tensor<{4 if dimension == 0 else 5}xf32>"
    text = f"""
    func.func @main(%x: tensor<5x4xf32>, %init: {slice_type}) -> (tensor<5x4xf32>, {slice_type}) {{
      %r:2 = chlo.scan (%x) inits (%init) dimension={dimension} attributes {{is_reverse = {str(reverse).lower()}}} {{
      ^bb0(%input: {slice_type}, %carry: {slice_type}):
        %0 = stablehlo.multiply %carry, %carry : {slice_type}
        %1 = stablehlo.add %input, %0 : {slice_type}
        stablehlo.return %0, %1 : {slice_type}, {slice_type}
      }} : (tensor<5x4xf32>, {slice_type}) -> (tensor<5x4xf32>, {slice_type})
      return %r#0, %r#1 : tensor<5x4xf32>, {slice_type}
    }}"""
    init = np.full(4 if dimension == 0 else 5, 0.5, np.float32)

    def step(carry, input):
        return input + carry * carry, carry * carry

    moved = np.moveaxis(x, dimension, 0)
    final, outputs = lax.scan(step, jnp.asarray(init), moved, reverse=reverse)
    got = latewood.compile(text)(x, init)
    np.testing.assert_allclose(got[0], np.moveaxis(np.asarray(outputs), 0, dimension), rtol=1e-4)
    np.testing.assert_allclose(got[1], final, rtol=1e-4)


def test_scan_of_a_count():
    text = """
    func.func @main(%init: tensor<i32>) -> (tensor<4xi32>, tensor<i32>) {
      %r:2 = chlo.scan () inits (%init) dimension=0 attributes {scan_dim_size = 4 : i64} {
      ^bb0(%carry: tensor<i32>):
        %0 = stablehlo.add %carry, %carry : tensor<i32>
        stablehlo.return %carry, %0 : tensor<i32>, tensor<i32>
      } : (tensor<i32>) -> (tensor<4xi32>, tensor<i32>)
      return %r#0, %r#1 : tensor<4xi32>, tensor<i32>
    }"""
    got = latewood.compile(text)(np.int32(3))
    np.testing.assert_array_equal(got[0], [3, 6, 12, 24])
    assert got[1] == 48


def test_jax_ragged_dot_runs(check):
    check(
        lambda x, y, s: lax.ragged_dot(x, y, s),
        normal(7, 4),
        normal(3, 4, 5),
        np.int32([2, 0, 4]),
        rtol=1e-5,
        atol=1e-5,
    )


def test_jax_text_of_ragged_dot_is_read():
    """JAX writes the operation itself for platforms that have it."""
    lowered = jax.export.export(jax.jit(lax.ragged_dot), platforms=["tpu"])(
        normal(7, 4), normal(3, 4, 5), np.int32([2, 0, 4])
    )
    text = lowered.mlir_module()
    if "ragged_dot" not in text:
        pytest.skip("this JAX expands ragged_dot itself")
    x, y, s = normal(7, 4), normal(3, 4, 5), np.int32([2, 0, 4])
    np.testing.assert_allclose(latewood.compile(text)(x, y, s), lax.ragged_dot(x, y, s), rtol=1e-5, atol=1e-5)
