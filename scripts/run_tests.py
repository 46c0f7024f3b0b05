# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`./dev test`: runs the three kinds of tests and says for each how many passed, failed and were skipped.

Each kind keeps its own runner (ctest, lit, pytest) and its own output. All kinds run, whatever the earlier ones said, and
the exit status is 1 when any of them failed or found nothing to run. lit has no closing line that a machine can count on,
so its results are read from its JSON report and said in the plain form `lit: N passed, N failed, N skipped`.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
KINDS = ("unit", "lit", "python")

# What lit's result codes count as.
PASSED = {"PASS", "FLAKYPASS", "XFAIL"}
SKIPPED = {"UNSUPPORTED", "SKIPPED", "EXCLUDED"}


def say(text: str) -> None:
    print(f"\033[1m==> {text}\033[0m", file=sys.stderr, flush=True)


# What the sanitizers are told. Each switch is there for a reason that is not in our code:
#   detect_container_overflow=0  MLIR and LLVM are not instrumented: containers that both sides fill look overrun
#   allow_user_poisoning=0       LLVM's allocators mark their memory only where they are compiled with the sanitizer, and
#                                parts of them are inlined into our code
#   alloc_dealloc_mismatch=0     objects of MLIR are made by one form of new there and deleted by another here
#   detect_leaks=0               (all but the unit tests) MLIR, LLVM and Python keep what they made until the process ends
SANITIZER_OPTIONS = "detect_container_overflow=0:allow_user_poisoning=0:alloc_dealloc_mismatch=0"


def sanitizers(build: Path) -> set[str]:
    """The sanitizers that the build folder was configured with."""
    cache = build / "CMakeCache.txt"
    lines = cache.read_text().splitlines() if cache.exists() else []
    found = next((line.partition("=")[2] for line in lines if line.startswith("LATEWOOD_SANITIZE:")), "")
    return set(found.split(";")) - {""}


def prepare(build: Path, kind: str) -> None:
    """Sets what tests of this kind need where the build has sanitizers."""
    names = sanitizers(build)
    if "address" in names:
        leaks = "" if kind == "unit" else ":detect_leaks=0"
        os.environ["ASAN_OPTIONS"] = SANITIZER_OPTIONS + leaks
        os.environ["UBSAN_OPTIONS"] = "print_stacktrace=1:halt_on_error=1"
    if "address" in names and kind == "python":
        # Python itself is not instrumented: it gets the sanitizer's library before anything else.
        command = ["clang-22", "-print-file-name=libclang_rt.asan-x86_64.so"]
        os.environ["LD_PRELOAD"] = subprocess.run(command, capture_output=True, text=True).stdout.strip()


def run_unit(build: Path, arguments: list[str]) -> bool:
    say("Unit tests (ctest)")
    command = ["ctest", "--test-dir", str(build), "--output-on-failure", "--no-tests=error", "-j", jobs(), *arguments]
    return subprocess.run(command).returncode == 0


def run_lit(build: Path, arguments: list[str]) -> bool:
    say("IR tests (lit)")
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "lit.json"
        lit = Path(sys.executable).with_name("lit")
        command = [str(lit), "-v", "-j", jobs(), "--param", f"build={build}"]
        status = subprocess.run([*command, "-o", str(report), *arguments, str(ROOT / "test")]).returncode
        codes = [test["code"] for test in json.loads(report.read_text())["tests"]] if report.exists() else []
    passed = sum(code in PASSED for code in codes)
    skipped = sum(code in SKIPPED for code in codes)
    failed = len(codes) - passed - skipped
    print(f"lit: {passed} passed, {failed} failed, {skipped} skipped", flush=True)
    return status == 0 and passed > 0


def run_python(build: Path, arguments: list[str]) -> bool:
    say("Python tests (pytest)")
    command = [sys.executable, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", *arguments]
    if not any(Path(argument.split("::")[0]).exists() for argument in arguments):
        command.append(str(ROOT / "test" / "python"))
    return subprocess.run(command, cwd=ROOT).returncode == 0


def jobs() -> str:
    return os.environ.get("LATEWOOD_JOBS", str(os.cpu_count() or 1))


def main() -> int:
    parser = argparse.ArgumentParser(prog="./dev test")
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("kinds", nargs="*", metavar="unit|lit|python|all")
    ours, after = sys.argv[1:], []
    if "--" in ours:
        split = ours.index("--")
        ours, after = ours[:split], ours[split + 1 :]
    options = parser.parse_args(ours)

    unknown = [kind for kind in options.kinds if kind not in (*KINDS, "all")]
    if unknown:
        parser.error(f"unknown kind of test '{unknown[0]}': there are {', '.join(KINDS)} and all")
    kinds = KINDS if not options.kinds or "all" in options.kinds else options.kinds
    if after and len(kinds) != 1:
        parser.error("arguments after -- need exactly one kind of test to go to")

    runners = {"unit": run_unit, "lit": run_lit, "python": run_python}
    failed = []
    for kind in kinds:
        prepare(options.build, kind)
        if not runners[kind](options.build, after):
            failed.append(kind)
    if failed:
        say(f"Failed: {', '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
