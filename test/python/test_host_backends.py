# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Host programs, native and as Lua source: the same program gives the same bytes, and both give what the dialect defines.

Programs are written in the executor dialect itself, as a module that has finished the last phase, so that every operation is
reached and nothing but the host is tested. What engines would do is a function of the LLVM dialect."""

import numpy as np
import pytest

from latewood import errors

WIDTHS = (8, 16, 32, 64)


# --- Scalars -------------------------------------------------------------------------------------


def signed(value: int, width: int) -> int:
    value &= (1 << width) - 1
    return value - (1 << width) if value >> (width - 1) else value


def unsigned(value: int, width: int) -> int:
    return value & ((1 << width) - 1)


def quotient(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


OPERATIONS = {
    "add": lambda a, b, w: a + b,
    "sub": lambda a, b, w: a - b,
    "mul": lambda a, b, w: a * b,
    "div_s": lambda a, b, w: -1 if b == 0 else quotient(a, b),
    "rem_s": lambda a, b, w: a if b == 0 else a - b * quotient(a, b),
    "div_u": lambda a, b, w: -1 if b == 0 else unsigned(a, w) // unsigned(b, w),
    "rem_u": lambda a, b, w: a if b == 0 else unsigned(a, w) % unsigned(b, w),
    "min_s": lambda a, b, w: min(a, b),
    "max_s": lambda a, b, w: max(a, b),
    "min_u": lambda a, b, w: min(unsigned(a, w), unsigned(b, w)),
    "max_u": lambda a, b, w: max(unsigned(a, w), unsigned(b, w)),
    "shl": lambda a, b, w: a << unsigned(b, w) if unsigned(b, w) < w else 0,
    "shr_s": lambda a, b, w: a >> min(unsigned(b, w), w),
    "shr_u": lambda a, b, w: unsigned(a, w) >> unsigned(b, w) if unsigned(b, w) < w else 0,
    "and": lambda a, b, w: a & b,
    "or": lambda a, b, w: a | b,
    "xor": lambda a, b, w: a ^ b,
}
PREDICATES = {
    "eq": lambda a, b, w: a == b,
    "ne": lambda a, b, w: a != b,
    "lt_s": lambda a, b, w: a < b,
    "le_s": lambda a, b, w: a <= b,
    "gt_s": lambda a, b, w: a > b,
    "ge_s": lambda a, b, w: a >= b,
    "lt_u": lambda a, b, w: unsigned(a, w) < unsigned(b, w),
    "le_u": lambda a, b, w: unsigned(a, w) <= unsigned(b, w),
    "gt_u": lambda a, b, w: unsigned(a, w) > unsigned(b, w),
    "ge_u": lambda a, b, w: unsigned(a, w) >= unsigned(b, w),
}


def interesting(width: int) -> list[tuple[int, int]]:
    low, high = -(1 << (width - 1)), (1 << (width - 1)) - 1
    corners = [0, 1, -1, 2, -2, 7, -7, low, low + 1, high, width - 1, width, width + 1, high // 3]
    return [(a, b) for a in corners for b in corners]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", OPERATIONS)
def test_integer_operations(program, width, name):
    pairs = interesting(width)
    kind = "index" if width == 64 and name in ("add", "div_u") else f"i{width}"
    buffer = f"memref<{len(pairs)}x{kind if kind != 'index' else 'i64'}>"
    kind_of_element = "i64" if kind == "index" else kind
    lines = []
    for i in range(len(pairs)):
        lines += [
            f"%a{i} = executor.load %a at {i} : {buffer} to {kind}",
            f"%b{i} = executor.load %b at {i} : {buffer} to {kind}",
            f"%r{i} = executor.{name} %a{i}, %b{i} : {kind}",
            f"executor.store %r{i} to %0 at {i} : {kind} to {buffer}",
        ]
    assert kind_of_element in buffer
    newline = "\n  "
    run = program(
        f"""func.func @main(%a: {buffer}, %b: {buffer}) attributes {{executor.results = [{buffer}]}} {{
  %0 = executor.request 0 : {buffer}
  {newline.join(lines)}
  return
}}"""
    )
    dtype = np.dtype(f"int{width}")
    a, b = (np.array([pair[i] for pair in pairs], dtype) for i in (0, 1))
    expected = [signed(OPERATIONS[name](x, y, width), width) for x, y in pairs]
    assert run(a, b)[0].tolist() == expected


@pytest.mark.parametrize("width", WIDTHS)
def test_comparisons_and_selections(program, width):
    pairs = interesting(width)[::3]
    buffer, flags = f"memref<{len(pairs)}xi{width}>", f"memref<{len(pairs) * len(PREDICATES)}xi1>"
    lines = []
    for i in range(len(pairs)):
        lines += [
            f"%a{i} = executor.load %a at {i} : {buffer} to i{width}",
            f"%b{i} = executor.load %b at {i} : {buffer} to i{width}",
        ]
        for p, predicate in enumerate(PREDICATES):
            lines += [
                f"%c{i}_{p} = executor.cmp {predicate} %a{i}, %b{i} : i{width}",
                f"executor.store %c{i}_{p} to %0 at {i * len(PREDICATES) + p} : i1 to {flags}",
            ]
        lines += [
            f"%s{i} = executor.select %c{i}_2, %a{i}, %b{i} : i{width}",
            f"executor.store %s{i} to %1 at {i} : i{width} to {buffer}",
        ]
    newline = "\n  "
    run = program(
        f"""func.func @main(%a: {buffer}, %b: {buffer}) attributes {{executor.results = [{flags}, {buffer}]}} {{
  %0 = executor.request 0 : {flags}
  %1 = executor.request 1 : {buffer}
  {newline.join(lines)}
  return
}}"""
    )
    dtype = np.dtype(f"int{width}")
    a, b = (np.array([pair[i] for pair in pairs], dtype) for i in (0, 1))
    compared, chosen = run(a, b)
    assert compared.tolist() == [test(x, y, width) for x, y in pairs for test in PREDICATES.values()]
    assert chosen.tolist() == np.minimum(a, b).tolist()


def test_casts(program):
    lines, expected, place = [], [], 0
    values = [0, 1, -1, -128, 127, 128, 255, 256, 65535, -65536, 2**31, -(2**31), 2**63 - 1, -(2**63)]
    for i, value in enumerate(values):
        lines.append(f"%v{i} = executor.load %a at {i} : memref<{len(values)}xi64> to i64")
        for source in (1, *WIDTHS):
            lines.append(f"%s{i}_{source} = executor.cast_u %v{i} : i64 to i{source}")
            for target in (1, *WIDTHS):
                for kind in "su":
                    name = f"%r{place}"
                    lines += [
                        f"{name} = executor.cast_{kind} %s{i}_{source} : i{source} to i{target}",
                        f"{name}w = executor.cast_s {name} : i{target} to i64",
                        f"executor.store {name}w to %0 at {place} : i64 to memref<COUNTxi64>",
                    ]
                    narrow = signed(value, source) if kind == "s" else unsigned(value, source)
                    expected.append(signed(narrow, target))
                    place += 1
    body = "\n  ".join(lines).replace("COUNT", str(place))
    run = program(
        f"""func.func @main(%a: memref<{len(values)}xi64>) attributes {{executor.results = [memref<{place}xi64>]}} {{
  %0 = executor.request 0 : memref<{place}xi64>
  {body}
  return
}}"""
    )
    assert run(np.array(values, np.int64))[0].tolist() == expected


def test_booleans(program):
    run = program(
        """func.func @main(%a: memref<2xi1>) attributes {executor.results = [memref<6xi1>]} {
  %0 = executor.request 0 : memref<6xi1>
  %x = executor.load %a at 0 : memref<2xi1> to i1
  %y = executor.load %a at 1 : memref<2xi1> to i1
  %and = executor.and %x, %y : i1
  %or = executor.or %x, %y : i1
  %xor = executor.xor %x, %y : i1
  %not = executor.not %x : i1
  %true = executor.scalar true
  %s = executor.select %x, %y, %true : i1
  %t = executor.select %y, %not, %x : i1
  executor.store %and to %0 at 0 : i1 to memref<6xi1>
  executor.store %or to %0 at 1 : i1 to memref<6xi1>
  executor.store %xor to %0 at 2 : i1 to memref<6xi1>
  executor.store %not to %0 at 3 : i1 to memref<6xi1>
  executor.store %s to %0 at 4 : i1 to memref<6xi1>
  executor.store %t to %0 at 5 : i1 to memref<6xi1>
  return
}"""
    )
    for x in (False, True):
        for y in (False, True):
            expected = [x and y, x or y, x != y, not x, y if x else True, (not x) if y else x]
            assert run(np.array([x, y]))[0].tolist() == expected


# --- Control flow --------------------------------------------------------------------------------


def test_loop_until_a_condition(program):
    """Euclid's algorithm: the carried values change places."""
    run = program(
        """func.func @main(%a: memref<2xi64>) attributes {executor.results = [memref<2xi64>]} {
  %0 = executor.request 0 : memref<2xi64>
  %x = executor.load %a at 0 : memref<2xi64> to i64
  %y = executor.load %a at 1 : memref<2xi64> to i64
  %none = executor.scalar 0 : i64
  %one = executor.scalar 1 : i64
  %r:3 = scf.while (%p = %x, %q = %y, %n = %none) : (i64, i64, i64) -> (i64, i64, i64) {
    %c = executor.cmp ne %q, %none : i64
    scf.condition(%c) %p, %q, %n : i64, i64, i64
  } do {
  ^bb0(%p: i64, %q: i64, %n: i64):
    %m = executor.rem_u %p, %q : i64
    %k = executor.add %n, %one : i64
    scf.yield %q, %m, %k : i64, i64, i64
  }
  executor.store %r#0 to %0 at 0 : i64 to memref<2xi64>
  executor.store %r#2 to %0 at 1 : i64 to memref<2xi64>
  return
}"""
    )
    assert run(np.array([1071, 462]))[0].tolist() == [21, 3]
    assert run(np.array([5, 0]))[0].tolist() == [5, 0]


