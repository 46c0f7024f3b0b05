# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls of host programs, native and as Lua source: what they launch, the contract of slots and sessions, donations, memory, and
whole models, which give the same on both hosts."""

import os
import resource
import threading

import models
import numpy as np
import pytest
from host_programs import HOSTS, build

from latewood import compiler, errors, runtime

# --- Launches ------------------------------------------------------------------------------------

ADD = """llvm.func @add(%call: !llvm.ptr, %a: !llvm.ptr, %b: !llvm.ptr, %c: !llvm.ptr, %w: !llvm.ptr) {
    %0 = llvm.load %a {alignment = 4 : i64} : !llvm.ptr -> vector<4xf32>
    %1 = llvm.load %b {alignment = 4 : i64} : !llvm.ptr -> vector<4xf32>
    %2 = llvm.fadd %0, %1 : vector<4xf32>
    llvm.store %2, %c {alignment = 4 : i64} : vector<4xf32>, !llvm.ptr
    llvm.return
  }"""


def test_launch(program):
    run = program(
        f"""module @cpu {{
  {ADD}
}}
func.func @main(%a: memref<4xf32>, %b: memref<4xf32>) attributes {{executor.results = [memref<4xf32>], executor.workspace_bytes = 16}} {{
  %0 = executor.request 0 : memref<4xf32>
  %t = executor.workspace at 0 : memref<4xf32>
  executor.launch @cpu::@add(%a, %b, %t) : memref<4xf32>, memref<4xf32>, memref<4xf32>
  executor.launch @cpu::@add(%t, %b, %0) : memref<4xf32>, memref<4xf32>, memref<4xf32>
  return
}}"""
    )
    a, b = np.arange(4, dtype=np.float32), np.full(4, 10, np.float32)
    np.testing.assert_array_equal(run(a, b)[0], a + b + b)


def test_launch_with_scalars_and_constants(program):
    run = program(
        """module @cpu {
  llvm.func @"mix.1"(%call: !llvm.ptr, %out: !llvm.ptr, %in: !llvm.ptr, %n: i64, %m: i32, %flag: i1, %w: !llvm.ptr) {
    %0 = llvm.load %in : !llvm.ptr -> i64
    %1 = llvm.sext %m : i32 to i64
    %2 = llvm.zext %flag : i1 to i64
    %3 = llvm.add %0, %n : i64
    %4 = llvm.add %3, %1 : i64
    %5 = llvm.add %4, %2 : i64
    llvm.store %5, %out : i64, !llvm.ptr
    llvm.return
  }
}
executor.constant @c = dense<[1000, 2000]> : tensor<2xi64>
func.func @main(%a: memref<?xi8>) attributes {executor.results = [memref<i64>, memref<2xi64>]} {
  %0 = executor.request 0 : memref<i64>
  %1 = executor.request 1 : memref<2xi64>
  %c = executor.get_constant @c : memref<2xi64>
  %n = executor.dim %a, 0 : memref<?xi8>
  %m = executor.scalar -7 : i32
  %t = executor.scalar true
  executor.launch @cpu::@"mix.1"(%0, %c, %n, %m, %t) : memref<i64>, memref<2xi64>, index, i32, i1
  executor.copy %c to %1 : memref<2xi64>
  return
}"""
    )
    got = run(np.zeros(50, np.int8))
    assert got[0] == 1000 + 50 - 7 + 1 and got[1].tolist() == [1000, 2000]


def test_hundreds_of_arguments_and_results(program):
    count = 300
    types = ", ".join(["memref<2xi32>"] * count)
    lines = [f"%{i} = executor.request {i} : memref<2xi32>" for i in range(count)]
    lines += [f"executor.copy %a{count - 1 - i} to %{i} : memref<2xi32>" for i in range(count)]
    lines.append(
        f"executor.launch @cpu::@last({', '.join(f'%a{i}' for i in range(count))}, %0) : {types}, memref<2xi32>"
    )
    arguments = ", ".join(f"%a{i}: memref<2xi32>" for i in range(count))
    pointers = ", ".join(f"%p{i}: !llvm.ptr" for i in range(count + 3))
    body = "\n  ".join(lines)
    run = program(
        f"""module @cpu {{
  llvm.func @last({pointers}) {{
    %0 = llvm.load %p{count} : !llvm.ptr -> i32
    %c = llvm.mlir.constant(1000 : i32) : i32
    %1 = llvm.add %0, %c : i32
    llvm.store %1, %p{count + 1} : i32, !llvm.ptr
    llvm.return
  }}
}}
func.func @main({arguments}) attributes {{executor.results = [{types}]}} {{
  {body}
  return
}}"""
    )
    arguments = [np.array([i, -i], np.int32) for i in range(count)]
    results = run(*arguments)
    assert results[0].tolist() == [count - 1 + 1000, 1 - count]
    for i in range(1, count):
        assert results[i].tolist() == arguments[count - 1 - i].tolist()


# --- The contract of calls, on both hosts --------------------------------------------------------

SWAP = """func.func @main(%a: memref<4xf32>, %b: memref<4xf32>) attributes {executor.results = [memref<4xf32>, memref<4xf32>]} {
  %0 = executor.request 0 : memref<4xf32>
  %1 = executor.request 1 : memref<4xf32>
  executor.copy %b to %0 : memref<4xf32>
  executor.copy %a to %1 : memref<4xf32>
  return
}"""


@pytest.mark.parametrize("host", HOSTS)
def test_swap_and_mixed_slots(program, client, host):
    run = program(SWAP)
    session = run.sessions[host]
    make = lambda *numbers: client.create_memref(np.array(numbers, np.float32))  # noqa: E731
    a, b = make(1, 2, 3, 4), make(5, 6, 7, 8)
    session.execute_function("main", in_args=[a, b], out_args=[a, b])
    assert np.asarray(a).tolist() == [5, 6, 7, 8] and np.asarray(b).tolist() == [1, 2, 3, 4]
    out = make(0, 0, 0, 0)
    results = session.execute_function("main", in_args=[a, b], out_args=[None, out])
    assert results[1].ptr == out.ptr and np.asarray(out).tolist() == [5, 6, 7, 8]
    assert np.asarray(results[0]).tolist() == [1, 2, 3, 4]
    kept = np.asarray(results[0])
    for _ in range(5):
        session.execute_function("main", in_args=[b, a])
    assert kept.tolist() == [1, 2, 3, 4]


def test_sessions_in_parallel(client):
    executable = build(
        """func.func @main(%a: memref<i64>) attributes {executor.results = [memref<i64>]} {
  %0 = executor.request 0 : memref<i64>
  %n = executor.load %a at 0 : memref<i64> to i64
  %none = executor.scalar 0 : i64
  %one = executor.scalar 1 : i64
  %r = scf.for %i = %none to %n step %one iter_args(%s = %none) -> (i64) : i64 {
    %t = executor.add %s, %i : i64
    scf.yield %t : i64
  }
  executor.store %r to %0 at 0 : i64 to memref<i64>
  return
}""",
        "lua",
    )
    wrong = []

    def work(seed):
        session = runtime.RuntimeSession(client, runtime.RuntimeSessionOptions(), executable)
        for n in range(seed, seed + 200):
            (result,) = session.execute_function("main", in_args=[client.create_memref(np.int64(n))])
            if np.asarray(result) != n * (n - 1) // 2:
                wrong.append(n)

    threads = [threading.Thread(target=work, args=(100 * i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


# --- Whole programs ------------------------------------------------------------------------------


@pytest.mark.parametrize("host", HOSTS)
def test_compiled_programs(client, host):
    options = compiler.StableHLOToExecutableOptions([f"--host={host}", "--target=x86-64-v3"])
    executable = compiler.CompilerClient().stablehlo_to_executable(
        """
