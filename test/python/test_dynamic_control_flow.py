# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loops that carry tensors whose extents change, and branches that compute extents, on both hosts and in both conventions. NumPy
says what is right; the runtime's statistics say what is held."""

import numpy as np
import pytest

from latewood import compiler, errors, runtime

HOSTS = ("native", "lua")


class Session:
    def __init__(self, program: str, host: str):
        client = compiler.CompilerClient()
        executable = client.stablehlo_to_executable(
            compiler.Module.parse(program), compiler.StableHLOToExecutableOptions([f"--host={host}"])
        )
        self.client = runtime.RuntimeClient()
        self.session = runtime.RuntimeSession(self.client, runtime.RuntimeSessionOptions(), executable)

    def run(self, *arguments, out=None):
        values = [self.client.create_memref(np.asarray(argument, order="C")) for argument in arguments]
        return [np.asarray(r).copy() for r in self.session.execute_function("main", in_args=values, out_args=out)]

    def check(self, arguments, expected):
        """Both conventions, and what is left behind: nothing."""
        for got, right in zip(self.run(*arguments), expected, strict=True):
            assert got.dtype == right.dtype
            np.testing.assert_array_equal(got, right)
        out = [np.full_like(right, 77) for right in expected]
        self.run(*arguments, out=out)
        for got, right in zip(out, expected, strict=True):
            np.testing.assert_array_equal(got, right)
        assert self.session.statistics()["temporaries"]["live_bytes"] == 0


@pytest.fixture(scope="module", params=HOSTS)
def host(request):
    return request.param


GROW = """
func.func public @main(%x: tensor<?x3xf32>, %row: tensor<1x3xf32>, %n: tensor<i32>) -> tensor<?x3xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %r:2 = stablehlo.while(%i = %zero, %y = %x) : tensor<i32>, tensor<?x3xf32>
  cond {
    %0 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %0 : tensor<i1>
  } do {
    %f = stablehlo.convert %i : (tensor<i32>) -> tensor<f32>
    %b = stablehlo.broadcast_in_dim %f, dims = [] : (tensor<f32>) -> tensor<1x3xf32>
    %0 = stablehlo.add %row, %b : tensor<1x3xf32>
    %1 = stablehlo.concatenate %y, %0, dim = 0 : (tensor<?x3xf32>, tensor<1x3xf32>) -> tensor<?x3xf32>
    %2 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %2, %1 : tensor<i32>, tensor<?x3xf32>
  }
  return %r#1 : tensor<?x3xf32>
}"""


def grown(x, row, n):
    return np.concatenate([x, *(row + np.float32(i) for i in range(n))])


def test_growing_loop(host):
    session = Session(GROW, host)
    row = np.array([[1, 2, 3]], np.float32)
    for length, n in ((2, 5), (0, 0), (0, 3), (4, 0), (1, 100)):
        x = np.arange(3 * length, dtype=np.float32).reshape(length, 3)
        session.check([x, row, np.int32(n)], [grown(x, row, n)])


def test_memory_of_growing_loop(host):
    session = Session(GROW, host)
    x, row = np.zeros((1, 3), np.float32), np.ones((1, 3), np.float32)
    session.run(x, row, np.int32(10))
    before = session.session.statistics()
    (y,) = session.run(x, row, np.int32(10000))
    np.testing.assert_array_equal(y, grown(x, row, 10000))
    after = session.session.statistics()
    assert after["temporaries"]["live_bytes"] == 0
    # Two generations, in blocks that are at most an eighth too large, and little else.
    assert after["temporaries"]["peak_bytes"] <= 2.5 * y.nbytes
    assert after["temporaries"]["count"] - before["temporaries"]["count"] >= 10000
    held = after["system"]["live_bytes"]
    for _ in range(3):
        session.run(x, row, np.int32(10000))
    assert session.session.statistics()["system"]["live_bytes"] <= held + 2 * y.nbytes