@pytest.mark.parametrize("kind", ["index", "i8", "i32", "i64"])
def test_counted_loop(program, kind):
    """Counts as mathematical numbers: at the end of the type nothing wraps."""
    element = "i64" if kind == "index" else kind
    run = program(
        f"""func.func @main(%a: memref<2x{element}>) attributes {{executor.results = [memref<3xi64>]}} {{
  %0 = executor.request 0 : memref<3xi64>
  %low = executor.load %a at 0 : memref<2x{element}> to {kind}
  %high = executor.load %a at 1 : memref<2x{element}> to {kind}
  %step = executor.scalar 3 : {kind}
  %none = executor.scalar 0 : i64
  %one = executor.scalar 1 : i64
  %r:3 = scf.for %i = %low to %high step %step iter_args(%n = %none, %last = %none, %before = %none) -> (i64, i64, i64) {"" if kind == "index" else ": " + kind} {{
    %m = executor.add %n, %one : i64
    %j = executor.cast_s %i : {kind} to i64
    scf.yield %m, %j, %last : i64, i64, i64
  }}
  executor.store %r#0 to %0 at 0 : i64 to memref<3xi64>
  executor.store %r#1 to %0 at 1 : i64 to memref<3xi64>
  executor.store %r#2 to %0 at 2 : i64 to memref<3xi64>
  return
}}"""
    )
    width = 64 if element == "i64" else int(element[1:])
    low, high = -(1 << (width - 1)), (1 << (width - 1)) - 1
    for first, end in [(0, 10), (10, 0), (0, 0), (-5, 2), (high - 4, high), (high, low), (low, low), (low, low + 7)]:
        visited = range(first, end, 3)
        expected = [len(visited), visited[-1] if visited else 0, visited[-2] if len(visited) > 1 else 0]
        assert run(np.array([first, end], f"int{width}"))[0].tolist() == expected


