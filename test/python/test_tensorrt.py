# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs that run engines of TensorRT, end to end, on a stand-in for TensorRT's library (test/tensorrt): the compiler writes
each network as a program, the test compiles it for the CPU and puts it where the compiler looks for engines, and the
runtime's TensorRT module runs it through the vendor's interfaces. Engines are also built by the real builder, where there is
one (LATEWOOD_TENSORRT_BUILDER names TensorRT's library): it needs no GPU.

Skipped in builds that were not given TensorRT's headers."""

import ctypes
import gc
import itertools
import os
import subprocess
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from conftest import BUILD, lower_text
from tensorrt_stand_in import CUDA, make_engine, needs_stand_in, open_stand_in

import latewood

pytestmark = needs_stand_in


@pytest.fixture(scope="module")
def stand_in():
    library = open_stand_in()
    library.standin_behave(b"")
    yield library
    library.standin_behave(b"")


def options(folder: Path, *more: str, allocate: bool = False) -> list[str]:
    parts = f"engines={folder},export={folder}" + (",allocate" if allocate else "")
    return ["--engines=tensorrt,cpu", f"--tensorrt={parts}", *more]


def compile_with_engines(text: str, folder: Path, *more: str, allocate: bool = False):
    """The executable, and how many engines it has. With `allocate` engines allocate their results, also where extents are
    known before."""
    with pytest.raises(latewood.CompilationError, match="has no builder"):
        latewood.compile(text, options(folder, *more, allocate=allocate))
    networks = sorted(folder.glob("*.mlir"))
    for network in networks:
        make_engine(network)
    return latewood.compile(text, options(folder, *more, allocate=allocate)), len(networks)


def check(function, *arguments, folder: Path, host: str = "native", allocate: bool = False, tolerance: float = 1e-5):
    text = lower_text(function, *arguments)
    executable, engines = compile_with_engines(text, folder, f"--host={host}", allocate=allocate)
    assert engines >= 1
    got = executable(*arguments)
    got = got if isinstance(got, tuple) else (got,)
    expected = jax.tree.leaves(jax.jit(function)(*arguments))
    assert len(got) == len(expected)
    for mine, theirs in zip(got, expected, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=tolerance, atol=tolerance)
    return executable


def normal(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def open_session(executable):
    client = latewood.runtime.RuntimeClient()
    return client, latewood.runtime.RuntimeSession(client, latewood.runtime.RuntimeSessionOptions(), executable)


both_conventions = pytest.mark.parametrize("allocate", [False, True], ids=["given", "allocated"])
both_hosts = pytest.mark.parametrize("host", ["native", "lua"])


@both_hosts
@both_conventions
class TestBothConventions:
    def test_one_result(self, stand_in, tmp_path, host, allocate):
        check(
            lambda x, w: jax.nn.relu(x @ w), normal(4, 8), normal(8, 3), folder=tmp_path, host=host, allocate=allocate
        )

    def test_several_results(self, stand_in, tmp_path, host, allocate):
        def function(x):
            y = jnp.tanh(x) * 2
            return y, y.sum(axis=1), jnp.exp(x)

        check(function, normal(4, 8), folder=tmp_path, host=host, allocate=allocate)

    def test_scalar_and_tensor(self, stand_in, tmp_path, host, allocate):
        check(lambda x: (x.sum(), x + 1), normal(4, 8), folder=tmp_path, host=host, allocate=allocate)

    def test_mixed_ranks(self, stand_in, tmp_path, host, allocate):
        check(
            lambda x: (x[0, 0, 0], x[0, 0], x[0], x, x.reshape(-1)),
            normal(2, 3, 4),
            folder=tmp_path,
            host=host,
            allocate=allocate,
        )

    def test_result_written_into_the_callers_array(self, stand_in, tmp_path, host, allocate):
        x = normal(4, 8)
        executable = check(lambda x: jnp.exp(x) - 1, x, folder=tmp_path, host=host, allocate=allocate)
        client, session = open_session(executable)
        out = client.create_memref(np.zeros((4, 8), np.float32))
        session.execute_function("main", in_args=[client.create_memref(x)], out_args=[out])
        np.testing.assert_allclose(np.asarray(out), np.exp(x) - 1, rtol=1e-5, atol=1e-5)

    def test_lengths_that_change(self, stand_in, tmp_path, host, allocate):
        exported = jax.export.export(jax.jit(lambda x: (jnp.tanh(x), x.sum(axis=0), (x * 2).reshape(-1))))(
            jax.ShapeDtypeStruct(jax.export.symbolic_shape("n, 3"), np.float32)
        )
        executable, _ = compile_with_engines(
            exported.mlir_module(), tmp_path, f"--host={host}", "--bounds=0:0=1:16:4096", allocate=allocate
        )
        for length in (1, 7, 4096, 2, 2, 100):
            x = normal(length, 3, seed=length)
            for mine, theirs in zip(executable(x), (np.tanh(x), x.sum(axis=0), (x * 2).reshape(-1)), strict=True):
                np.testing.assert_allclose(mine, theirs, rtol=1e-4, atol=1e-4)


# --- Networks in the tensorrt dialect: results whose shape depends on data, and engines that feed engines -----------------

FOUND = """func.func @main(%x: tensor<4x6xi1>) -> tensor<2x?xi32> {
  %0 = tensorrt.non_zero %x : (tensor<4x6xi1>) -> tensor<2x?xi32>
  return %0 : tensor<2x?xi32>
}"""

NETWORKS = """
tensorrt.module @networks {
  func.func @found(%x: tensor<4x6xi1>) -> tensor<2x?xi32> {
    %0 = tensorrt.non_zero %x : (tensor<4x6xi1>) -> tensor<2x?xi32>
    return %0 : tensor<2x?xi32>
  }
  func.func @negated(%x: tensor<2x?xi32> {plan.bounds = #plan.bounds<min = [2, 0], opt = [2, 4], max = [2, 24]>}) -> tensor<2x?xi32> {
    %0 = tensorrt.unary %x {unaryOperation = #tensorrt<unary_operation kNEG>} : (tensor<2x?xi32>) -> tensor<2x?xi32>
    return %0 : tensor<2x?xi32>
  }
  func.func @exp(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = tensorrt.unary %x {unaryOperation = #tensorrt<unary_operation kEXP>} : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
"""

FEEDING = (
    NETWORKS
    + """
func.func @main(%x: tensor<4x6xi1>) -> (tensor<2x?xi32>, tensor<2x?xi32>) {
  %0 = tensorrt.call_alloc @networks::@found(%x) : (tensor<4x6xi1>) -> tensor<2x?xi32>
  %1 = tensorrt.call_alloc @networks::@negated(%0) : (tensor<2x?xi32>) -> tensor<2x?xi32>
  %2 = tensorrt.call_alloc @networks::@negated(%1) : (tensor<2x?xi32>) -> tensor<2x?xi32>
  %3 = stablehlo.add %2, %2 : tensor<2x?xi32>
  return %2, %3 : tensor<2x?xi32>, tensor<2x?xi32>
}"""
)

GIVEN = (
    NETWORKS
    + """
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %0 = tensorrt.call @networks::@exp(%x) outs(%e) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = tensorrt.call @networks::@exp(%0) outs(%e) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}"""
)

BEHAVIOURS = ["", "late", "twice", "shrink", "zero", "zero,twice,shrink,late"]


def masks():
    """Nothing, everything, and something."""
    generator = np.random.default_rng(0)
    return [np.zeros((4, 6), bool), np.ones((4, 6), bool), *(generator.random((5, 4, 6)) < 0.4)]


@both_hosts
class TestNetworks:
    @pytest.mark.parametrize("behaviour", BEHAVIOURS)
    def test_shape_that_depends_on_data(self, stand_in, tmp_path, host, behaviour):
        executable, engines = compile_with_engines(FOUND, tmp_path, "--input=tensorrt", f"--host={host}")
        assert engines == 1
        stand_in.standin_behave(behaviour.encode())
        client, session = open_session(executable)
        for mask in masks():
            expected = np.stack(np.nonzero(mask)).astype(np.int32)
            np.testing.assert_array_equal(executable(mask), expected)
            # Into the caller's array, of the right size, and of another one.
            out = client.create_memref(np.full(expected.shape, 7, np.int32))
            session.execute_function("main", in_args=[client.create_memref(mask)], out_args=[out])
            np.testing.assert_array_equal(np.asarray(out), expected)
            small = client.create_memref(np.full((2, expected.shape[1] + 1), 7, np.int32))
            with pytest.raises(latewood.LatewoodError, match="shape"):
                session.execute_function("main", in_args=[client.create_memref(mask)], out_args=[small])
        stand_in.standin_behave(b"")

    @pytest.mark.parametrize("behaviour", ["", BEHAVIOURS[-1]])
    def test_engine_feeds_engine(self, stand_in, tmp_path, host, behaviour):
        executable, engines = compile_with_engines(FEEDING, tmp_path, "--input=tensorrt", f"--host={host}")
        # The three that the program has, and one for what is left of it.
        assert engines == 4
        stand_in.standin_behave(behaviour.encode())
        client, session = open_session(executable)
        for mask in masks():
            expected = np.stack(np.nonzero(mask)).astype(np.int32)
            before = session.statistics()["engines"]
            one, two = session.execute_function("main", in_args=[client.create_memref(mask)])
            after = session.statistics()["engines"]
            np.testing.assert_array_equal(np.asarray(one), expected)
            np.testing.assert_array_equal(np.asarray(two), 2 * expected)
            assert after["runs"] - before["runs"] == 4
            # The mask went to the device, and the first result, which is the caller's; only results came back.
            assert after["uploaded_bytes"] - before["uploaded_bytes"] == mask.nbytes + expected.nbytes
            assert after["downloaded_bytes"] - before["downloaded_bytes"] == 2 * expected.nbytes
        stand_in.standin_behave(b"")

    def test_engine_feeds_engine_in_destination_style(self, stand_in, tmp_path, host):
        executable, _ = compile_with_engines(GIVEN, tmp_path, "--input=tensorrt", f"--host={host}")
        client, session = open_session(executable)
        x = normal(4)
        (result,) = session.execute_function("main", in_args=[client.create_memref(x)])
        np.testing.assert_allclose(np.asarray(result), np.exp(np.exp(x)), rtol=1e-5)
        engines = session.statistics()["engines"]
        assert (engines["uploads"], engines["downloads"], engines["runs"]) == (1, 1, 2)

    def test_failures_in_the_middle(self, stand_in, tmp_path, host):
        executable, _ = compile_with_engines(FEEDING, tmp_path, "--input=tensorrt", f"--host={host}")
        mask = masks()[3]
        expected = np.stack(np.nonzero(mask)).astype(np.int32)
        for behaviour, message in (
            ("fail", "the engine fails, as it was told to"),
            ("mute", "gave no shape of out0"),
            ("wrong", "expected 2 dimensions"),
        ):
            stand_in.standin_behave(behaviour.encode())
            with pytest.raises(latewood.LatewoodError, match=message):
                executable(mask)
            stand_in.standin_behave(b"")
            np.testing.assert_array_equal(executable(mask)[0], expected)


def test_ten_thousand_calls_with_changing_lengths(stand_in, tmp_path):
    executable, _ = compile_with_engines(FEEDING, tmp_path, "--input=tensorrt")
    client, session = open_session(executable)
    cuda = ctypes.CDLL(str(CUDA))
    cuda.standin_live_bytes.restype = ctypes.c_int64
    arguments = [(client.create_memref(mask), int(mask.sum())) for mask in masks()]

    def call(number):
        argument, count = arguments[number % len(arguments)]
        one, _ = session.execute_function("main", in_args=[argument])
        assert np.asarray(one).shape == (2, count)

    for number in range(2 * len(arguments)):
        call(number)
    live = cuda.standin_live_bytes()
    before = session.statistics()["system"]["live_bytes"]
    for number in range(10_000):
        call(number)
    assert cuda.standin_live_bytes() == live
    assert session.statistics()["system"]["live_bytes"] <= before


def test_results_outlive_everything_in_every_order(stand_in, tmp_path):
    executable, _ = compile_with_engines(FEEDING, tmp_path, "--input=tensorrt")
    mask = masks()[3]
    expected = np.stack(np.nonzero(mask)).astype(np.int32)
    path = tmp_path / "program.lwx"
    executable.save(path)
    for order in itertools.permutations(["client", "session", "executable", "one"]):
        held = {"executable": latewood.load(path)}
        held["client"], held["session"] = open_session(held["executable"])
        held["one"], two = held["session"].execute_function("main", in_args=[held["client"].create_memref(mask)])
        array = np.asarray(two)
        for name in order:
            del held[name]
            gc.collect()
            np.testing.assert_array_equal(array, 2 * expected)
        del two
        np.testing.assert_array_equal(array, 2 * expected)


def test_many_calls_do_not_grow(stand_in, tmp_path):
    x = normal(4, 8)
    executable = check(lambda x: jnp.tanh(x) + 1, x, folder=tmp_path)
    cuda = ctypes.CDLL(str(CUDA))
    cuda.standin_live_bytes.restype = ctypes.c_int64
    executable(x)
    before = cuda.standin_live_bytes()
    for _ in range(1000):
        executable(x)
    assert cuda.standin_live_bytes() == before


def test_results_outlive_everything(stand_in, tmp_path):
    x = normal(4, 8)
    executable = check(lambda x: jnp.tanh(x) + 1, x, folder=tmp_path)
    result = executable(x)
    del executable
    np.testing.assert_allclose(result, np.tanh(x) + 1, rtol=1e-5)


def test_failing_engine_is_an_error_and_the_next_call_works(stand_in, tmp_path):
    x = normal(4, 8)
    executable = check(lambda x: jnp.tanh(x) + 1, x, folder=tmp_path)
    stand_in.standin_behave(b"fail")
    try:
        with pytest.raises(latewood.LatewoodError, match="the engine fails, as it was told to"):
            executable(x)
    finally:
        stand_in.standin_behave(b"")
    np.testing.assert_allclose(executable(x), np.tanh(x) + 1, rtol=1e-5)


def run_file(path: Path, *arguments: str, **environment: str):
    return subprocess.run(
        [BUILD / "bin" / "latewood-run", *arguments, path],
        env=dict(os.environ, **environment),
        capture_output=True,
        text=True,
    )


def test_file_without_the_library_says_what_is_missing(stand_in, tmp_path):
    x = normal(4, 8)
    path = tmp_path / "program.lwx"
    check(lambda x: jnp.tanh(x) + 1, x, folder=tmp_path).save(path)
    np.save(tmp_path / "x.npy", x)
    argument = f"--input={tmp_path}/x.npy"
    assert run_file(path, argument).returncode == 0
    for environment, message in (
        ({"LATEWOOD_TENSORRT_LIBRARY": "/nowhere/libnvinfer.so"}, "LATEWOOD_TENSORRT_LIBRARY"),
        ({"LATEWOOD_CUDART_LIBRARY": "/nowhere/libcudart.so"}, "LATEWOOD_CUDART_LIBRARY"),
        ({"STANDIN_CUDA": "no-driver"}, "install NVIDIA's driver"),
        ({"STANDIN_CUDA": "no-device"}, "CUDA_VISIBLE_DEVICES"),
        ({"STANDIN_TENSORRT_VERSION": "100300"}, "too old: TensorRT 10.3.0"),
        ({"LATEWOOD_TENSORRT_PLUGINS": "/nowhere/plugins.so"}, "LATEWOOD_TENSORRT_PLUGINS"),
    ):
        run = run_file(path, argument, **environment)
        assert run.returncode != 0
        assert message in run.stderr
        # It can still be looked at.
        look = run_file(path, "--inspect", **environment)
        assert look.returncode == 0
        assert "tensorrt" in look.stdout


@pytest.mark.parametrize("damage", ["cut", "flipped", "empty"])
def test_damaged_engine_is_an_error(stand_in, tmp_path, damage):
    text = lower_text(lambda x: jnp.tanh(x) + 1, normal(4, 8))
    compile_with_engines(text, tmp_path)
    (file,) = tmp_path.glob("*.engine")
    head, version, engine = file.read_bytes().split(b"\n", 2)
    middle = len(engine) // 2
    engine = {
        "cut": engine[:middle],
        "flipped": bytes([engine[0] ^ 255]) + engine[1:],
        "empty": b"",
    }[damage]
    file.write_bytes(b"\n".join([head, version, engine]))
    with pytest.raises(latewood.LatewoodError, match="engine 'main_cluster_0'"):
        latewood.compile(text, options(tmp_path))(normal(4, 8))


def test_engine_of_the_other_library_is_an_error(stand_in, tmp_path):
    text = lower_text(lambda x: jnp.tanh(x) + 1, normal(4, 8))
    compile_with_engines(text, tmp_path)
    (file,) = tmp_path.glob("*.engine")
    file.write_bytes(file.read_bytes().replace(b"\nstand-in\n", b"\nTensorRT-RTX 1.7.1\n", 1))
    with pytest.raises(latewood.LatewoodError, match="was made by TensorRT-RTX 1.7.1, and cannot be run by TensorRT"):
        latewood.compile(text, options(tmp_path))(normal(4, 8))


# --- The real builder --------------------------------------------------------------------------------------------------

BUILDER = os.environ.get("LATEWOOD_TENSORRT_BUILDER")


@pytest.mark.skipif(not BUILDER, reason="LATEWOOD_TENSORRT_BUILDER does not name TensorRT's library")
class TestBuilder:
    def build(self, text: str, folder: Path, *more: str):
        (folder / "program.mlir").write_text(text)
        return subprocess.run(
            [
                BUILD / "bin" / "latewood-compile",
                folder / "program.mlir",
                "--engines=tensorrt,cpu",
                f"--tensorrt=engines={folder}",
                *more,
                "-o",
                folder / "program.lwx",
            ],
            env=dict(os.environ, LATEWOOD_TENSORRT_LIBRARY=BUILDER),
            capture_output=True,
            text=True,
        )

    def test_static_program(self, tmp_path):
        text = lower_text(lambda x, w: jax.nn.relu(x @ w), normal(4, 8), normal(8, 3))
        run = self.build(text, tmp_path)
        assert run.returncode == 0, run.stderr
        engines = list(tmp_path.glob("*.engine"))
        assert len(engines) == 1
        # The second time it comes from the folder.
        written = engines[0].stat().st_mtime_ns
        assert self.build(text, tmp_path).returncode == 0
        assert engines[0].stat().st_mtime_ns == written

    def test_dynamic_program(self, tmp_path):
        symbols = jax.export.symbolic_shape("n, 8")
        exported = jax.export.export(jax.jit(lambda x, w: jax.nn.softmax(x @ w)))(
            jax.ShapeDtypeStruct(symbols, np.float32), jax.ShapeDtypeStruct((8, 3), np.float32)
        )
        run = self.build(exported.mlir_module(), tmp_path, "--bounds=0:0=1:16:64")
        assert run.returncode == 0, run.stderr
        assert list(tmp_path.glob("*.engine"))
