# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""lit configuration. Run through `./dev test`, or: ./dev exec lit test/compiler

The build directory is found beside the sources (build/dev), or given by --param build=DIR.
"""

import os

import lit.formats

root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
build = os.path.abspath(lit_config.params.get("build", os.path.join(root, "build", "dev")))  # noqa: F821

config.name = "Latewood"  # noqa: F821
config.test_format = lit.formats.ShTest(execute_external=False)  # noqa: F821
config.suffixes = [".mlir"]  # noqa: F821
config.excludes = ["Inputs"]  # noqa: F821
config.test_source_root = os.path.dirname(os.path.abspath(__file__))  # noqa: F821
config.test_exec_root = os.path.join(build, "test")  # noqa: F821
config.environment["PATH"] = os.pathsep.join(  # noqa: F821
    [os.path.join(build, "bin"), "/usr/lib/llvm-22/bin", os.environ["PATH"]]
)

# What this machine can run, for tests that look at one instruction set: REQUIRES: avx512.
with open("/proc/cpuinfo") as info:
    flags = next((line for line in info if line.startswith("flags")), "").split()
if "avx512f" in flags:
    config.available_features.add("avx512")  # noqa: F821
if "avx2" in flags:
    config.available_features.add("avx2")  # noqa: F821

# Options of the sanitizers that the tools may have been built with.
for variable in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS"):
    if variable in os.environ:
        config.environment[variable] = os.environ[variable]  # noqa: F821