def test_branches(program):
    run = program(
        """func.func @main(%a: memref<i32>, %x: memref<4xf32>, %y: memref<4xf32>) attributes {executor.results = [memref<4xf32>, memref<i32>]} {
  %0 = executor.request 0 : memref<4xf32>
  %1 = executor.request 1 : memref<i32>
  %v = executor.load %a at 0 : memref<i32> to i32
  %zero = executor.scalar 0 : i32
  %c = executor.cmp lt_s %v, %zero : i32
  %r:2 = scf.if %c -> (memref<4xf32>, i32) {
    %n = executor.sub %zero, %v : i32
    scf.yield %x, %n : memref<4xf32>, i32
  } else {
    %ten = executor.scalar 10 : i32
    %d = executor.cmp gt_s %v, %ten : i32
    %s = scf.if %d -> (i32) {
      scf.yield %ten : i32
    } else {
      scf.yield %v : i32
    }
    scf.yield %y, %s : memref<4xf32>, i32
  }
  executor.copy %r#0 to %0 : memref<4xf32>
  executor.store %r#1 to %1 at 0 : i32 to memref<i32>
  scf.if %c {
    executor.fill %0 with 1.5 : f32 to memref<4xf32>
  }
  return
}"""
    )
    x, y = np.arange(4, dtype=np.float32), np.arange(4, 8, dtype=np.float32)
    for value, first, second in [(-3, np.full(4, 1.5), 3), (4, y, 4), (40, y, 10)]:
        got = run(np.int32(value), x, y)
        np.testing.assert_array_equal(got[0], first)
        assert got[1] == second


