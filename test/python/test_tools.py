# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The command line: latewood-compile makes the file that latewood-run runs; wrong input ends with a message and status 1."""

import os
import subprocess

import models
import numpy as np
import pytest


@pytest.fixture(scope="module")
def tools(build):
    def run(name, *arguments, status=0, stdin=None):
        command = [str(build / "bin" / name), *map(str, arguments)]
        result = subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=300)
        assert result.returncode == status, f"{command}: {result.returncode}\n{result.stdout}\n{result.stderr}"
        return result

    return run


def test_model_through_files(tools, tmp_path):
    model = models.mlp()
    (tmp_path / "mlp.mlir").write_text(model.text())
    tools("latewood-compile", tmp_path / "mlp.mlir", "-o", tmp_path / "mlp.lwx")
    np.save(tmp_path / "x.npy", model.flat_arguments[0])
    result = tools(
        "latewood-run", tmp_path / "mlp.lwx", "--function", "main", "--input", tmp_path / "x.npy",
        "--output", tmp_path / "out.npz", "--repeat", "3",
    )  # fmt: skip
    assert "32x10xf32" in result.stdout + result.stderr
    with np.load(tmp_path / "out.npz") as results:
        (name,) = results.files
        np.testing.assert_allclose(results[name], model.expected()[0], rtol=0, atol=1e-4)


def test_standard_input(tools, add_text, tmp_path):
    tools("latewood-compile", "-", "-o", tmp_path / "add.lwx", stdin=add_text)
    text = tools("latewood-run", tmp_path / "add.lwx", "--inspect").stdout
    assert "main" in text and "memref<4xf32>" in text


def test_wrong_programs(tools, tmp_path):
    path = tmp_path / "bad.mlir"
    path.write_text(
        "func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {\n  %0 = stablehlo.frobnicate %a : tensor<4xf32>\n}"
    )
    result = tools("latewood-compile", path, "-o", tmp_path / "bad.lwx", status=1)
    assert "bad.mlir:2:" in result.stderr and "frobnicate" in result.stderr
    assert not (tmp_path / "bad.lwx").exists()
    assert "nowhere.mlir" in tools("latewood-compile", tmp_path / "nowhere.mlir", "-o", path, status=1).stderr
    assert "--target" in tools("latewood-compile", path, "-o", tmp_path / "x.lwx", "--targt=native", status=1).stderr


def test_wrong_files_and_arguments(tools, add, tmp_path):
    path = tmp_path / "add.lwx"
    add.save(path)
    np.save(tmp_path / "a.npy", np.ones(4, np.float32))
    np.save(tmp_path / "d.npy", np.ones(4, np.float64))
    np.save(tmp_path / "b.npy", np.ones(5, np.float32))
    a, b, d = (tmp_path / f"{name}.npy" for name in "abd")
    tools("latewood-run", path, "--input", a, "--input", a)
    assert "2" in tools("latewood-run", path, "--input", a, status=1).stderr
    assert "f64" in tools("latewood-run", path, "--input", a, "--input", d, status=1).stderr
    assert "5" in tools("latewood-run", path, "--input", a, "--input", b, status=1).stderr
    assert "nosuch" in tools("latewood-run", path, "--function", "nosuch", status=1).stderr
    (tmp_path / "foreign.lwx").write_bytes(b"this is something else")
    assert "Latewood" in tools("latewood-run", tmp_path / "foreign.lwx", "--inspect", status=1).stderr
    data = path.read_bytes()
    (tmp_path / "short.lwx").write_bytes(data[: len(data) // 2])
    assert tools("latewood-run", tmp_path / "short.lwx", "--inspect", status=1).stderr


def test_what_is_no_file_of_its_own_is_written_in_place(build, add, add_text, tmp_path):
    program, file, link = tmp_path / "add.mlir", tmp_path / "add.lwx", tmp_path / "link.lwx"
    program.write_text(add_text)
    file.write_bytes(b"")
    for write in (
        lambda path: subprocess.run([build / "bin" / "latewood-compile", program, "-o", path], check=True),
        add.save,
    ):
        link.unlink(missing_ok=True)
        link.symlink_to(file)
        write(link)
        assert link.is_symlink() and file.read_bytes() == link.read_bytes() != b""
    # A pipe.
    read, write_end = os.pipe()
    with os.fdopen(write_end, "wb"):
        add.save(f"/proc/self/fd/{write_end}")
    with os.fdopen(read, "rb") as pipe:
        assert pipe.read() == add.serialize()


def test_destinations_of_dynamic_results(tools, tmp_path):
    """The tool makes buffers of the shapes that follow from the arguments, as a caller would."""
    program, x, y, out = (tmp_path / name for name in ("p.mlir", "x.npy", "y.npy", "out.npz"))
    program.write_text(
        """
func.func @main(%x: tensor<?x2xf32>, %y: tensor<?x2xf32>) -> (tensor<?x2xf32>, tensor<?x2xf32>, tensor<2xf32>) {
  %0 = stablehlo.concatenate %x, %y, dim = 0 : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x2xf32>
  %1 = stablehlo.negate %y : tensor<?x2xf32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %2 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [0] : (tensor<?x2xf32>, tensor<f32>) -> tensor<2xf32>
  return %0, %1, %2 : tensor<?x2xf32>, tensor<?x2xf32>, tensor<2xf32>
}
"""
    )
    a, b = np.arange(6, dtype=np.float32).reshape(3, 2), np.arange(2, dtype=np.float32).reshape(1, 2)
    np.save(x, a)
    np.save(y, b)
    tools("latewood-compile", program, "-o", tmp_path / "p.lwx")
    tools("latewood-run", tmp_path / "p.lwx", "--input", x, "--input", y, "--output", out, "--destinations")
    with np.load(out) as results:
        for name, expected in zip(results.files, (np.concatenate([a, b]), -b, a.sum(0)), strict=True):
            np.testing.assert_array_equal(results[name], expected)