CONDITION = """
func.func public @main(%x: tensor<?xf32>, %limit: tensor<i32>) -> (tensor<?xf32>, tensor<i32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %two = stablehlo.constant dense<2> : tensor<i32>
  %z1 = stablehlo.constant dense<0> : tensor<1xi32>
  %o1 = stablehlo.constant dense<1> : tensor<1xi32>
  %r:2 = stablehlo.while(%y = %x, %steps = %zero) : tensor<?xf32>, tensor<i32>
  cond {
    %s = stablehlo.get_dimension_size %y, dim = 0 : (tensor<?xf32>) -> tensor<i32>
    %0 = stablehlo.compare GT, %s, %limit : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %0 : tensor<i1>
  } do {
    %s = stablehlo.get_dimension_size %y, dim = 0 : (tensor<?xf32>) -> tensor<i32>
    %h = stablehlo.divide %s, %two : tensor<i32>
    %e = stablehlo.multiply %h, %two : tensor<i32>
    %h1 = stablehlo.reshape %h : (tensor<i32>) -> tensor<1xi32>
    %e1 = stablehlo.reshape %e : (tensor<i32>) -> tensor<1xi32>
    %low = stablehlo.real_dynamic_slice %y, %z1, %h1, %o1
        : (tensor<?xf32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?xf32>
    %high = stablehlo.real_dynamic_slice %y, %h1, %e1, %o1
        : (tensor<?xf32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?xf32>
    %sum = stablehlo.add %low, %high : tensor<?xf32>
    %next = stablehlo.add %steps, %one : tensor<i32>
    stablehlo.return %sum, %next : tensor<?xf32>, tensor<i32>
  }
  return %r#0, %r#1 : tensor<?xf32>, tensor<i32>
}"""


def test_halving_loop_that_asks_for_its_extent(host):
    session = Session(CONDITION, host)
    for length, limit in ((1, 0), (0, 0), (1000, 1), (37, 4), (64, 1), (5, 5)):
        x = np.arange(length, dtype=np.float32)
        y, steps = x, 0
        while len(y) > limit:
            half = len(y) // 2
            y, steps = y[:half] + y[half : 2 * half], steps + 1
        session.check([x, np.int32(limit)], [y, np.int32(steps)])


SWAP = """
func.func public @main(%a: tensor<?xf32>, %b: tensor<?xf32>, %n: tensor<i32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %r:3 = stablehlo.while(%i = %zero, %x = %a, %y = %b) : tensor<i32>, tensor<?xf32>, tensor<?xf32>
  cond {
    %0 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %0 : tensor<i1>
  } do {
    %0 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %0, %y, %x : tensor<i32>, tensor<?xf32>, tensor<?xf32>
  }
  return %r#1, %r#2 : tensor<?xf32>, tensor<?xf32>
}"""


def test_swapping_loop(host):
    session = Session(SWAP, host)
    for left, right in ((3, 5), (0, 4), (0, 0), (7, 7)):
        a, b = np.arange(left, dtype=np.float32), -np.arange(right, dtype=np.float32)
        for n in (0, 1, 2, 7):
            session.check([a, b, np.int32(n)], [a, b] if n % 2 == 0 else [b, a])
    a, b = np.zeros(1000, np.float32), np.zeros(2000, np.float32)
    before = session.session.statistics()["temporaries"]["count"]
    session.run(a, b, np.int32(10000))
    # The two that the loop begins with.
    assert session.session.statistics()["temporaries"]["count"] - before == 2


