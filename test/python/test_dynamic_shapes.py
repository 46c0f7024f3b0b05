# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Dynamic shapes from end to end: one executable for all shapes, results allocated or given, assertions, shape functions, bounds,
and shapes that depend on data. JAX and NumPy say what is right."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import export

import latewood
from latewood import compiler, errors, runtime

HOSTS = ("native", "lua")
LENGTHS = (5, 0, 1, 1000, 0, 7, 7)


def build(program, host: str = "native", options: tuple = ()):
    if not isinstance(program, str):
        program = str(program.mlir_module())
    client = compiler.CompilerClient()
    return client.stablehlo_to_executable(
        compiler.Module.parse(program), compiler.StableHLOToExecutableOptions([f"--host={host}", *options])
    )


class Session:
    def __init__(self, program, host: str = "native", options: tuple = ()):
        self.client = runtime.RuntimeClient()
        self.session = runtime.RuntimeSession(
            self.client, runtime.RuntimeSessionOptions(), build(program, host, options)
        )

    def run(self, *arguments, out=None):
        values = [self.client.create_memref(np.asarray(argument, order="C")) for argument in arguments]
        return [np.asarray(r).copy() for r in self.session.execute_function("main", in_args=values, out_args=out)]

    def shapes(self, *arguments):
        values = [self.client.create_memref(np.asarray(argument, order="C")) for argument in arguments]
        return self.session.output_shapes("main", values)


def symbolic(function, *specs, constraints=()):
    """The export of `function` with shapes like "b, 64", all in one scope."""
    scope = export.SymbolicScope(constraints)
    arguments = [jax.ShapeDtypeStruct(export.symbolic_shape(shape, scope=scope), dtype) for shape, dtype in specs]
    return export.export(jax.jit(function), platforms=["cpu"])(*arguments)


BROADCAST = """
func.func public @main(%x: tensor<?x64xf32>, %b: tensor<64xf32>) -> tensor<?x64xf32> {
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x64xf32>) -> tensor<i32>
  %c = stablehlo.constant dense<64> : tensor<1xi32>
  %n1 = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %s = stablehlo.concatenate %n1, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %bb = stablehlo.dynamic_broadcast_in_dim %b, %s, dims = [1] : (tensor<64xf32>, tensor<2xi32>) -> tensor<?x64xf32>
  %y = stablehlo.add %x, %bb : tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}"""


@pytest.mark.parametrize("host", HOSTS)
def test_lengths_in_turn(host):
    session = Session(BROADCAST, host)
    b = np.arange(64, dtype=np.float32)
    for length in LENGTHS:
        x = np.full((length, 64), 2.5, np.float32)
        (y,) = session.run(x, b)
        np.testing.assert_array_equal(y, x + b)
        # The same executable writes into the caller's memory.
        out = np.zeros((length, 64), np.float32)
        session.run(x, b, out=[out])
        np.testing.assert_array_equal(out, x + b)
        assert session.shapes(x, b) == [(length, 64)]


@pytest.mark.parametrize("host", HOSTS)
def test_wrong_output_shape(host):
    session = Session(BROADCAST, host)
    x, b = np.ones((5, 64), np.float32), np.zeros(64, np.float32)
    with pytest.raises(errors.LatewoodError, match="Runtime shape mismatch"):
        session.run(x, b, out=[np.zeros((4, 64), np.float32)])
    np.testing.assert_array_equal(session.run(x, b)[0], x)


@pytest.mark.parametrize("host", HOSTS)
def test_operands_that_differ(host):
    session = Session(
        """
func.func public @main(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %0 = stablehlo.add %x, %y : tensor<?xf32>
  return %0 : tensor<?xf32>
}""",
        host,
    )
    x = np.arange(3, dtype=np.float32)
    np.testing.assert_array_equal(session.run(x, x)[0], x + x)
    with pytest.raises(errors.LatewoodError, match="needs equal extents in dimension 0 of its operands, got 3 and 4"):
        session.run(x, np.arange(4, dtype=np.float32))


@pytest.mark.parametrize("host", HOSTS)
def test_symbolic_export(host):
    exported = symbolic(lambda x, w: jnp.tanh(x @ w) + jnp.mean(x), ("b, k", np.float32), ("k, 8", np.float32))
    session = Session(exported, host)
    rng = np.random.default_rng(0)
    for b, k in ((1, 1), (3, 17), (16, 64), (7, 5)):
        x, w = rng.standard_normal((b, k), np.float32), rng.standard_normal((k, 8), np.float32)
        np.testing.assert_allclose(session.run(x, w)[0], exported.call(x, w), rtol=2e-5, atol=2e-5)
        assert session.shapes(x, w) == [(b, 8)]


