# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Damage, and places where nothing can be written. Of whole small files (one image; images for two CPUs; an engine beside
them; a host program in Lua): each truncation and each changed byte is found, and without full verification there is never a
crash before code runs. Of the tools: one clear error and a status of 1, and no file that is half written."""

import os
import resource
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from conftest import BUILD

import latewood
from latewood import LatewoodError

FORMS = {
    "one-image": ["--target=x86-64-v3"],
    "two-images": ["--target=x86-64-v3,x86-64-v4"],
    "lua": ["--target=x86-64-v3,x86-64-v4", "--host=lua"],
    "engine": ["--target=x86-64-v3,x86-64-v4", "--engines=tensorrt,cpu"],
}


@pytest.fixture(scope="module", params=FORMS)
def file(request, add_text, tmp_path_factory) -> bytes:
    options = FORMS[request.param]
    if request.param != "engine":
        return latewood.compile(add_text, options).serialize()
    # Engines can be given to the compiler as files, where there is no library to build them; nothing looks into them before
    # they run.
    folder = tmp_path_factory.mktemp("engines")
    program, output = folder / "program.mlir", folder / "program.lwx"
    program.write_text(add_text)
    tool = BUILD / "bin" / "latewood-compile"
    command = [tool, program, "-o", output, *options, f"--tensorrt=engines={folder},export={folder}"]
    environment = {**os.environ, "LATEWOOD_TENSORRT_LIBRARY": "none"}
    subprocess.run(command, env=environment, stderr=subprocess.DEVNULL)
    for network in folder.glob("*.mlir"):
        if network != program:
            network.with_suffix(".engine").write_bytes(b"LATEWOOD TENSORRT ENGINE 1\na test\n" + bytes(range(100)))
    subprocess.run(command, env=environment, check=True)
    return output.read_bytes()


def test_the_files_are_what_they_should_be(file, request):
    executable = latewood.Executable(file, verify=True, inspect=True)
    assert executable.functions == ["main"] and len(file) < 20000
    kind = request.node.callspec.params["file"]
    assert file.count(b"\x7fELF") == (1 if kind == "one-image" else 2)
    assert (b"LATEWOOD TENSORRT ENGINE" in file or bytes(range(100)) in file) == (kind == "engine")


def refuses(data: bytes, **options) -> bool:
    try:
        latewood.Executable(data, **options)
    except LatewoodError as error:
        assert str(error)
        return True
    return False


def test_every_truncation_is_an_error(file):
    taken = [size for size in range(len(file)) if not refuses(file[:size])]
    assert not taken


def test_every_changed_byte_is_an_error_with_full_verification(file):
    data = bytearray(file)
    taken = []
    for position in range(len(data)):
        # Another bit at each place; over the places of any table, all of them.
        flip = 1 << (position * 5 + position // 8) % 8
        data[position] ^= flip
        if not refuses(bytes(data), verify=True) or not refuses(bytes(data), verify=True, inspect=True):
            taken.append(position)
        data[position] ^= flip
    assert not taken


def test_without_full_verification_nothing_crashes(file):
    data = bytearray(file)
    for position in range(0, len(data), 3):
        before, data[position] = data[position], 0xFF - data[position]
        refuses(bytes(data))
        refuses(bytes(data), inspect=True)
        data[position] = before


# --- Tools --------------------------------------------------------------------------------------------------------------


def no_space(most: int = 100):
    """Files cannot grow beyond some bytes: what a full disk is to a program."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))


def little_space():
    """Enough for the files in memory that the linker writes, not for an executable with a large constant."""
    no_space(200000)


@pytest.fixture
def tool(build):
    def run(name, *arguments, **options):
        command = [build / "bin" / name, *arguments]
        result = subprocess.run(command, capture_output=True, text=True, timeout=120, **options)
        assert result.returncode == 1, (command, result.returncode, result.stderr)
        assert "LLVM ERROR" not in result.stderr and "terminate" not in result.stderr, result.stderr
        return result.stderr

    return run


def test_a_full_disk_leaves_what_was_there(tool, add_text, add, tmp_path):
    program, executable = tmp_path / "add.mlir", tmp_path / "add.lwx"
    program.write_text(add_text)
    add.save(executable)
    folder = tmp_path / "out"
    folder.mkdir()
    for name in ("x.lwx", "x.npz", "x.npy", "x.json", "x.html", "x.mlir"):
        (folder / name).write_text("as it was")
    compiled = ("latewood-compile", program)
    large = tmp_path / "large.mlir"
    elements = np.arange(100000, dtype=np.float32).tobytes().hex().upper()
    large.write_text(
        "func.func public @main() -> tensor<100000xf32> {\n"
        f'  %c = stablehlo.constant dense<"0x{elements}"> : tensor<100000xf32>\n  return %c : tensor<100000xf32>\n}}'
    )
    for command, limit in (
        (("latewood-compile", large, "-o", folder / "x.lwx"), little_space),
        ((*compiled, "-o", folder / "x.mlir", "--until=input"), no_space),
        ((*compiled, "-o", os.devnull, "--until=input", f"--report={folder / 'x.html'}"), no_space),
        (("latewood-run", executable, "--random", "--output", folder / "x.npz"), no_space),
        (("latewood-run", executable, "--random", "--output", folder / "x.npy"), no_space),
        (("latewood-run", executable, "--random", "--trace", folder / "x.json"), no_space),
    ):
        text = tool(*command, preexec_fn=limit)
        assert text.count("\n") == 1 and "cannot write" in text and "File too large" in text, text
    assert {path.name: path.read_text() for path in folder.iterdir()} == {
        name: "as it was" for name in ("x.lwx", "x.npz", "x.npy", "x.json", "x.html", "x.mlir")
    }


