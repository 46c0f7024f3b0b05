# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Scenarios of use that went wrong elsewhere, as people reported them: large results in a first call, results that must stay
while others are made, no growth over many calls and sessions, scalars that stay scalars, and donating twice."""

import gc
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import latewood
from latewood import errors, runtime

MIB = 1 << 20
LARGE = [32 * MIB - 512, 32 * MIB, 32 * MIB + 4, 256 * MIB]


def fill(count: int) -> latewood.Executable:
    """f(x) = n times x."""
    return latewood.compile(
        f"""
func.func public @main(%x: tensor<f32>) -> tensor<{count}xf32> {{
  %0 = stablehlo.broadcast_in_dim %x, dims = [] : (tensor<f32>) -> tensor<{count}xf32>
  return %0 : tensor<{count}xf32>
}}
"""
    )


@pytest.fixture(scope="module")
def fills(tmp_path_factory) -> dict[int, Path]:
    folder = tmp_path_factory.mktemp("fills")
    for size in LARGE:
        fill(size // 4).save(folder / f"{size}.lwx")
    return {size: folder / f"{size}.lwx" for size in LARGE}


@pytest.mark.parametrize("size", LARGE)
def test_large_result_in_the_first_call(fills, size):
    program = f"""
import numpy as np, latewood
y = latewood.load({str(fills[size])!r})(np.float32(1))
assert y.shape == ({size // 4},) and (y == 1).all()
"""
    subprocess.run([sys.executable, "-c", program], check=True, env=os.environ)


def test_large_results_in_any_order(fills):
    kept = []
    for size in [*reversed(LARGE), *LARGE]:
        result = latewood.load(fills[size])(np.float32(1))
        kept = [*kept, result][-2:]
        assert all((each == 1).all() for each in kept)


def test_results_of_earlier_calls_stay(client):
    executable = latewood.compile(
        """
func.func public @main(%x: tensor<256xf32>) -> (tensor<256xf32>, tensor<2x2xf32>) {
  %0 = stablehlo.add %x, %x : tensor<256xf32>
  %1 = stablehlo.slice %x [0:4] : (tensor<256xf32>) -> tensor<4xf32>
  %2 = stablehlo.reshape %1 : (tensor<4xf32>) -> tensor<2x2xf32>
  return %0, %2 : tensor<256xf32>, tensor<2x2xf32>
}
"""
    )
    session = runtime.RuntimeSession(client, runtime.RuntimeSessionOptions(), executable)
    kept = {}

    def call(k: int) -> None:
        doubled, corner = session.execute_function("main", in_args=[np.full(256, k, np.float32)])
        kept[k] = (doubled, corner, np.asarray(doubled), np.asarray(corner))

    def check() -> None:
        addresses = set()
        for k, (_, _, doubled, corner) in kept.items():
            assert (doubled == 2 * k).all() and (corner == k).all()
            addresses |= {doubled.__array_interface__["data"][0], corner.__array_interface__["data"][0]}
        assert len(addresses) == 2 * len(kept)

    for k in range(50):
        call(k)
    check()
    for k in range(0, 50, 2):
        del kept[k]
    for k in range(50, 100):
        call(k)
    check()


def state() -> tuple[int, int, int]:
    """Bytes in memory, open files, threads."""
    gc.collect()
    resident = int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return resident, len(os.listdir("/proc/self/fd")), len(os.listdir("/proc/self/task"))


def test_no_growth_over_calls_and_sessions(client):
    """A loop, a constant of one MiB, and three results, one of rank 0 and one empty."""
    values = np.arange(1 << 18, dtype=np.float32)
    executable = latewood.compile(
        """
func.func public @main(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<f32>, tensor<0xi32>) {
  %c = stablehlo.constant dense<"0xHEX"> : tensor<262144xf32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %none = stablehlo.constant dense<> : tensor<0xi32>
  %head = stablehlo.slice %c [0:8] : (tensor<262144xf32>) -> tensor<8xf32>
  %last = stablehlo.slice %c [262143:262144] : (tensor<262144xf32>) -> tensor<1xf32>
  %scalar = stablehlo.reshape %last : (tensor<1xf32>) -> tensor<f32>
  %r:2 = stablehlo.while(%i = %zero, %v = %x) : tensor<i32>, tensor<8xf32>
   cond {
    %p = stablehlo.compare LT, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %w = stablehlo.add %v, %head : tensor<8xf32>
    %n = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %n, %w : tensor<i32>, tensor<8xf32>
  }
  return %r#1, %scalar, %none : tensor<8xf32>, tensor<f32>, tensor<0xi32>
}
""".replace("HEX", values.tobytes().hex().upper())
    )
    x = np.ones(8, np.float32)

    def calls(count: int) -> None:
        for _ in range(count):
            y, last, empty = executable(x)
        assert (y == 1 + 3 * values[:8]).all() and last == values[-1] and last.shape == () and empty.shape == (0,)

    def sessions(count: int) -> None:
        for _ in range(count):
            session = runtime.RuntimeSession(client, runtime.RuntimeSessionOptions(), executable)
            session.execute_function("main", in_args=[x])

    is_countable = "LD_PRELOAD" not in os.environ  # a sanitizer keeps what was released
    for work, number, limit in ((calls, 20000, 2 * MIB), (sessions, 500, 500 * 20000)):
        work(200)
        before = state()
        work(number)
        after = state()
        assert not is_countable or after[0] - before[0] < limit
        assert after[1:] == before[1:]


@pytest.mark.parametrize("rows", [3, 0])
def test_scalars_keep_rank_0(rows):
    executable = latewood.compile(
        f"""
func.func public @main(%x: tensor<{rows}x4xf32>) -> (tensor<i32>, tensor<f32>, tensor<1xf32>, tensor<i1>) {{
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<{rows}x4xf32>) -> tensor<i32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %t = stablehlo.constant dense<true> : tensor<i1>
  %s = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [0, 1] : (tensor<{rows}x4xf32>, tensor<f32>) -> tensor<f32>
  %c = stablehlo.reshape %s : (tensor<f32>) -> tensor<1xf32>
  return %n, %s, %c, %t : tensor<i32>, tensor<f32>, tensor<1xf32>, tensor<i1>
}}
"""
    )
    x = np.ones((rows, 4), np.float32)
    results = executable(x)
    assert [r.shape for r in results] == [(), (), (1,), ()]
    assert [r.dtype for r in results] == [np.int32, np.float32, np.float32, np.bool_]
    assert int(results[0]) == rows and float(results[1]) == 4 * rows and bool(results[3])
    signature = executable.get_signature("main")
    assert [len(signature.get_result(i).shape) for i in range(4)] == [0, 0, 1, 0]


def test_donating_twice(client):
    executable = latewood.compile(
        """
func.func public @main(%a: tensor<64xf32> {tf.aliasing_output = 0 : i32}, %b: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %0 = stablehlo.add %a, %b : tensor<64xf32>
  return %0, %a : tensor<64xf32>, tensor<64xf32>
}
"""
    )
    session = runtime.RuntimeSession(client, runtime.RuntimeSessionOptions(), executable)
    call = lambda *arguments: session.execute_function("main", in_args=list(arguments))  # noqa: E731
    new = lambda value: client.create_memref(np.full(64, value, np.float32))  # noqa: E731
    a, b = new(1), new(2)
    total, same = call(a, b)
    # The argument that is also a result is right, although its memory was given away.
    assert (np.asarray(total) == 3).all() and (np.asarray(same) == 1).all()
    # Again, and looking at it.
    with pytest.raises(errors.LatewoodError, match="donated"):
        call(a, b)
    with pytest.raises((errors.LatewoodError, ValueError, BufferError), match="donated"):
        np.asarray(a)
    # As the donated and as a plain argument of one call.
    c = new(4)
    with pytest.raises(errors.LatewoodError, match="donated.*shares its memory"):
        call(c, c)
    # A window that is looked through keeps what it shows.
    d = new(5)
    window = np.asarray(d)
    total, _ = call(d, b)
    assert (np.asarray(total) == 7).all() and (window == 5).all()
