# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Several images in one file: code for several CPUs over one list of constants, and the best one is taken at load. What a
machine lacks is faked with LATEWOOD_HIDE_CPU_FEATURES, in processes of their own."""

import os
import subprocess

import numpy as np
import pytest

import latewood
from latewood import compiler

# A product (whose tiles depend on the target), and a constant that is too large to be part of the code.
PROGRAM = """
func.func public @main(%x: tensor<64x64xf32>, %y: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<512xf32>) {
  %c = stablehlo.constant dense<"0xHEX"> : tensor<512xf32>
  %p = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %t = stablehlo.tanh %p : tensor<64x64xf32>
  %d = stablehlo.add %c, %c : tensor<512xf32>
  return %t, %c : tensor<64x64xf32>, tensor<512xf32>
}
""".replace("HEX", np.arange(512, dtype=np.float32).tobytes().hex().upper())


@pytest.fixture(scope="module", params=["native", "lua"])
def file(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("images") / "program.lwx"
    options = ["--target=x86-64-v3,x86-64-v4", f"--host={request.param}"]
    latewood.compile(PROGRAM, options).save(path)
    return path


def run(build, path, *arguments, hide=""):
    environment = {**os.environ, "LATEWOOD_HIDE_CPU_FEATURES": hide}
    command = [build / "bin" / "latewood-run", path, *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True)


def used(text):
    return [line.split(",")[1].strip() for line in text.splitlines() if line.startswith("image") and "the best" in line]


def test_one_file_for_two_levels(build, file):
    text = run(build, file, "--inspect").stdout
    assert text.count("image 0") == 1 and text.count("image 1") == 1 and "image 2" not in text
    assert "--target=x86-64-v3,x86-64-v4" in text


def test_the_best_image_is_taken(build, file):
    best = used(run(build, file, "--inspect").stdout)
    has_v4 = "image 1" in run(build, file, "--inspect").stdout and "lacks" not in run(build, file, "--inspect").stdout
    assert best == (["x86-64-v4"] if has_v4 else ["x86-64-v3"])
    lesser = run(build, file, "--inspect", hide="avx512f,avx512bw").stdout
    assert used(lesser) == ["x86-64-v3"] and "this machine lacks avx512bw, avx512f" in lesser


def test_results_agree(build, file, tmp_path):
    for number, hide in enumerate(["", "avx512f"]):
        out = tmp_path / f"{number}.npz"
        done = run(build, file, "--random=1", "--output", out, hide=hide)
        assert done.returncode == 0, done.stderr
    first, second = (np.load(tmp_path / f"{number}.npz") for number in range(2))
    assert first.files == second.files and len(first.files) == 2
    for name in first.files:
        np.testing.assert_allclose(first[name], second[name], rtol=1e-5, atol=1e-5)


def test_machines_without_either_are_refused(build, file):
    done = run(build, file, "--random", hide="avx2,avx512f")
    assert done.returncode == 1 and "avx2" in done.stderr and "avx512f" in done.stderr


def test_constants_are_stored_once():
    one = latewood.compile(PROGRAM, ["--target=x86-64-v3"])
    two = latewood.compile(PROGRAM, ["--target=x86-64-v3,x86-64-v4"])
    sizes = lambda executable: [size for name, size in executable.get_data_segments() if size == 2048]  # noqa: E731
    assert len(sizes(one)) == len(sizes(two)) == 1


def test_targets_are_listed_once():
    same = latewood.compile(PROGRAM, ["--target=x86-64-v3,x86-64-v3"])
    assert same.serialize() == latewood.compile(PROGRAM, ["--target=x86-64-v3"]).serialize()


def test_a_pipeline_is_for_one_target():
    with pytest.raises(latewood.InvalidArgumentError, match="several"):
        compiler.CompilerClient().get_stablehlo_to_executable_pipeline(["--target=x86-64-v3,x86-64-v4"])
    with pytest.raises(latewood.InvalidArgumentError, match="quark"):
        latewood.compile(PROGRAM, ["--target=x86-64-v3,quark"])


def test_the_tool_makes_both_by_default(build, tmp_path):
    program, path = tmp_path / "program.mlir", tmp_path / "program.lwx"
    program.write_text(PROGRAM)
    subprocess.run([build / "bin" / "latewood-compile", program, "-o", path], check=True)
    text = run(build, path, "--inspect").stdout
    assert "x86-64-v3" in text and "x86-64-v4" in text
    again = [build / "bin" / "latewood-compile", program, "-o", path, "--target=x86-64-v3,x86-64-v4", "--until=cluster"]
    refused = subprocess.run(again, capture_output=True, text=True)
    assert refused.returncode == 1 and "need one target" in refused.stderr
