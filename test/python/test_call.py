# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls: arrays of any kind in and out, results allocated or written to the caller's arrays, streams, threads, lifetimes,
and what calls allocate."""

import gc
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import jax.numpy as jnp
import numpy as np
import pytest

import latewood
from latewood import InvalidArgumentError, runtime

A = np.arange(4, dtype=np.float32)
B = np.full(4, 10, np.float32)


def test_numpy_in_numpy_out(add):
    result = add(A, B)
    assert isinstance(result, np.ndarray) and result.dtype == np.float32
    np.testing.assert_array_equal(result, A + B)
    result[:] = 0  # it is the caller's


def test_jax_in_jax_out(add):
    result = add(jnp.asarray(A), B)
    assert isinstance(result, jnp.ndarray)
    np.testing.assert_array_equal(np.asarray(result), A + B)


def test_other_arrays(add, client):
    import array

    for a in (memoryview(A), array.array("f", [0, 1, 2, 3]), client.create_memref(A)):
        np.testing.assert_array_equal(add(a, B), A + B)


def test_strided_arrays_are_copied(add):
    wide = np.repeat(A, 3)
    np.testing.assert_array_equal(add(wide[::3], B[::-1]), A + B)


def test_several_results(pair):
    a = np.arange(6, dtype=np.float32).reshape(2, 3)
    b = np.ones((2, 3), np.float32)
    total, same, difference = pair(a, b)
    np.testing.assert_array_equal(total, a + b)
    np.testing.assert_array_equal(same, b)
    np.testing.assert_array_equal(difference, a - b)
    assert same.ctypes.data != b.ctypes.data


def test_numbers_for_rank_0():
    executable = latewood.compile(
        """
func.func public @main(%a: tensor<f32>, %b: tensor<i32>) -> (tensor<f32>, tensor<i32>) {
  %0 = stablehlo.add %a, %a : tensor<f32>
  %1 = stablehlo.multiply %b, %b : tensor<i32>
  return %0, %1 : tensor<f32>, tensor<i32>
}
"""
    )
    client = runtime.default_client()
    for a, b in (
        (1.5, 3),
        (np.float32(1.5), np.int32(3)),
        (client.create_scalar(1.5, "f32"), client.create_scalar(3, "i32")),
    ):
        x, y = executable(a, b)
        assert x.shape == () and x == 3 and y == 9
    with pytest.raises(InvalidArgumentError, match="whole number"):
        executable(1.5, 3.5)


def test_several_functions():
    executable = latewood.compile(
        """
func.func public @twice(%a: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.add %a, %a : tensor<2xf32>
  return %0 : tensor<2xf32>
}
func.func public @square(%a: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.multiply %a, %a : tensor<2xf32>
  return %0 : tensor<2xf32>
}
"""
    )
    assert sorted(executable.functions) == ["square", "twice"]
    x = np.array([3, 4], np.float32)
    np.testing.assert_array_equal(executable(x, function="twice"), 2 * x)
    np.testing.assert_array_equal(executable(x, function="square"), x * x)
    with pytest.raises(latewood.NotFoundError, match="square"):
        executable(x)


def test_signature(pair):
    signature = pair.get_signature("main")
    assert signature.name == "main"
    assert (signature.get_num_args(), signature.get_num_results(), signature.get_num_output_args()) == (2, 3, 3)
    assert signature.get_arg(0) == runtime.MemRefType.get((2, 3), "f32") == signature.get_result(2)
    assert signature.get_arg_bound(1).max() == [2, 3] == signature.get_res_bound(0).min()
    assert signature.get_shape_func_name() is None
    assert str(signature).startswith("main(")
    with pytest.raises(IndexError):
        signature.get_arg(2)


def test_allocated_results(session):
    (result,) = session.execute_function("main", in_args=[A, B])
    assert isinstance(result, runtime.MemRefValue)
    assert result.ptr % 64 == 0
    np.testing.assert_array_equal(np.asarray(result), A + B)


def test_results_written_to_arrays(session, client):
    for out in (np.zeros(4, np.float32), client.create_memref((4,), "f32")):
        (result,) = session.execute_function("main", in_args=[A, B], out_args=[out])
        np.testing.assert_array_equal(np.asarray(out), A + B)
        assert result.ptr == (out.ptr if hasattr(out, "ptr") else out.ctypes.data)


def test_each_result_on_its_own(pair, client):
    session = runtime.RuntimeSession(client, runtime.RuntimeSessionOptions(), pair)
    a, b = np.full((2, 3), 5, np.float32), np.full((2, 3), 2, np.float32)
    out = np.zeros((2, 3), np.float32)
    results = session.execute_function("main", in_args=[a, b], out_args=[None, out, None])
    assert results[1].ptr == out.ctypes.data
    np.testing.assert_array_equal(out, b)
    np.testing.assert_array_equal(np.asarray(results[0]), a + b)
    np.testing.assert_array_equal(np.asarray(results[2]), a - b)


def test_output_that_is_an_input(session):
    a = A.copy()
    session.execute_function("main", in_args=[a, B], out_args=[a])
    np.testing.assert_array_equal(a, A + B)


def test_swap():
    executable = latewood.compile(
        """
