# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs that run engines of TensorRT, end to end, on a stand-in for TensorRT's library (test/tensorrt): the compiler writes
each network as a program, the test compiles it for the CPU and puts it where the compiler looks for engines, and the
runtime's TensorRT module runs it through the vendor's interfaces. Engines are also built by the real builder, where there is
one (LATEWOOD_TENSORRT_BUILDER names TensorRT's library): it needs no GPU.

Skipped in builds that were not given TensorRT's headers."""

import ctypes
import os
import subprocess
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from conftest import BUILD, lower_text

import latewood

STAND_IN, CUDA = BUILD / "test" / "StandInTensorRT.so", BUILD / "test" / "StandInCUDA.so"
pytestmark = pytest.mark.skipif(
    not STAND_IN.exists(), reason="this build was not given TensorRT's headers (CMake option TENSORRT_ROOT)"
)
ENGINE_MARK = b"LATEWOOD TENSORRT ENGINE 1\n"


@pytest.fixture(scope="module")
def stand_in():
    """The runtime opens its libraries once: every test of this module uses the stand-ins."""
    os.environ["LATEWOOD_TENSORRT_LIBRARY"] = str(STAND_IN)
    os.environ["LATEWOOD_CUDART_LIBRARY"] = str(CUDA)
    library = ctypes.CDLL(str(STAND_IN))
    library.standin_behave(b"")
    yield library
    library.standin_behave(b"")


def options(folder: Path, *more: str) -> list[str]:
    return ["--engines=tensorrt,cpu", f"--tensorrt=engines={folder},export={folder}", *more]


def compile_with_engines(text: str, folder: Path, *more: str):
    """The executable, and how many engines it has."""
    with pytest.raises(latewood.CompilationError, match="has no builder"):
        latewood.compile(text, options(folder, *more))
    networks = sorted(folder.glob("*.mlir"))
    for network in networks:
        program = latewood.compile(network.read_text(), ["--input=tensorrt", "--engines=cpu"])
        program.save(network.with_suffix(".lwx"))
        engine = ENGINE_MARK + b"stand-in\nSTANDIN1" + network.with_suffix(".lwx").read_bytes()
        network.with_suffix(".engine").write_bytes(engine)
    return latewood.compile(text, options(folder, *more)), len(networks)


def check(function, *arguments, folder: Path, host: str = "native", tolerance: float = 1e-5):
    executable, engines = compile_with_engines(lower_text(function, *arguments), folder, f"--host={host}")
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


@pytest.mark.parametrize("host", ["native", "lua"])
class TestBothHosts:
    def test_one_result(self, stand_in, tmp_path, host):
        check(lambda x, w: jax.nn.relu(x @ w), normal(4, 8), normal(8, 3), folder=tmp_path, host=host)

    def test_several_results(self, stand_in, tmp_path, host):
        def function(x):
            y = jnp.tanh(x) * 2
            return y, y.sum(axis=1), jnp.exp(x)

        check(function, normal(4, 8), folder=tmp_path, host=host)

    def test_scalar_and_tensor(self, stand_in, tmp_path, host):
        check(lambda x: (x.sum(), x + 1), normal(4, 8), folder=tmp_path, host=host)

    def test_mixed_ranks(self, stand_in, tmp_path, host):
        check(lambda x: (x[0, 0, 0], x[0, 0], x[0], x, x.reshape(-1)), normal(2, 3, 4), folder=tmp_path, host=host)

    def test_result_written_into_the_callers_array(self, stand_in, tmp_path, host):
        x = normal(4, 8)
        executable = check(lambda x: jnp.exp(x) - 1, x, folder=tmp_path, host=host)
        client = latewood.runtime.RuntimeClient()
        session = latewood.runtime.RuntimeSession(client, latewood.runtime.RuntimeSessionOptions(), executable)
        out = client.create_memref(np.zeros((4, 8), np.float32))
        session.execute_function("main", in_args=[client.create_memref(x)], out_args=[out])
        np.testing.assert_allclose(np.asarray(out), np.exp(x) - 1, rtol=1e-5, atol=1e-5)


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


def test_file_without_the_library_says_what_is_missing(stand_in, tmp_path):
    x = normal(4, 8)
    check(lambda x: jnp.tanh(x) + 1, x, folder=tmp_path).save(tmp_path / "program.lwx")
    environment = dict(os.environ, LATEWOOD_TENSORRT_LIBRARY="/nowhere/libnvinfer.so")
    np.save(tmp_path / "x.npy", x)
    run = subprocess.run(
        [BUILD / "bin" / "latewood-run", tmp_path / "program.lwx", f"--input={tmp_path}/x.npy"],
        env=environment,
        capture_output=True,
        text=True,
    )
    assert run.returncode != 0
    assert "LATEWOOD_TENSORRT_LIBRARY" in run.stderr
    # It can still be looked at.
    look = subprocess.run(
        [BUILD / "bin" / "latewood-run", "--inspect", tmp_path / "program.lwx"],
        env=environment,
        capture_output=True,
        text=True,
    )
    assert look.returncode == 0
    assert "tensorrt" in look.stdout


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