PARTS = """
func.func public @main(%p: tensor<i1>, %x: tensor<8x3xf32>, %y: tensor<?x3xf32>, %z: tensor<?x3xf32>)
    -> (tensor<7x3xf32>, tensor<?x3xf32>) {
  %r = "stablehlo.if"(%p) ({
    %0 = stablehlo.slice %x [0:7, 0:3] : (tensor<8x3xf32>) -> tensor<7x3xf32>
    stablehlo.return %0 : tensor<7x3xf32>
  }, {
    %0 = stablehlo.slice %x [1:8, 0:3] : (tensor<8x3xf32>) -> tensor<7x3xf32>
    stablehlo.return %0 : tensor<7x3xf32>
  }) : (tensor<i1>) -> tensor<7x3xf32>
  %a = stablehlo.add %r, %r : tensor<7x3xf32>
  %two = stablehlo.constant dense<2> : tensor<i32>
  %origin = stablehlo.constant dense<0> : tensor<2xi32>
  %steps = stablehlo.constant dense<1> : tensor<2xi32>
  %width = stablehlo.constant dense<3> : tensor<1xi32>
  %n = stablehlo.get_dimension_size %y, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
  %h = stablehlo.divide %n, %two : tensor<i32>
  %h1 = stablehlo.reshape %h : (tensor<i32>) -> tensor<1xi32>
  %limits = stablehlo.concatenate %h1, %width, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %s = "stablehlo.if"(%p) ({
    %0 = stablehlo.real_dynamic_slice %y, %origin, %limits, %steps
        : (tensor<?x3xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x3xf32>
    stablehlo.return %0 : tensor<?x3xf32>
  }, {
    stablehlo.return %z : tensor<?x3xf32>
  }) : (tensor<i1>) -> tensor<?x3xf32>
  %b = stablehlo.add %s, %s : tensor<?x3xf32>
  return %a, %b : tensor<7x3xf32>, tensor<?x3xf32>
}"""


def test_branches_that_give_parts(host):
    """Parts of other tensors, in branches that an engine does."""
    session = Session(PARTS, host)
    x, y = np.arange(24, dtype=np.float32).reshape(8, 3), np.arange(15, dtype=np.float32).reshape(5, 3)
    z = -np.ones((4, 3), np.float32)
    session.check([np.bool_(True), x, y, z], [2 * x[:7], 2 * y[:2]])
    session.check([np.bool_(False), x, y, z], [2 * x[1:], 2 * z])


# The same tensor twice, one that is needed afterwards, and constants.
SHARED = """
func.func public @main(%a: tensor<?xf32>, %n: tensor<i32>) -> (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %c = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %s = stablehlo.add %a, %a : tensor<?xf32>
  %r:3 = stablehlo.while(%i = %zero, %x = %s, %y = %s) : tensor<i32>, tensor<?xf32>, tensor<?xf32>
  cond {
    %0 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %0 : tensor<i1>
  } do {
    %0 = stablehlo.add %i, %one : tensor<i32>
    %1 = stablehlo.concatenate %x, %c, %s, dim = 0 : (tensor<?xf32>, tensor<2xf32>, tensor<?xf32>) -> tensor<?xf32>
    stablehlo.return %0, %1, %1 : tensor<i32>, tensor<?xf32>, tensor<?xf32>
  }
  return %r#1, %r#2, %s : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
}"""


def test_buffers_that_are_needed_twice(host):
    session = Session(SHARED, host)
    for length in (0, 1, 5):
        for n in (0, 1, 3):
            a = np.arange(length, dtype=np.float32)
            x = s = a + a
            for _ in range(n):
                x = np.concatenate([x, np.array([1, 2], np.float32), s])
            session.check([a, np.int32(n)], [x, x, s])


BRANCH = """
func.func public @main(%p: tensor<i1>, %x: tensor<?xf32>, %i: tensor<?xi32>) -> tensor<?xi32> {
  %r = "stablehlo.if"(%p) ({
    %0 = stablehlo.custom_call @latewood.nonzero(%x) : (tensor<?xf32>) -> tensor<?xi32>
    stablehlo.return %0 : tensor<?xi32>
  }, {
    stablehlo.return %i : tensor<?xi32>
  }) : (tensor<i1>) -> tensor<?xi32>
  %s = stablehlo.add %r, %r : tensor<?xi32>
  return %s : tensor<?xi32>
}"""


