#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the fuzzers: makes a corpus for each from the programs of the tests, adds the inputs that failed in the past
(test/fuzz/findings/TARGET), and runs each target for a while. A target that fails leaves its input in the corpus folder and
makes the exit status 1; an input that is fixed goes to the findings, so that it is run for ever after.

    LATEWOOD_PRESET=fuzz ./dev build fuzzers
    test/fuzz/run.py --seconds 3600 --target StableHLOFuzzer
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import zipfile
from io import BytesIO
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
# Shared libraries that are not instrumented (MLIR, LLVM) share containers and allocators with code that is: what the
# sanitizer would be told about their insides by one side only is not told at all. Leaks are looked for in the runtime's
# tests; here each input would pay for it.
# A program that wants absurdly much memory is told that there is none; what is freed is not kept for long, so that processes
# stay small.
ENVIRONMENT = {
    "ASAN_OPTIONS": "detect_container_overflow=0:allow_user_poisoning=0:detect_leaks=0:alloc_dealloc_mismatch=0:allocator_may_return_null=1"
    ":max_allocation_size_mb=2000:quarantine_size_mb=16",
    "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
}
TARGETS = ("ContainerFuzzer", "ImageFuzzer", "ArraysFuzzer", "ArgumentsFuzzer", "StableHLOFuzzer", "BytecodeFuzzer")


def programs() -> list[str]:
    """The StableHLO programs of the IR tests, one function or module each."""
    found = []
    for path in sorted((ROOT / "test" / "compiler").rglob("*.mlir")):
        text = path.read_text()
        if "stablehlo." not in text and "chlo." not in text:
            continue
        for part in re.split(r"^// -----.*$", text, flags=re.M):
            lines = [line for line in part.splitlines() if not line.lstrip().startswith("//")]
            program = "\n".join(lines).strip()
            if program and len(program) < 4000:
                found.append(program)
    return found


def tool(build: Path, name: str) -> str:
    return str(build / "bin" / name)


def run_tool(command: list[str], text: str) -> bytes | None:
    done = subprocess.run(command, input=text.encode(), capture_output=True, env={**os.environ, **ENVIRONMENT})
    return done.stdout if done.returncode == 0 else None


def npy(dtype: str, shape: str, data: bytes) -> bytes:
    header = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}"
    header += " " * (63 - (len(header) + 10) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + data


def seeds(target: str, build: Path) -> list[bytes]:
    if target == "StableHLOFuzzer":
        return [program.encode() for program in programs()]
    if target == "BytecodeFuzzer":
        some = programs()[::4]
        made = [run_tool([tool(build, "latewood-opt"), "-", "--emit-bytecode"], program) for program in some]
        return [data for data in made if data]
    if target == "ArgumentsFuzzer":
        return [bytes(range(n, 256)) for n in (0, 100)]
    if target == "ArraysFuzzer":
        arrays = [npy("<f4", "(2, 3)", bytes(24)), npy("|b1", "(5,)", bytes(5)), npy("<c16", "()", bytes(16))]
        archive = BytesIO()
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
            for number, array in enumerate(arrays):
                file.writestr(f"arr_{number}.npy", array)
        return [*arrays, archive.getvalue()]
    program = "func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> { %0 = stablehlo.tanh %x : tensor<4xf32> return %0 : tensor<4xf32> }"
    executable = run_tool([tool(build, "latewood-compile"), "-", "-o", "-", "--target=x86-64-v3"], program)
    if executable is None:
        return []
    if target == "ImageFuzzer":
        return [executable[executable.index(b"\x7fELF") :]]
    metadata_size = int.from_bytes(executable[32:40], "little")
    return [b"\xff" + executable, bytes([0, metadata_size & 255, metadata_size >> 8 & 255]) + executable[64:]]


def fuzz(target: str, build: Path, corpora: Path, seconds: int) -> bool:
    corpus = corpora / target
    corpus.mkdir(parents=True, exist_ok=True)
    if not any(corpus.iterdir()):
        for number, data in enumerate(seeds(target, build)):
            (corpus / f"seed-{number:04}").write_bytes(data)
    findings = HERE / "findings" / target
    command = [tool(build, target), f"-artifact_prefix={corpora}/{target}-", "-timeout=60", "-rss_limit_mb=6000"]
    # First what failed before, each once; then what is new.
    if findings.is_dir() and any(findings.iterdir()):
        past = subprocess.run(
            command + [str(path) for path in sorted(findings.iterdir())], env={**os.environ, **ENVIRONMENT}
        )
        if past.returncode:
            return False
    command += [f"-max_total_time={seconds}", "-max_len=4096", "-print_final_stats=1", str(corpus)]
    return subprocess.run(command, env={**os.environ, **ENVIRONMENT}).returncode == 0


def preload(build: Path) -> None:
    """A build with Python has the sanitizer as a library, which must come first; a fuzzer's own libraries would."""
    cache = (build / "CMakeCache.txt").read_text() if (build / "CMakeCache.txt").exists() else ""
    if re.search(r"^LATEWOOD_BUILD_PYTHON:\w+=ON$", cache, flags=re.M):
        command = ["clang-22", "-print-file-name=libclang_rt.asan-x86_64.so"]
        ENVIRONMENT["LD_PRELOAD"] = subprocess.run(command, capture_output=True, text=True).stdout.strip()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "fuzz")
    parser.add_argument(
        "--corpora", type=Path, help="where corpora and failing inputs are kept (default: BUILD/corpora)"
    )
    parser.add_argument("--seconds", type=int, default=30, help="for each target")
    parser.add_argument("--target", action="append", choices=TARGETS, help="only this one; may be repeated")
    options = parser.parse_args()
    corpora = options.corpora or options.build / "corpora"
    corpora.mkdir(parents=True, exist_ok=True)
    preload(options.build)
    failed = []
    for target in options.target or TARGETS:
        print(f"== {target}", file=sys.stderr, flush=True)
        if not fuzz(target, options.build, corpora, options.seconds):
            failed.append(target)
    print("fuzz: " + (f"failed: {', '.join(failed)}" if failed else "no findings"), flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