def test_violated_assertion():
    exported = symbolic(lambda x: x.reshape(-1, 4) * 2, ("4*n", np.float32))
    session = Session(exported)
    np.testing.assert_array_equal(session.run(np.ones(8, np.float32))[0], np.full((2, 4), 2, np.float32))
    for call in (session.run, session.shapes):
        with pytest.raises(errors.LatewoodError, match="polymorphic shapes specification"):
            call(np.ones(7, np.float32))


ARANGE = """
func.func public @main(%n: tensor<i32>) -> (tensor<?xi32>, tensor<i32>) {
  %s = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %i = stablehlo.dynamic_iota %s, dim = 0 : (tensor<1xi32>) -> tensor<?xi32>
  %z = stablehlo.constant dense<0> : tensor<i32>
  %t = stablehlo.reduce(%i init: %z) applies stablehlo.add across dimensions = [0] : (tensor<?xi32>, tensor<i32>) -> tensor<i32>
  return %i, %t : tensor<?xi32>, tensor<i32>
}"""


@pytest.mark.parametrize("host", HOSTS)
def test_length_from_a_value(host):
    session = Session(ARANGE, host)
    for n in LENGTHS:
        i, t = session.run(np.int32(n))
        np.testing.assert_array_equal(i, np.arange(n, dtype=np.int32))
        assert t == n * (n - 1) // 2
        assert session.shapes(np.int32(n)) == [(n,), ()]
    with pytest.raises(errors.LatewoodError, match="a computed shape has extent -1"):
        session.run(np.int32(-1))


NONZERO = """
func.func public @main(%x: tensor<?xf32>) -> (tensor<?xi64>, tensor<f32>) {
  %0 = stablehlo.custom_call @latewood.nonzero(%x) : (tensor<?xf32>) -> tensor<?xi64>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %t = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [0] : (tensor<?xf32>, tensor<f32>) -> tensor<f32>
  return %0, %t : tensor<?xi64>, tensor<f32>
}"""


@pytest.mark.parametrize("host", HOSTS)
def test_nonzero(host):
    session = Session(NONZERO, host)
    rng = np.random.default_rng(1)
    for length in LENGTHS:
        x = (rng.random(length) < 0.3).astype(np.float32)
        indices, total = session.run(x)
        np.testing.assert_array_equal(indices, np.nonzero(x)[0])
        assert total == x.sum()
        assert session.shapes(x) == [(None,), ()]
    x = np.array([0, -0.0, np.nan, 3], np.float32)
    np.testing.assert_array_equal(session.run(x)[0], [2, 3])
    # One element too few: the other result and the session are unharmed.
    with pytest.raises(
        errors.LatewoodError, match="the result has shape \\[2\\], but the given memref has shape \\[1\\]"
    ):
        session.run(x, out=[np.zeros(1, np.int64), None])
    np.testing.assert_array_equal(session.run(x)[0], [2, 3])


def test_nonzero_allocates_exactly():
    session = Session(NONZERO)
    x = np.zeros(1 << 20, np.float32)
    x[::100] = 1
    session.run(x)
    statistics = session.session.statistics
    statistics = statistics() if callable(statistics) else statistics
    assert statistics["results"]["bytes"] == 8 * np.count_nonzero(x) + 4
    assert statistics["temporaries"]["peak_bytes"] + statistics["workspace_bytes"] <= x.nbytes // 10


TRIM = """
func.func public @main(%x: tensor<4x6xf32>, %n: tensor<i32>) -> (tensor<4x6xf32>, tensor<4x6xf32>) {
  %0 = call @inner(%x, %n) : (tensor<4x6xf32>, tensor<i32>) -> tensor<4x6xf32>
  %1 = stablehlo.negate %0 : tensor<4x6xf32>
  return %0, %1 : tensor<4x6xf32>, tensor<4x6xf32>
}
func.func private @inner(%x: tensor<4x6xf32>, %n: tensor<i32>) -> tensor<4x6xf32> {
  %0 = stablehlo.custom_call @latewood.trim(%x, %n) {backend_config = {dimension = 1 : i64}, api_version = 4 : i32} : (tensor<4x6xf32>, tensor<i32>) -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}"""


def test_trim():
    session = Session(TRIM)
    x = np.arange(24, dtype=np.float32).reshape(4, 6)
    for n in (0, 1, 6, 9, -2):
        trimmed, whole = session.run(x, np.int32(n))
        np.testing.assert_array_equal(trimmed, x[:, : min(max(n, 0), 6)])
        np.testing.assert_array_equal(whole, -x)