def test_branch_that_finds_an_extent(host):
    session = Session(BRANCH, host)
    for x, i in (([0, 1, 2, 0, 3], [5, 6]), ([], [1]), ([0, 0], []), ([1], [1, 2, 3])):
        x, i = np.array(x, np.float32), np.array(i, np.int32)
        session.check([np.bool_(True), x, i], [2 * np.flatnonzero(x).astype(np.int32)])
        session.check([np.bool_(False), x, i], [2 * i])


CASE = """
func.func public @main(%k: tensor<i32>, %x: tensor<?xf32>, %n: tensor<i32>) -> (tensor<?xf32>, tensor<f32>) {
  %r:2 = "stablehlo.case"(%k) ({
    %e = stablehlo.constant dense<> : tensor<0xf32>
    %d = stablehlo.convert %e : (tensor<0xf32>) -> tensor<?xf32>
    %c = stablehlo.constant dense<1.0> : tensor<f32>
    stablehlo.return %d, %c : tensor<?xf32>, tensor<f32>
  }, {
    %n1 = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
    %0 = stablehlo.dynamic_iota %n1, dim = 0 : (tensor<1xi32>) -> tensor<?xf32>
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %s = stablehlo.reduce(%0 init: %z) applies stablehlo.add across dimensions = [0] : (tensor<?xf32>, tensor<f32>) -> tensor<f32>
    stablehlo.return %0, %s : tensor<?xf32>, tensor<f32>
  }, {
    %c = stablehlo.constant dense<2.0> : tensor<f32>
    stablehlo.return %x, %c : tensor<?xf32>, tensor<f32>
  }, {
    %i = stablehlo.custom_call @latewood.nonzero(%x) : (tensor<?xf32>) -> tensor<?xi32>
    %0 = stablehlo.convert %i : (tensor<?xi32>) -> tensor<?xf32>
    %c = stablehlo.constant dense<3.0> : tensor<f32>
    stablehlo.return %0, %c : tensor<?xf32>, tensor<f32>
  }) : (tensor<i32>) -> (tensor<?xf32>, tensor<f32>)
  return %r#0, %r#1 : tensor<?xf32>, tensor<f32>
}"""


def test_case_with_a_shape_for_each_branch(host):
    session = Session(CASE, host)
    x = np.array([0, 3, 0, 4, 5], np.float32)
    iota, hits = np.arange(7, dtype=np.float32), np.array([1, 3, 4], np.float32)
    last = [hits, np.float32(3)]
    for k, expected in (
        (0, [np.zeros(0, np.float32), np.float32(1)]),
        (1, [iota, np.float32(21)]),
        (2, [x, np.float32(2)]),
        (3, last),
        (4, last),
        (-1, last),
    ):
        session.check([np.int32(k), x, np.int32(7)], expected)