def test_a_full_disk_from_python(add, tmp_path):
    program = (
        "import sys, latewood\nexecutable = latewood.load(sys.argv[1])\n"
        "try:\n    executable.save(sys.argv[2])\nexcept latewood.LatewoodError as error:\n    print(error)"
    )
    add.save(tmp_path / "add.lwx")
    (tmp_path / "x.lwx").write_text("as it was")
    command = [sys.executable, "-B", "-c", program, tmp_path / "add.lwx", tmp_path / "x.lwx"]
    run = subprocess.run(command, capture_output=True, text=True, preexec_fn=no_space)
    assert "cannot write" in run.stdout and "File too large" in run.stdout, run.stdout + run.stderr
    assert (tmp_path / "x.lwx").read_text() == "as it was" and len(list(tmp_path.iterdir())) == 2


def test_dumps_that_cannot_be_written(tool, add_text, tmp_path):
    program, output = tmp_path / "add.mlir", tmp_path / "add.lwx"
    program.write_text(add_text)
    arguments = ("latewood-compile", program, "-o", output, "--target=x86-64-v3")
    assert "Not a directory" in tool(*arguments, f"--dump-dir={program}")
    assert "File too large" in tool(*arguments, f"--dump-dir={tmp_path / 'dumps'}", preexec_fn=no_space)
    program.write_text(
        add_text.replace(
            "stablehlo.add %a, %b :", "stablehlo.custom_call @nobody(%a, %b) : (tensor<4xf32>, tensor<4xf32>) ->"
        )
    )
    text = tool(*arguments, f"--reproducer={tmp_path}/no/such/folder")
    assert "nobody" in text and "No such file or directory" in text
    assert not output.exists()


def test_standard_output_that_is_full(build, add_text, add, tmp_path):
    (tmp_path / "add.mlir").write_text(add_text)
    add.save(tmp_path / "add.lwx")
    for command in (
        ("latewood-compile", "--help"),
        ("latewood-compile", "add.mlir", "--print-pipeline"),
        ("latewood-compile", "add.mlir", "--emit=lua"),
        ("latewood-run", "add.lwx", "--inspect"),
        ("latewood-run", "add.lwx", "--random"),
        ("latewood-run", "--help"),
    ):
        with open("/dev/full", "w") as full:
            command = [build / "bin" / command[0], *command[1:]]
            run = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, cwd=tmp_path)
        assert run.returncode == 1 and "cannot write standard output: No space left" in run.stderr, (command, run)


def test_folders_are_no_files(tool, tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    for command in (
        ("latewood-compile", folder, "-o", tmp_path / "x.lwx"),
        ("latewood-opt", folder, "-o", tmp_path / "x.mlir"),
        ("latewood-run", folder),
    ):
        text = tool(*command)
        assert "folder" in text and text.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]
    with pytest.raises(LatewoodError, match="folder"):
        latewood.load(folder)
    with pytest.raises(LatewoodError, match="folder"):
        latewood.compile(folder)


def test_an_interrupted_compilation_leaves_nothing(build, tmp_path):
    lines = ["func.func public @main(%x0: tensor<64xf32>) -> tensor<64xf32> {"]
    lines += [f"  %x{i + 1} = stablehlo.{('sine', 'tanh')[i % 2]} %x{i} : tensor<64xf32>" for i in range(3000)]
    (tmp_path / "long.mlir").write_text("\n".join([*lines, "  return %x3000 : tensor<64xf32>", "}"]))
    for signal_number in (signal.SIGINT, signal.SIGTERM):
        command = [build / "bin" / "latewood-compile", "long.mlir", "-o", "long.lwx"]
        process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE)
        time.sleep(0.3)
        process.send_signal(signal_number)
        process.communicate(timeout=60)
        assert process.returncode != 0
        assert [path.name for path in tmp_path.iterdir()] == ["long.mlir"]


def test_arrays_that_are_damaged(build, add, tmp_path):
    """Each truncation, and each byte of the header changed, of a .npy file; each truncation and many changes of a .npz file."""
    add.save(tmp_path / "add.lwx")
    a = np.arange(4, dtype=np.float32)
    np.save(tmp_path / "a.npy", a)
    np.savez_compressed(tmp_path / "ab.npz", a=a, b=a)
    for name, step in (("a.npy", 7), ("ab.npz", 23)):
        data = (tmp_path / name).read_bytes()
        damaged = [data[:size] for size in range(0, len(data), step)]
        damaged += [data[:i] + bytes([data[i] ^ 0x15]) + data[i + 1 :] for i in range(0, len(data), step)]
        for content in damaged:
            (tmp_path / "damaged").write_bytes(content)
            second = ["--input", "a.npy"] if name == "a.npy" else []
            command = [build / "bin" / "latewood-run", "add.lwx", "--input", "damaged", *second]
            run = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
            # A changed number is a number.
            assert run.returncode == 0 or (run.returncode == 1 and run.stderr.count("\n") == 1), run.stderr
