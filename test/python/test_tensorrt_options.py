# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How engines of TensorRT are made: each part of `--tensorrt=` with the real builder (LATEWOOD_TENSORRT_BUILDER names its library; no GPU is
needed), and engines without weights with a stand-in for the library (test/tensorrt), which is given them when it loads such an engine."""

import ctypes
import os
import pty
import subprocess

import jax.numpy as jnp
import numpy as np
import pytest
from conftest import BUILD, lower_text
from tensorrt_builder import LIBRARY, MISSING, Builder
from tensorrt_stand_in import make_engine, needs_stand_in, open_stand_in

import latewood

RELU = """func.func @{name}(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {{
  %r = tensorrt.activation %x {{activationType = #tensorrt<activation_type kRELU>}} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}}"""


def normal(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


@pytest.fixture(scope="module")
def builder():
    builder = Builder()
    yield builder
    builder.close()


@pytest.mark.skipif(not LIBRARY, reason=MISSING)
class TestBuilder:
    def compile(self, folder, text, tensorrt="", *options, **popen):
        (folder / "program.mlir").write_text(text)
        command = [BUILD / "bin" / "latewood-compile", folder / "program.mlir", "--engines=tensorrt,cpu"]
        command += [f"--tensorrt={tensorrt}"] if tensorrt else []
        environment = dict(os.environ, LATEWOOD_TENSORRT_LIBRARY=LIBRARY)
        return subprocess.run(
            [*command, *options, "-o", folder / "program.lwx"],
            env=environment,
            text=True,
            **({"capture_output": True} | popen),
        )

    @pytest.mark.parametrize("level", range(6))
    def test_level(self, builder, level):
        assert builder.build(RELU.format(name="main"), f"level={level}").built

    def test_workspace(self, builder):
        assert builder.build(RELU.format(name="main"), "workspace=1048576").built

    @pytest.mark.parametrize("capability", [75, 80, 86, 89, 120, 121])
    def test_capability(self, builder, capability):
        answer = builder.build(RELU.format(name="main"), f"level=0 capability={capability}")
        assert answer.built, answer.message

    def test_capability_that_rtx_does_not_have(self, builder):
        answer = builder.build(RELU.format(name="main"), "capability=90")
        assert "TensorRT-RTX makes no engines for compute capability 9.0" in answer.message

    def test_several_engines_at_once(self, builder):
        names = [f"network{i}" for i in range(5)]
        answer = builder.build("\n".join(RELU.format(name=name) for name in names), "level=0")
        assert answer.built
        for name in names:
            assert any(f"TensorRT built '{name}' in" in each for each in answer.diagnostics)

    def test_progress_is_a_remark(self, builder):
        answer = builder.build(RELU.format(name="main"), "level=0")
        (remark,) = [each for each in answer.diagnostics if "TensorRT built 'main'" in each]
        assert "Building engine from subgraph: " in remark

    def test_progress_on_a_terminal(self, tmp_path):
        """What a user sees: a line for each step, overwritten."""
        parent, child = pty.openpty()
        text = lower_text(lambda x, w: jnp.tanh(x @ w), normal(4, 8), normal(8, 3))
        run = self.compile(tmp_path, text, "level=0", stdout=subprocess.DEVNULL, stderr=child, capture_output=False)
        os.close(child)
        shown = b""
        try:
            while part := os.read(parent, 65536):
                shown += part
        except OSError:  # all is read
            pass
        os.close(parent)
        assert run.returncode == 0, shown
        assert b"engines: main_cluster_0" in shown
        assert b" %]" in shown

    def test_errors_of_tensorrt_are_at_the_operation(self, tmp_path):
        text = "func.func @main(%x: tensor<4xi1>) -> tensor<1x?xi32> {\n  %r = tensorrt.non_zero %x : (tensor<4xi1>) -> tensor<1x?xi32>\n  return %r : tensor<1x?xi32>\n}\n"
        run = self.compile(tmp_path, text, "", "--input=tensorrt")
        assert run.returncode != 0
        assert "TensorRT cannot make an engine" in run.stderr
        assert "program.mlir:2:8: note: TensorRT: " in run.stderr

    def test_timing_cache(self, tmp_path):
        cache = tmp_path / "timings"
        text = lower_text(lambda x: jnp.exp(x) + 1, normal(4, 8))
        for _ in range(2):
            run = self.compile(tmp_path, text, f"level=0,timing-cache={cache}")
            assert run.returncode == 0, run.stderr
            assert cache.stat().st_size > 0

    def test_several_profiles(self, tmp_path):
        text = "func.func @main(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {\n  %r = stablehlo.exponential %x : tensor<?x8xf32>\n  return %r : tensor<?x8xf32>\n}\n"
        sizes = []
        for bounds in ["1:4:8", "1:4:8|9:64:128", "1:4:8|9:64:128|129:256:512"]:
            folder = tmp_path / str(len(sizes))
            folder.mkdir()
            run = self.compile(folder, text, f"level=0,engines={folder}", f"--bounds=0:0={bounds}")
            assert run.returncode == 0, run.stderr
            (engine,) = folder.glob("*.engine")
            sizes.append(engine.stat().st_size)
        assert sizes == sorted(set(sizes))  # each profile has its part of an engine

    def test_profiles_that_are_none(self, tmp_path):
        run = self.compile(tmp_path, lower_text(lambda x: x + 1, normal(4)), "", "--bounds=0:0=1:4:8|9:8:7")
        assert run.returncode != 0
        assert "needs numbers in ascending order" in run.stderr

    def test_engines_are_kept_by_content(self, tmp_path):
        engines = tmp_path / "engines"

        def build(weight, tensorrt=f"level=0,engines={engines}"):
            run = self.compile(
                tmp_path, lower_text(lambda x: x @ np.full((8, 3), weight, np.float32), normal(4, 8)), tensorrt
            )
            assert run.returncode == 0, run.stderr
            return {each: each.stat().st_mtime_ns for each in engines.glob("*.engine")}

        first = build(1)
        assert len(first) == 1
        assert build(1) == first  # taken from there
        second = build(2)  # other weights are another engine
        assert len(second) == 2 and second.items() >= first.items()
        assert len(build(1, f"level=1,engines={engines}")) == 3  # and so are other options

    @pytest.mark.parametrize("option", ["refit", "strip-weights"])
    def test_rtx_needs_a_gpu_to_leave_weights_out(self, tmp_path, option):
        """When this builds, there is a GPU, or TensorRT-RTX has learned it."""
        text = lower_text(lambda x: jnp.tanh(x @ np.ones((8, 3), np.float32)), normal(4, 8))
        run = self.compile(tmp_path, text, f"level=0,{option}")
        if "TensorRT-RTX only where there is a GPU" not in run.stderr:
            assert run.returncode == 0, run.stderr


@pytest.fixture(scope="module")
def stand_in():
    library = open_stand_in()
    library.standin_given_weights.restype = ctypes.c_char_p
    yield library
    library.standin_need_weights(b"")


@needs_stand_in
class TestEnginesWithoutWeights:
    def options(self, folder):
        return ["--engines=tensorrt,cpu", f"--tensorrt=engines={folder},export={folder},strip-weights"]

    def compile(self, folder, weights):
        return latewood.compile(lower_text(lambda x: x @ weights, normal(4, 8)), self.options(folder))

    def executable(self, folder, weights):
        """By an engine in the folder, which is made of the first program that asks for it."""
        if not list(folder.glob("*.engine")):
            with pytest.raises(latewood.CompilationError, match="has no builder"):
                self.compile(folder, weights)
            (network,) = folder.glob("*.mlir")
            make_engine(network)
        return self.compile(folder, weights)

    def test_engine_gets_the_weights_of_its_program(self, stand_in, tmp_path):
        weights = normal(8, 3, seed=1)
        stand_in.standin_need_weights(b"w0")
        result = self.executable(tmp_path, weights)(normal(4, 8))
        assert result.shape == (4, 3)
        name, element, count, first = stand_in.standin_given_weights().decode().split()
        assert (name, element, count) == ("w0", "0", "24")
        assert float(first) == pytest.approx(weights[0, 0], abs=1e-5)

    def test_other_weights_need_no_other_engine(self, stand_in, tmp_path):
        stand_in.standin_need_weights(b"w0")
        self.executable(tmp_path, normal(8, 3, seed=1))
        (engine,) = tmp_path.glob("*.engine")
        other = normal(8, 3, seed=2)
        stand_in.standin_need_weights(b"w0,w0.1")  # once for each layer that they went into
        self.executable(tmp_path, other)(normal(4, 8))
        assert list(tmp_path.glob("*.engine")) == [engine]
        lines = stand_in.standin_given_weights().decode().splitlines()
        assert [line.split()[0] for line in lines] == ["w0", "w0.1"]
        assert all(float(line.split()[3]) == pytest.approx(other[0, 0], abs=1e-5) for line in lines)

    def test_weights_that_the_program_does_not_have(self, stand_in, tmp_path):
        stand_in.standin_need_weights(b"w0,w7")
        with pytest.raises(latewood.LatewoodError, match="needs 'w7', which the file has not"):
            self.executable(tmp_path, normal(8, 3))(normal(4, 8))