# Collects the places of all nonzero elements of the rows of a matrix whose sum is above a limit, or the row's number.
NESTED = """
func.func public @main(%x: tensor<?x4xf32>, %limit: tensor<f32>) -> (tensor<?xi32>, tensor<i32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %none = stablehlo.constant dense<> : tensor<0xi32>
  %start = stablehlo.convert %none : (tensor<0xi32>) -> tensor<?xi32>
  %rows = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x4xf32>) -> tensor<i32>
  %r:2 = stablehlo.while(%i = %zero, %y = %start) : tensor<i32>, tensor<?xi32>
  cond {
    %0 = stablehlo.compare LT, %i, %rows : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %0 : tensor<i1>
  } do {
    %row2 = stablehlo.dynamic_slice %x, %i, %zero, sizes = [1, 4] : (tensor<?x4xf32>, tensor<i32>, tensor<i32>) -> tensor<1x4xf32>
    %row = stablehlo.reshape %row2 : (tensor<1x4xf32>) -> tensor<4xf32>
    %f0 = stablehlo.constant dense<0.0> : tensor<f32>
    %sum = stablehlo.reduce(%row init: %f0) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    %p = stablehlo.compare GT, %sum, %limit : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %z = "stablehlo.if"(%p) ({
      %0 = stablehlo.custom_call @latewood.nonzero(%row) : (tensor<4xf32>) -> tensor<?xi32>
      %w:2 = stablehlo.while(%k = %zero, %t = %0) : tensor<i32>, tensor<?xi32>
      cond {
        %3 = stablehlo.compare LT, %k, %i : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %3 : tensor<i1>
      } do {
        %m = stablehlo.constant dense<[-1]> : tensor<1xi32>
        %3 = stablehlo.concatenate %t, %m, dim = 0 : (tensor<?xi32>, tensor<1xi32>) -> tensor<?xi32>
        %4 = stablehlo.add %k, %one : tensor<i32>
        stablehlo.return %4, %3 : tensor<i32>, tensor<?xi32>
      }
      stablehlo.return %w#1 : tensor<?xi32>
    }, {
      %0 = stablehlo.reshape %i : (tensor<i32>) -> tensor<1xi32>
      %1 = stablehlo.convert %0 : (tensor<1xi32>) -> tensor<?xi32>
      stablehlo.return %1 : tensor<?xi32>
    }) : (tensor<i1>) -> tensor<?xi32>
    %c = stablehlo.concatenate %y, %z, dim = 0 : (tensor<?xi32>, tensor<?xi32>) -> tensor<?xi32>
    %next = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %next, %c : tensor<i32>, tensor<?xi32>
  }
  return %r#1, %r#0 : tensor<?xi32>, tensor<i32>
}"""


def test_branches_and_loops_in_a_loop(host):
    session = Session(NESTED, host)
    rng = np.random.default_rng(3)
    for rows in (0, 1, 2, 9, 40):
        x = (rng.integers(0, 3, (rows, 4)) * rng.integers(0, 2, (rows, 4))).astype(np.float32)
        expected = []
        for i, row in enumerate(x):
            expected += [*np.flatnonzero(row), *([-1] * i)] if row.sum() > 2 else [i]
        session.check([x, np.float32(2)], [np.array(expected, np.int32), np.int32(rows)])


SLICES = """
func.func public @main(%x: tensor<?xf32>, %n: tensor<i32>) -> tensor<f32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %z1 = stablehlo.constant dense<0> : tensor<1xi32>
  %o1 = stablehlo.constant dense<1> : tensor<1xi32>
  %r:2 = stablehlo.while(%i = %zero, %s = %z) : tensor<i32>, tensor<f32>
  cond {
    %0 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %0 : tensor<i1>
  } do {
    %i1 = stablehlo.reshape %i : (tensor<i32>) -> tensor<1xi32>
    %part = stablehlo.real_dynamic_slice %x, %z1, %i1, %o1
        : (tensor<?xf32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?xf32>
    %e = stablehlo.multiply %part, %part : tensor<?xf32>
    %q = stablehlo.reduce(%e init: %z) applies stablehlo.add across dimensions = [0] : (tensor<?xf32>, tensor<f32>) -> tensor<f32>
    %t = stablehlo.add %s, %q : tensor<f32>
    %next = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %next, %t : tensor<i32>, tensor<f32>
  }
  return %r#1 : tensor<f32>
}"""


def test_slices_by_the_counter(host):
    session = Session(SLICES, host)
    x = np.arange(12, dtype=np.float32)
    for n in (0, 1, 5, 13):
        session.check([x, np.int32(n)], [np.float32(sum((x[:i] ** 2).sum() for i in range(n)))])
    # The fourteenth iteration asks for 13 elements of 12: the call fails, and leaves nothing behind.
    for _ in range(2):
        with pytest.raises(errors.LatewoodError, match="from 0 to 13 by 1 along dimension 0, which has 12 elements"):
            session.run(x, np.int32(20))
        assert session.session.statistics()["temporaries"]["live_bytes"] == 0
    session.check([x, np.int32(3)], [np.float32(1)])