func.func public @main(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  return %b, %a : tensor<4xf32>, tensor<4xf32>
}
"""
    )
    a, b = A.copy(), B.copy()
    session = runtime.RuntimeSession(executable)
    session.execute_function("main", in_args=[a, b], out_args=[a, b])
    np.testing.assert_array_equal(a, B)
    np.testing.assert_array_equal(b, A)


def test_streams(session, client):
    stream = client.create_stream()

    class Like:
        ptr = stream.ptr

    for given in (stream, stream.ptr, Like(), client.get_devices()[0].stream, 0, None):
        (result,) = session.execute_function("main", in_args=[A, B], stream=given)
        np.testing.assert_array_equal(np.asarray(result), A + B)
    stream.sync()


def test_calls_on_a_stream_return_at_once(client):
    """Looking at a result waits for it; an array of the caller is complete after sync."""
    import jax

    x = np.random.default_rng(0).standard_normal((512, 512)).astype(np.float32)
    executable = latewood.compile(jax.jit(lambda x: x @ x @ x @ x).lower(x))
    session = runtime.RuntimeSession(client, runtime.RuntimeSessionOptions(), executable)
    expected = executable(x)
    stream = client.create_stream()
    out = np.zeros_like(x)
    pending = [session.execute_function("main", [x], stream=stream)[0] for _ in range(10)]
    session.execute_function("main", [x], [out], stream=stream)
    np.testing.assert_array_equal(np.asarray(pending[9]), expected)
    np.testing.assert_array_equal(np.from_dlpack(pending[0]), expected)
    pending[1].wait()
    assert pending[1].is_ready()
    stream.sync()
    np.testing.assert_array_equal(out, expected)


def test_dropping_a_stream_waits_for_its_work(client):
    """The work gives Python objects back on the stream's own thread while the last reference waits for it."""
    import jax

    x = np.random.default_rng(0).standard_normal((256, 256)).astype(np.float32)
    session = runtime.RuntimeSession(latewood.compile(jax.jit(lambda x: x @ x @ x).lower(x)))
    for _ in range(5):
        stream = client.create_stream()
        results = [session.execute_function("main", [x.copy()], stream=stream)[0] for _ in range(20)]
        del stream
        assert all(result.is_ready() for result in results)


def test_older_session_form(add, client):
    session = runtime.RuntimeSession(runtime.RuntimeSessionOptions(num_devices=1, device_id=0), add)
    (result,) = session.execute_function("main", in_args=[A, B], client=client)
    np.testing.assert_array_equal(np.asarray(result), A + B)


def test_results_outlive_everything(add_text):
    executable = latewood.compile(add_text)
    session = runtime.RuntimeSession(runtime.RuntimeClient(), runtime.RuntimeSessionOptions(), executable)
    (result,) = session.execute_function("main", in_args=[A, B])
    array = np.asarray(result)
    del executable, session, result
    gc.collect()
    np.testing.assert_array_equal(array, A + B)


def test_session_keeps_its_executable(add_text):
    session = runtime.RuntimeSession(latewood.compile(add_text))
    gc.collect()
    (result,) = session.execute_function("main", in_args=[A, B])
    np.testing.assert_array_equal(np.asarray(result), A + B)


def test_results_are_not_reused_while_held(add):
    held = [add(A, np.full(4, i, np.float32)) for i in range(50)]
    for i, array in enumerate(held):
        np.testing.assert_array_equal(array, A + i)


def test_equal_calls_take_nothing_from_the_system(add, client):
    session = runtime.RuntimeSession(client, runtime.RuntimeSessionOptions(), add)
    out = np.zeros(4, np.float32)
    for _ in range(3):
        session.execute_function("main", in_args=[A, B])
        session.execute_function("main", in_args=[A, B], out_args=[out])
    before = session.statistics()
    for _ in range(100):
        session.execute_function("main", in_args=[A, B])
        session.execute_function("main", in_args=[A, B], out_args=[out])
    after = session.statistics()
    assert after["calls"] - before["calls"] == 200
    assert after["system"]["allocations"] == before["system"]["allocations"]
    assert after["results"]["count"] - before["results"]["count"] == 100
    assert after["staging"]["count"] == after["temporaries"]["count"] == 0