func.func public @main(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<2xi32>, tensor<4xf32>) {
  %0 = stablehlo.add %a, %b : tensor<4xf32>
  %1 = stablehlo.constant dense<[3, 4]> : tensor<2xi32>
  return %0, %a, %0, %1, %b : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<2xi32>, tensor<4xf32>
}
func.func public @other(%a: tensor<i32>) -> tensor<i32> {
  return %a : tensor<i32>
}""",
        options,
    )
    session = runtime.RuntimeSession(client, runtime.RuntimeSessionOptions(), executable)
    a, b = np.arange(4, dtype=np.float32), np.full(4, 2, np.float32)
    arguments = [client.create_memref(array) for array in (a, b)]
    results = [np.asarray(result) for result in session.execute_function("main", in_args=arguments)]
    for result, expected in zip(results, [a + b, a, a + b, np.array([3, 4]), b], strict=True):
        np.testing.assert_array_equal(result, expected)
    (result,) = session.execute_function("other", in_args=[client.create_memref(np.int32(9))])
    assert np.asarray(result) == 9


@pytest.mark.parametrize("host", HOSTS)
def test_donation(client, host):
    """A donated argument gives its memory to the result where the program allows it, and is gone in any case."""
    options = compiler.StableHLOToExecutableOptions([f"--host={host}", "--target=x86-64-v3"])
    executable = compiler.CompilerClient().stablehlo_to_executable(
        """
