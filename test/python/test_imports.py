# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What running a file does not need: no part of the compiler is loaded, and the runtime library is small."""

import os
import subprocess
import sys

RUN = """
import numpy as np
import latewood, latewood.runtime
executable = latewood.load({path!r})
a = np.arange(4, dtype=np.float32)
assert (executable(a, a) == a + a).all()
maps = open("/proc/self/maps").read()
for name in ("libLLVM", "libMLIR", "LatewoodCompiler", "_compiler", "liblld"):
    assert name not in maps, name
assert "latewood_runtime" in maps
import sys
assert "latewood.compiler" not in sys.modules
assert "jax" not in sys.modules
"""


def test_running_a_file_loads_no_compiler(add, tmp_path, build):
    path = tmp_path / "add.lwx"
    add.save(path)
    environment = {**os.environ, "PYTHONPATH": str(build / "python")}
    run = subprocess.run(
        [sys.executable, "-c", RUN.format(path=str(path))], env=environment, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr


def test_the_compiler_comes_when_asked_for(build):
    code = "import latewood, sys; latewood.compiler; assert 'latewood._compiler' in sys.modules"
    environment = {**os.environ, "PYTHONPATH": str(build / "python")}
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)


def test_runtime_library_links_no_llvm_and_is_small(build, tmp_path):
    library = build / "lib" / "liblatewood_runtime.so"
    linked = subprocess.run(["ldd", str(library)], capture_output=True, text=True, check=True).stdout
    assert "LLVM" not in linked and "MLIR" not in linked
    stripped = tmp_path / "runtime.so"
    subprocess.run(["strip", "-o", str(stripped), str(library.resolve())], check=True)
    assert stripped.stat().st_size < 8 << 20