@pytest.mark.parametrize("name", ["gelu", "softmax"])
def test_memory_bound_programs_allocate_only_results(name):
    import jax

    function = {"gelu": lambda x: jax.nn.gelu(x, approximate=True), "softmax": lambda x: jax.nn.softmax(x, axis=-1)}[
        name
    ]
    x = np.random.default_rng(0).standard_normal((256, 1024)).astype(np.float32)
    session = runtime.RuntimeSession(latewood.compile(jax.jit(function).lower(x)))
    out = np.empty_like(x)
    session.execute_function("main", in_args=[x], out_args=[out])
    statistics = session.statistics()
    assert statistics["workspace_bytes"] == 0
    for purpose in ("results", "temporaries", "staging"):
        assert statistics[purpose]["count"] == 0
    np.testing.assert_allclose(out, np.asarray(jax.jit(function)(x)), rtol=1e-5, atol=1e-6)


def test_threads_share_an_executable(add):
    def work(i):
        b = np.full(4, i, np.float32)
        return all((add(A, b) == A + b).all() for _ in range(200))

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(16)))


def test_threads_share_a_session(session):
    failures = []

    def work(i):
        b = np.full(4, i, np.float32)
        for _ in range(200):
            (result,) = session.execute_function("main", in_args=[A, b])
            if not (np.asarray(result) == A + b).all():
                failures.append(i)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_a_forked_child_calls_and_compiles(add_text, build):
    """In a process of its own, without JAX, whose threads a fork would leave behind."""
    program = f"""
import os, signal
import latewood, numpy as np
from latewood import runtime

executable = latewood.compile({add_text!r})
a, x = np.arange(4, dtype=np.float32), np.zeros((1024, 1024), np.float32)
loop = latewood.compile({add_text!r}.replace("4xf32", "1024x1024xf32"))
assert loop(x, x + 1).sum() == x.size
stream = runtime.RuntimeClient().create_stream()
session = runtime.RuntimeSession(executable)
session.execute_function("main", [a, a], stream=stream)
stream.sync()
child = os.fork()
if child == 0:
    signal.alarm(60)
    code = 1
    try:
        assert (executable(a, a) == a + a).all() and loop(x, x + 2).sum() == 2 * x.size
        assert (latewood.compile({add_text!r})(a, a) == a + a).all()
        try:
            session.execute_function("main", [a, a], stream=stream)
        except latewood.FailedPreconditionError:
            code = 0
    finally:
        os._exit(code)
assert os.waitpid(child, 0)[1] == 0
assert (executable(a, a) == a + a).all()
"""
    environment = {**os.environ, "PYTHONPATH": str(build / "python")}
    subprocess.run([sys.executable, "-c", program], env=environment, check=True, timeout=120)


def test_number_of_threads_does_not_change_results():
    import jax

    x = np.random.default_rng(1).standard_normal((512, 700)).astype(np.float32)
    executable = latewood.compile(jax.jit(lambda x: (jax.nn.softmax(x @ x.T), x.sum(0), x.sum())).lower(x))
    results = []
    for threads in (1, 2, 5):
        session = runtime.RuntimeSession(
            runtime.RuntimeClient(num_threads=threads), runtime.RuntimeSessionOptions(), executable
        )
        results.append([np.asarray(r).copy() for r in session.execute_function("main", in_args=[x])])
    for other in results[1:]:
        for first, second in zip(results[0], other, strict=True):
            np.testing.assert_array_equal(first, second)


def test_calls_give_their_arguments_back(session):
    a, b, out = A.copy(), B.copy(), np.zeros(4, np.float32)
    before = [sys.getrefcount(x) for x in (a, b, out)]
    for _ in range(10):
        session.execute_function("main", in_args=[a, b], out_args=[out])
        for wrong in ([a], [a, b[:2]], [a, "b"]):
            with pytest.raises(InvalidArgumentError):
                session.execute_function("main", in_args=wrong, out_args=[out])
    del wrong
    assert [sys.getrefcount(x) for x in (a, b, out)] == before


def test_calls_leak_nothing(add, session):
    def resident() -> int:
        return int(open("/proc/self/statm").read().split()[1]) * 4096

    def work(count):
        for _ in range(count):
            add(A, B)
            session.execute_function("main", in_args=[A, B])
            with pytest.raises(InvalidArgumentError):
                add(A)

    work(2000)
    gc.collect()
    before = resident()
    work(20000)
    gc.collect()
    # One lost object of 100 bytes in each round would be 2 MB.
    assert resident() - before < 1 << 20


def test_statistics_of_a_session(session):
    for _ in range(3):
        session.execute_function("main", in_args=[A, B])
    with pytest.raises(InvalidArgumentError):
        session.execute_function("main", in_args=[A])
    statistics = session.statistics()
    assert statistics["calls"] == 3 and statistics["argument_bytes"] == 3 * (A.nbytes + B.nbytes)
    assert statistics["result_bytes"] == statistics["results"]["bytes"] == 3 * A.nbytes
    assert 0 < statistics["longest_call_nanoseconds"] <= statistics["call_nanoseconds"]
    assert statistics["system"]["peak_bytes"] >= A.nbytes