func.func public @main(%a: tensor<4xf32> {tf.aliasing_output = 1 : i32}, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = stablehlo.add %a, %b : tensor<4xf32>
  return %0, %a : tensor<4xf32>, tensor<4xf32>
}""",
        options,
    )
    session = runtime.RuntimeSession(client, runtime.RuntimeSessionOptions(), executable)
    a, b = (client.create_memref(np.array(numbers, np.float32)) for numbers in ([1, 2, 3, 4], [10, 20, 30, 40]))
    address = a.ptr
    total, same = session.execute_function("main", in_args=[a, b])
    assert np.asarray(total).tolist() == [11, 22, 33, 44] and np.asarray(same).tolist() == [1, 2, 3, 4]
    assert same.ptr == address
    with pytest.raises(errors.LatewoodError, match="donated"):
        session.execute_function("main", in_args=[a, b])
    with pytest.raises(errors.LatewoodError, match="donated.*shares its memory"):
        session.execute_function("main", in_args=[b, b])
    total, same = session.execute_function("main", in_args=[same, b])
    assert np.asarray(total).tolist() == [11, 22, 33, 44]


@pytest.mark.parametrize("host", HOSTS)
def test_many_calls_need_no_more_memory(program, client, host):
    operands = ", ".join(["%a"] * 99 + ["%0"])
    types = ", ".join(["memref<4xf32>"] * 100)
    pointers = ", ".join(f"%p{i}: !llvm.ptr" for i in range(102))
    run = program(
        f"""module @cpu {{
  llvm.func @f({pointers}) {{
    %0 = llvm.load %p1 {{alignment = 4 : i64}} : !llvm.ptr -> vector<4xf32>
    llvm.store %0, %p100 {{alignment = 4 : i64}} : vector<4xf32>, !llvm.ptr
    llvm.return
  }}
}}
func.func @main(%a: memref<4xf32>) attributes {{executor.results = [memref<4xf32>]}} {{
  %0 = executor.request 0 : memref<4xf32>
  executor.launch @cpu::@f({operands}) : {types}
  return
}}"""
    )
    session, a = run.sessions[host], client.create_memref(np.arange(4, dtype=np.float32))

    def call(times):
        for _ in range(times):
            (result,) = session.execute_function("main", in_args=[a])
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, np.asarray(result).tolist()

    before, _ = call(2000)
    after, values = call(100_000)
    assert values == [0, 1, 2, 3]
    # A sanitizer (which a Python that is not built with it preloads) keeps what was released.
    assert after - before < 4096 or "LD_PRELOAD" in os.environ  # KiB


@pytest.mark.parametrize("name", ["mlp", "bert_small", "gpt2_block"])
def test_models_agree(name, client):
    model = getattr(models, name)()
    results = []
    for host in HOSTS:
        executable = compiler.CompilerClient().stablehlo_to_executable(model.text(), [f"--host={host}"])
        session = runtime.RuntimeSession(client, runtime.RuntimeSessionOptions(), executable)
        arguments = [client.create_memref(np.asarray(argument)) for argument in model.flat_arguments]
        results.append([np.asarray(r).tobytes() for r in session.execute_function("main", in_args=arguments)])
    assert results[0] == results[1]