@pytest.mark.parametrize("host", HOSTS)
def test_results_feed_each_other(host):
    session = Session(BROADCAST, host)
    b = np.ones(64, np.float32)
    value = session.client.create_memref(np.zeros((3, 64), np.float32))
    other = session.client.create_memref(b)
    for _ in range(5):
        (value,) = session.session.execute_function("main", in_args=[value, other])
    np.testing.assert_array_equal(np.asarray(value), np.full((3, 64), 5, np.float32))


def test_memory_does_not_grow():
    session = Session(BROADCAST)
    b = np.ones(64, np.float32)
    inputs = [np.ones((n, 64), np.float32) for n in range(1, 40)]
    for x in inputs:
        session.run(x, b)
    before = session.session.statistics
    before = (before() if callable(before) else before)["system"]["live_bytes"]
    for i in range(2000):
        session.run(inputs[i * 7 % len(inputs)], b)
    after = session.session.statistics
    after = (after() if callable(after) else after)["system"]["live_bytes"]
    assert after <= before + (1 << 20)


def test_bounds():
    session = Session(ARANGE, options=("--bounds=0:value=0:10:100",))
    assert session.run(np.int32(100))[0].shape == (100,)
    with pytest.raises(errors.LatewoodError, match="argument 0: element 0.* is 101, but must be between 0 and 100"):
        session.run(np.int32(101))
    session = Session(BROADCAST, options=("--bounds=0:0=1:8:16",))
    b = np.ones(64, np.float32)
    session.run(np.ones((16, 64), np.float32), b)
    with pytest.raises(errors.LatewoodError, match="argument 0: .*dimension 0.* is 17, but must be between 1 and 16"):
        session.run(np.ones((17, 64), np.float32), b)
    with pytest.raises(errors.LatewoodError, match="names argument 'nobody'"):
        build(BROADCAST, options=("--bounds=nobody:0=1:2:3",))
    with pytest.raises(errors.LatewoodError, match="needs numbers in ascending order"):
        build(BROADCAST, options=("--bounds=0:0=3:2:1",))


@pytest.mark.parametrize("host", HOSTS)
def test_maximum_of_two_extents(host):
    session = Session(
        """
func.func public @main(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %m = stablehlo.get_dimension_size %y, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %k = stablehlo.maximum %n, %m : tensor<i32>
  %dx = stablehlo.subtract %k, %n : tensor<i32>
  %dy = stablehlo.subtract %k, %m : tensor<i32>
  %px = stablehlo.reshape %dx : (tensor<i32>) -> tensor<1xi32>
  %py = stablehlo.reshape %dy : (tensor<i32>) -> tensor<1xi32>
  %c = stablehlo.constant dense<0> : tensor<1xi32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.dynamic_pad %x, %z, %c, %px, %c : (tensor<?xf32>, tensor<f32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?xf32>
  %b = stablehlo.dynamic_pad %y, %z, %c, %py, %c : (tensor<?xf32>, tensor<f32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?xf32>
  %0 = stablehlo.add %a, %b : tensor<?xf32>
  return %0 : tensor<?xf32>
}""",
        host,
    )
    for n, m in ((3, 5), (5, 3), (0, 4), (4, 0), (0, 0), (1000, 999)):
        x, y = np.ones(n, np.float32), np.full(m, 2, np.float32)
        expected = np.zeros(max(n, m), np.float32)
        expected[:n] += x
        expected[:m] += y
        np.testing.assert_array_equal(session.run(x, y)[0], expected)
        assert session.shapes(x, y) == [(max(n, m),)]


def test_ranks_and_types_of_scalars():
    session = Session(
        """
func.func public @main(%x: tensor<?x4xf32>) -> (tensor<i32>, tensor<f32>, tensor<1xf32>, tensor<i1>) {
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x4xf32>) -> tensor<i32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [0, 1] : (tensor<?x4xf32>, tensor<f32>) -> tensor<f32>
  %v = stablehlo.reshape %s : (tensor<f32>) -> tensor<1xf32>
  %t = stablehlo.constant dense<true> : tensor<i1>
  return %n, %s, %v, %t : tensor<i32>, tensor<f32>, tensor<1xf32>, tensor<i1>
}"""
    )
    for rows in (3, 0):
        results = session.run(np.ones((rows, 4), np.float32))
        assert [r.shape for r in results] == [(), (), (1,), ()]
        assert [r.dtype for r in results] == [np.int32, np.float32, np.float32, np.bool_]
        assert [r.tolist() for r in results] == [rows, 4.0 * rows, [4.0 * rows], True]