def test_switch(program):
    """Numbers that are no case take the default; a branch may give what is around it."""
    run = program(
        """func.func @main(%a: memref<i64>) attributes {executor.results = [memref<i64>]} {
  %0 = executor.request 0 : memref<i64>
  %v = executor.load %a at 0 : memref<i64> to i64
  %k = executor.cast_s %v : i64 to index
  %ten = executor.scalar 10 : i64
  %r = scf.index_switch %k -> i64
  case 2 {
    scf.yield %ten : i64
  }
  case -1 {
    %s = executor.mul %ten, %ten : i64
    scf.yield %s : i64
  }
  default {
    scf.yield %v : i64
  }
  executor.store %r to %0 at 0 : i64 to memref<i64>
  scf.index_switch %k
  case 7 {
    executor.store %ten to %0 at 0 : i64 to memref<i64>
    scf.yield
  }
  default {
  }
  return
}"""
    )
    for value, expected in [(2, 10), (-1, 100), (3, 3), (7, 10), (-(2**63), -(2**63))]:
        assert run(np.int64(value))[0] == expected


def test_extents_far_from_their_buffer(program):
    """A long block is divided in Lua; what copies a buffer needs its extents, which it does not name."""
    many = "\n".join(f"  %n{i + 1} = executor.add %n{i}, %one : index" for i in range(200))
    run = program(
        f"""func.func @main(%a: memref<?xi32>) attributes {{executor.results = [memref<?xi32>, memref<i64>]}} {{
  %one = executor.scalar 1 : index
  %d = executor.dim %a, 0 : memref<?xi32>
  %n0 = executor.add %d, %one : index
  %m = executor.sub %n0, %one : index
  %t = executor.alloc[%m] : memref<?xi32>
  %v = executor.view %a[%m] : memref<?xi32> to memref<?xi32>
{many}
  executor.copy %v to %t : memref<?xi32>
  %0 = executor.request 0[%d] : memref<?xi32>
  executor.copy %t to %0 : memref<?xi32>
  executor.free %t : memref<?xi32>
  %1 = executor.request 1 : memref<i64>
  %k = executor.cast_s %n200 : index to i64
  executor.store %k to %1 at 0 : i64 to memref<i64>
  return
}}"""
    )
    got = run(np.arange(7, dtype=np.int32))
    np.testing.assert_array_equal(got[0], np.arange(7))
    assert got[1] == 208


def test_loop_that_allocates(program):
    """The buffer that is carried is a new one in each iteration; an assertion in one of them ends the call."""
    run = program(
        """func.func @main(%a: memref<i64>) attributes {executor.results = [memref<?xi32>]} {
  %n = executor.load %a at 0 : memref<i64> to i64
  %limit = executor.cast_s %n : i64 to index
  %zero = executor.scalar 0 : index
  %one = executor.scalar 1 : index
  %most = executor.scalar 1000 : index
  %first = executor.alloc[%zero] : memref<?xi32>
  %r:2 = scf.while (%x = %first, %m = %zero) : (memref<?xi32>, index) -> (memref<?xi32>, index) {
    %c = executor.cmp lt_s %m, %limit : index
    scf.condition(%c) %x, %m : memref<?xi32>, index
  } do {
  ^bb0(%x: memref<?xi32>, %m: index):
    %next = executor.add %m, %one : index
    %fits = executor.cmp lt_s %next, %most : index
    executor.assert %fits, "{0} are too many"(%next) : index
    %y = executor.alloc[%next] : memref<?xi32>
    executor.fill %y with 7 : i32 to memref<?xi32>
    executor.free %x : memref<?xi32>
    scf.yield %y, %next : memref<?xi32>, index
  }
  %v = executor.view %r#0[%r#1] : memref<?xi32> to memref<?xi32>
  %0 = executor.request 0[%r#1] : memref<?xi32>
  executor.copy %v to %0 : memref<?xi32>
  executor.free %r#0 : memref<?xi32>
  return
}"""
    )
    for length in (0, 1, 5, 999):
        np.testing.assert_array_equal(run(np.int64(length))[0], np.full(length, 7, np.int32))
    with pytest.raises(errors.LatewoodError, match="1000 are too many"):
        run(np.int64(2000))
    np.testing.assert_array_equal(run(np.int64(2))[0], np.full(2, 7, np.int32))