# An assertion in a branch counts if the branch is taken, and says nothing about what is outside of it.
GUARDED = """
func.func public @main(%p: tensor<i1>, %x: tensor<?xf32>, %y: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %r = "stablehlo.if"(%p) ({
    %0 = stablehlo.add %x, %y : tensor<?xf32>
    %1 = stablehlo.custom_call @latewood.nonzero(%0) : (tensor<?xf32>) -> tensor<?xi32>
    %2 = stablehlo.convert %1 : (tensor<?xi32>) -> tensor<?xf32>
    stablehlo.return %2 : tensor<?xf32>
  }, {
    %0 = stablehlo.concatenate %x, %y, dim = 0 : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    stablehlo.return %0 : tensor<?xf32>
  }) : (tensor<i1>) -> tensor<?xf32>
  %d = stablehlo.multiply %y, %y : tensor<?xf32>
  return %r, %d : tensor<?xf32>, tensor<?xf32>
}"""


def test_assertion_in_a_branch(host):
    session = Session(GUARDED, host)
    x, y = np.array([1, 0, -1], np.float32), np.array([1, 0, 1, 2, 3], np.float32)
    session.check([np.bool_(False), x, y], [np.concatenate([x, y]), y * y])
    session.check([np.bool_(True), x, y[:3]], [np.array([0], np.float32), y[:3] ** 2])
    with pytest.raises(errors.LatewoodError, match="needs equal extents in dimension 0 of its operands, got 3 and 5"):
        session.run(np.bool_(True), x, y)
    session.check([np.bool_(False), x, y], [np.concatenate([x, y]), y * y])


# Two dimensions change in turn, by a product; the loop's end depends on a computed sum.
MATRIX = """
func.func public @main(%x: tensor<?x?xf32>, %limit: tensor<f32>) -> tensor<?x?xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %r = stablehlo.while(%y = %x) : tensor<?x?xf32>
  cond {
    %0 = stablehlo.reduce(%y init: %z) applies stablehlo.add across dimensions = [0, 1] : (tensor<?x?xf32>, tensor<f32>) -> tensor<f32>
    %1 = stablehlo.compare LT, %0, %limit : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %t = stablehlo.transpose %y, dims = [1, 0] : (tensor<?x?xf32>) -> tensor<?x?xf32>
    %0 = stablehlo.dot_general %t, %y, contracting_dims = [1] x [0] : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
    %1 = stablehlo.concatenate %0, %y, dim = 0 : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
    %2 = stablehlo.transpose %1, dims = [1, 0] : (tensor<?x?xf32>) -> tensor<?x?xf32>
    stablehlo.return %2 : tensor<?x?xf32>
  }
  return %r : tensor<?x?xf32>
}"""


def test_both_dimensions_change(host):
    session = Session(MATRIX, host)
    for shape in ((2, 3), (1, 1), (5, 2)):
        x = np.ones(shape, np.float32)
        y = x
        while y.sum() < 5000:
            y = np.concatenate([y.T @ y, y]).T
        session.check([x, np.float32(5000)], [np.ascontiguousarray(y)])


def test_changing_shapes_in_turn(host):
    session = Session(NESTED, host)
    shapes = [np.ones((rows, 4), np.float32) for rows in (0, 7, 3, 1, 12)]
    for x in shapes:
        session.run(x, np.float32(2))
    held = session.session.statistics()["system"]["live_bytes"]
    for turn in range(500):
        session.run(shapes[turn % len(shapes)], np.float32(2))
    statistics = session.session.statistics()
    assert statistics["temporaries"]["live_bytes"] == 0
    assert statistics["system"]["live_bytes"] <= held + 65536