@pytest.mark.parametrize("host", HOSTS)
def test_both_conventions_in_one_call(host):
    session = Session(
        """
func.func public @main(%x: tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?xf32>, tensor<?x?xf32>) {
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %1 = stablehlo.negate %x : tensor<?x?xf32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %2 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [1] : (tensor<?x?xf32>, tensor<f32>) -> tensor<?xf32>
  return %0, %1, %2, %x : tensor<?x?xf32>, tensor<?x?xf32>, tensor<?xf32>, tensor<?x?xf32>
}""",
        host,
    )
    for shape in ((2, 3), (2, 0), (0, 2), (0, 0), (17, 33)):
        x = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
        expected = [x.T, -x, x.sum(axis=1), x]
        for given in range(16):
            out = [np.empty(e.shape, np.float32) if given >> i & 1 else None for i, e in enumerate(expected)]
            for result, right in zip(session.run(x, out=out), expected, strict=True):
                np.testing.assert_array_equal(result, right)
            for target, right in zip(out, expected, strict=True):
                if target is not None:
                    np.testing.assert_array_equal(target, right)


def test_earlier_results_stay():
    session = Session(NONZERO)
    kept = []
    for length in (5, 0, 1, 100000, 0, 7, 7):
        x = (np.arange(length) % 3 == 0).astype(np.float32)
        value = session.client.create_memref(x)
        kept.append((session.session.execute_function("main", in_args=[value])[0], np.nonzero(x)[0]))
    for result, right in kept:
        array = np.asarray(result)
        assert array.dtype == np.int64 and array.shape == right.shape
        np.testing.assert_array_equal(array, right)


def test_branches_of_different_shapes():
    session = Session(
        """
func.func public @main(%x: tensor<?xf32>, %y: tensor<?xf32>, %p: tensor<i1>, %k: tensor<i32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %0 = "stablehlo.if"(%p) ({
    stablehlo.return %x : tensor<?xf32>
  }, {
    stablehlo.return %y : tensor<?xf32>
  }) : (tensor<i1>) -> tensor<?xf32>
  %1 = "stablehlo.case"(%k) ({
    stablehlo.return %x : tensor<?xf32>
  }, {
    %2 = stablehlo.concatenate %x, %y, dim = 0 : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    stablehlo.return %2 : tensor<?xf32>
  }) : (tensor<i32>) -> tensor<?xf32>
  return %0, %1 : tensor<?xf32>, tensor<?xf32>
}"""
    )
    x, y = np.arange(3, dtype=np.float32), np.arange(10, 15, dtype=np.float32)
    for p in (True, False):
        for k in (0, 1, 7, -1):
            one, two = session.run(x, y, np.bool_(p), np.int32(k))
            np.testing.assert_array_equal(one, x if p else y)
            np.testing.assert_array_equal(two, x if k == 0 else np.concatenate([x, y]))


def test_bounds_of_types():
    session = Session(
        """
func.func public @main(%x: tensor<?x3xf32, #stablehlo.bounds<8, ?>>, %n: tensor<i32>) -> (tensor<?x3xf32, #stablehlo.bounds<8, ?>>, tensor<?x3xf32>) {
  %0 = stablehlo.add %x, %x : tensor<?x3xf32, #stablehlo.bounds<8, ?>>
  %1 = stablehlo.set_dimension_size %0, %n, dim = 0 : (tensor<?x3xf32, #stablehlo.bounds<8, ?>>, tensor<i32>) -> tensor<?x3xf32>
  return %0, %1 : tensor<?x3xf32, #stablehlo.bounds<8, ?>>, tensor<?x3xf32>
}"""
    )
    x = np.arange(12, dtype=np.float32).reshape(4, 3)
    whole, part = session.run(x, np.int32(2))
    np.testing.assert_array_equal(whole, 2 * x)
    np.testing.assert_array_equal(part, 2 * x[:2])
    with pytest.raises(errors.LatewoodError, match="dimension 0 is 9, but must be between 0 and 8"):
        session.run(np.zeros((9, 3), np.float32), np.int32(2))
    with pytest.raises(errors.LatewoodError, match="set_dimension_size"):
        session.run(x, np.int32(5))


def test_signature():
    executable = build(NONZERO)
    signature = executable.get_signature("main")
    assert signature.is_data_dependent(0) and not signature.is_data_dependent(1)
    assert signature.get_shape_func_name() is None
    assert build(BROADCAST).get_signature("main").get_shape_func_name() == "main.shapes"


def test_in_short():
    executable = latewood.compile(BROADCAST)
    x = np.ones((3, 64), np.float32)
    np.testing.assert_array_equal(executable(x, np.ones(64, np.float32)), x + 1)