# --- Memory and slots ----------------------------------------------------------------------------


def test_dynamic_shapes(program):
    """Extents of arguments, temporary memory, views, and a result whose shape is computed."""
    run = program(
        """func.func @main(%a: memref<?x3xf32>) attributes {executor.results = [memref<?x3xf32>, memref<3x?xf32>, memref<?xf32>]} {
  %n = executor.dim %a, 0 : memref<?x3xf32>
  %three = executor.scalar 3 : index
  %0 = executor.request 0[%n] : memref<?x3xf32>
  %1 = executor.request 1[%n] : memref<3x?xf32>
  %t = executor.alloc[%n] : memref<?x3xf32>
  executor.fill %t with 0.25 : f32 to memref<?x3xf32>
  executor.copy %t to %0 : memref<?x3xf32>
  executor.free %t : memref<?x3xf32>
  %v = executor.view %a[%n] : memref<?x3xf32> to memref<3x?xf32>
  executor.copy %v to %1 : memref<3x?xf32>
  %most = executor.mul %n, %three : index
  %2 = executor.request 2 unshaped[%most] : memref<?xf32>
  %one = executor.scalar 1 : index
  %less = executor.sub %most, %one : index
  %four = executor.scalar 4 : index
  %w = executor.view %a at %four[%less] : memref<?x3xf32> to memref<?xf32>
  %u = executor.view %2[%less] : memref<?xf32> to memref<?xf32>
  executor.copy %w to %u : memref<?xf32>
  executor.shape 2[%less]
  return
}"""
    )
    for n in (1, 2, 7, 1000):
        a = np.random.default_rng(n).standard_normal((n, 3)).astype(np.float32)
        filled, reshaped, rest = run(a)
        np.testing.assert_array_equal(filled, np.full((n, 3), 0.25, np.float32))
        np.testing.assert_array_equal(reshaped, a.reshape(3, n))
        np.testing.assert_array_equal(rest, a.reshape(-1)[1:])


def test_fills(program):
    values = {
        "i8": "-3 : i8",
        "i16": "513 : i16",
        "i32": "0 : i32",
        "f64": "1.5 : f64",
        "i64": "-1 : i64",
        "ui32": "0x01020304 : ui32",
    }
    results = ", ".join(f"memref<5x{kind}>" for kind in values)
    lines = []
    for i, (kind, value) in enumerate(values.items()):
        lines += [
            f"%{i} = executor.request {i} : memref<5x{kind}>",
            f"executor.fill %{i} with {value} to memref<5x{kind}>",
        ]
    body = "\n  ".join(lines)
    got = program(f"func.func @main() attributes {{executor.results = [{results}]}} {{\n  {body}\n  return\n}}")()
    assert [result.tolist() for result in got] == [[-3] * 5, [513] * 5, [0] * 5, [1.5] * 5, [-1] * 5, [0x01020304] * 5]


def test_bad_extents_fail(program):
    run = program(
        """func.func @main(%a: memref<i64>) attributes {executor.results = [memref<?x2xi8>]} {
  %n = executor.load %a at 0 : memref<i64> to index
  %t = executor.alloc[%n] : memref<?x4xi32>
  %0 = executor.request 0[%n] : memref<?x2xi8>
  executor.fill %0 with 1 : i8 to memref<?x2xi8>
  return
}"""
    )
    assert "-1 bytes" in run.fail(np.int64(-5))
    assert "cannot allocate" in run.fail(np.int64(2**62))
    assert run(np.int64(3))[0].shape == (3, 2)
    assert run(np.int64(0))[0].shape == (0, 2)


def test_assertions(program):
    run = program(
        """func.func @main(%a: memref<2xi32>) attributes {executor.results = [memref<i32>]} {
  %x = executor.load %a at 0 : memref<2xi32> to i32
  %y = executor.load %a at 1 : memref<2xi32> to i32
  %c = executor.cmp eq %x, %y : i32
  executor.assert %c, "expected {0}, got {1} ({2}): \\22{x}\\22 {} 100%\\0A"(%x, %y, %c) : i32, i32, i1
  %0 = executor.request 0 : memref<i32>
  executor.store %x to %0 at 0 : i32 to memref<i32>
  return
}"""
    )
    assert run(np.array([4, 4], np.int32))[0] == 4
    assert 'expected 3, got -4 (0): "{x}" {} 100%' in run.fail(np.array([3, -4], np.int32))
    assert run(np.array([5, 5], np.int32))[0] == 5  # a failed call leaves the session usable
