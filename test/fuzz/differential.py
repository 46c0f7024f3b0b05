#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random JAX programs, compiled by us and by XLA, and compared.

    ./dev exec python test/fuzz/differential.py [--count N] [--seed S] [--first I] [--keep DIR]

Program number i of a seed is always the same one: `--seed S --first i --count 1` repeats it (random_programs.py makes it).
Integers and booleans must be equal; floats may differ as far as different, equally accurate library functions allow.

Nothing is left to be judged by hand. Where our result is not XLA's, or XLA dies, it is held against the program computed one
operation at a time (op_by_op.py), in the widest type and then with every rounding moved that the specification leaves open. An
element is right if it is what one of these samples has, or lies in their range; where all samples agree, there is one right
answer. So a wrong value of ours passes only where right ones would be just as far apart.

Programs run in child processes. One that dies while the reference works is judged operation by operation; one that dies in our
compiler or our code has failed. A program is skipped if JAX refuses it, if no reference survives it (named, with the signal), or
if the compiler says that it does not support it (counted by message).

Prints each mismatch, and closes with `N passed, N failed, N skipped`.
"""

import argparse
import collections
import json
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

# The reference need not be fast, but ready soon: XLA's compilation takes most of the time here.
os.environ.setdefault(
    "XLA_FLAGS",
    "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true --xla_cpu_parallel_codegen_split_count=1",
)

import jax
import numpy as np
import op_by_op
import random_programs

import latewood

EPSILON = {"float64": 2e-12, "float32": 2e-5, "float16": 2e-2, "bfloat16": 6e-2}
SAMPLES = 16
PATIENCE = 300  # seconds for one program


def agreement(got: np.ndarray, wanted: np.ndarray, scale: float) -> np.ndarray:
    """Which elements are as equal as they need be."""
    if wanted.dtype.kind in "biu":
        return got == wanted
    if wanted.dtype.kind == "c":
        # Each part is as good as the larger one.
        unit = EPSILON["float64" if wanted.dtype.itemsize == 16 else "float32"]
        with np.errstate(all="ignore"):
            near = np.abs(got - wanted) <= 4 * scale * unit * np.abs(wanted)
        return near | (agreement(got.real, wanted.real, 4 * scale) & agreement(got.imag, wanted.imag, 4 * scale))
    tolerance = EPSILON[wanted.dtype.name] * scale
    a, b = got.astype(np.float64), wanted.astype(np.float64)
    with np.errstate(all="ignore"):
        largest = np.max(np.abs(b[np.isfinite(b)]), initial=0)
        return (
            (a == b) | (np.isnan(a) & np.isnan(b)) | (np.abs(a - b) <= tolerance * (np.abs(b) + 1e-3 * largest + 1e-30))
        )


def parts(array: np.ndarray) -> np.ndarray:
    """Numbers that have a range: f64, the parts of complex numbers side by side."""
    if array.dtype.kind == "c":
        return np.stack([array.real, array.imag], -1).astype(np.float64)
    return array.astype(np.float64)


def in_range(got: np.ndarray, samples: list[np.ndarray]) -> np.ndarray:
    """Which elements lie in the range of the samples, or as far outside as a few more samples might."""
    if got.dtype == bool:
        return np.any([got == sample for sample in samples], axis=0)
    value, all_parts = parts(got), np.stack([parts(sample) for sample in samples])
    with np.errstate(all="ignore"):
        finite = np.isfinite(all_parts)
        low = np.min(np.where(finite, all_parts, np.inf), axis=0)
        high = np.max(np.where(finite, all_parts, -np.inf), axis=0)
        width = np.where(np.isfinite(high - low), high - low, 0)
        # Where some samples are infinite, there is no end on that side.
        low = np.where(np.any(np.isneginf(all_parts), axis=0) & (width > 0), -np.inf, low - width)
        high = np.where(np.any(np.isposinf(all_parts), axis=0) & (width > 0), np.inf, high + width)
        within = (width > 0) & (value >= low) & (value <= high)
        if got.dtype.kind not in "iu":
            within |= np.any([(value == part) | (np.isnan(value) & np.isnan(part)) for part in all_parts], axis=0)
    if got.dtype.kind == "c":
        return np.all(within, axis=-1)
    # Integers of 64 bits are more than f64 tells apart.
    return within | np.any([got == sample for sample in samples], axis=0)


def description(got: np.ndarray, wanted: np.ndarray, right: np.ndarray) -> str:
    wrong = ~right
    place = np.unravel_index(np.argmax(wrong), wrong.shape)
    return f"{np.count_nonzero(wrong)} of {wanted.size} elements differ, e.g. {got[place]} instead of {wanted[place]} at {tuple(map(int, place))}"


def difference(got, samples: list, scale: float) -> str | None:
    """What is wrong with a result, or None. The first sample is the exact one; more of them show what is open. `scale` widens the
    tolerance with the length of the program."""
    got, samples = np.asarray(got), [np.asarray(sample) for sample in samples]
    wanted = samples[0]
    if got.shape != wanted.shape or got.dtype != wanted.dtype:
        return f"{got.dtype}{got.shape} instead of {wanted.dtype}{wanted.shape}"
    right = agreement(got, wanted, scale)
    if not np.all(right) and len(samples) > 1:
        right |= in_range(got, samples)
        for sample in samples[1:]:
            right |= agreement(got, sample, scale)
    return None if np.all(right) else description(got, wanted, right)


def differences(got, wanted, scale: float) -> str | None:
    """What is wrong with the results: `wanted` has the samples of each."""
    for number, (a, samples) in enumerate(zip(got, wanted, strict=True)):
        if message := difference(a, samples, scale):
            return f"result {number}: {message}"
    return None


def judge(program, got) -> tuple[str, str | None]:
    """("passed" | "failed", how or what) of results that are not XLA's, or cannot be compared with XLA's."""
    scale = 1 + len(program.steps)
    exact = op_by_op.evaluate(program, program.arguments)
    if not differences(got, [[result] for result in exact], scale):
        return "passed", "by the program computed one operation at a time"
    samples = [exact]
    for number in range(SAMPLES):
        samples.append(op_by_op.evaluate(program, program.arguments, np.random.default_rng(number)))
    message = differences(got, list(zip(*samples, strict=True)), scale)
    return ("failed", message) if message else ("passed", "in the range of what roundings leave open")


def check(program, options: list[str], use_xla: bool = True, stage=lambda name: None) -> tuple[str, str | None]:
    """("passed" | "failed" | "skipped", message). `stage` hears what is to be done next."""
    stage("export")
    try:
        lowered = jax.jit(program, keep_unused=True).lower(*program.arguments)
    except TypeError as error:  # an order of complex numbers, which shows itself late
        return "skipped", f"JAX refuses: {str(error).splitlines()[0]}"
    stage("compile")
    try:
        executable = latewood.compile(lowered, options)
    except latewood.LatewoodError as error:
        lines = str(error).splitlines()
        message = next((line for line in lines if "error:" in line), lines[0])
        known = " is not supported" in str(error) or "no engine takes" in str(error)
        return ("skipped" if known else "failed"), "refused: " + message.split("error: ", 1)[-1]
    stage("run")
    got = executable(*program.arguments)
    got = got if isinstance(got, tuple) else (got,)
    if use_xla:
        stage("reference")
        wanted = lowered.compile()(*program.arguments)
        if not differences(got, [[result] for result in wanted], 1 + len(program.steps)):
            return "passed", "as XLA has it"
    stage("second reference")
    return judge(program, got)


def work(arguments) -> int:
    """A child process: checks programs, and says on its standard output what it is about to do and what came out."""

    def say(*message):
        print(json.dumps(message), flush=True)

    for number in range(arguments.first, arguments.first + arguments.count):
        say("stage", number, "generator")
        program = random_programs.Program(f"{arguments.seed}/{number}")
        if not program.steps:
            say("result", number, "skipped", "a program without operations")
            continue
        try:
            status, message = check(
                program, arguments.options, not arguments.without_xla, lambda name, i=number: say("stage", i, name)
            )
        except Exception as error:
            status, message = "failed", f"{type(error).__name__}: {str(error)[:300]}"
        if status == "failed" and arguments.keep:
            arguments.keep.mkdir(parents=True, exist_ok=True)
            text = jax.jit(program, keep_unused=True).lower(*program.arguments).as_text()
            (arguments.keep / f"{arguments.seed}-{number}.mlir").write_text(text)
        say("result", number, status, message)
    return 0


def lines_of(process: subprocess.Popen):
    """The lines that a child says, until it ends or says nothing for too long."""
    rest, last = b"", time.monotonic()
    while True:
        if select.select([process.stdout], [], [], 1)[0]:
            data = os.read(process.stdout.fileno(), 65536)
            if not data:
                return
            *whole, rest = (rest + data).split(b"\n")
            last = time.monotonic()
            yield from map(json.loads, whole)
        elif time.monotonic() - last > PATIENCE:
            process.kill()


def ending(process: subprocess.Popen) -> str:
    code = process.wait()
    return signal.Signals(-code).name if code < 0 else f"status {code}"


class Campaign:
    """The parent: hands out programs, and notes what becomes of each."""

    def __init__(self, arguments):
        self.arguments = arguments
        self.counts, self.reasons, self.done = collections.Counter(), collections.Counter(), set()

    def note(self, number: int, status: str, message: str) -> None:
        assert number not in self.done
        self.done.add(number)
        self.counts[status] += 1
        name = f"{self.arguments.seed}/{number}"
        if status == "failed" or "died" in message:
            print(f"\nprogram {name}: {status}: {message}", flush=True)
        if status != "failed":
            self.reasons[status, message.replace(name, "…")] += 1
        print(f"\r{number}", end="", file=sys.stderr, flush=True)

    def child(self, first: int, count: int, without_xla: bool = False) -> tuple[int, str, str]:
        """Runs a child. Returns where it died: number, stage, how; the number is `first + count` if it did not."""
        command = [sys.executable, __file__, "--worker", "--seed", self.arguments.seed, "--first", str(first)]
        command += ["--count", str(count), *[f"--options={option}" for option in self.arguments.options]]
        command += [f"--keep={self.arguments.keep}"] if self.arguments.keep else []
        command += ["--without-xla"] if without_xla else []
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        number, stage = first, "start"
        for kind, number_said, *what in lines_of(process):
            number = number_said
            if kind == "stage":
                stage = what[0]
            else:
                self.note(number, *what)
                number, stage = number + 1, "start"
        how = ending(process)
        if how == "status 0":
            number = first + count
        return number, stage, how

    def run(self) -> None:
        at, end = self.arguments.first, self.arguments.first + self.arguments.count
        while at < end:
            count = min(self.arguments.chunk, end - at)
            number, stage, how = self.child(at, count, self.arguments.without_xla)
            if number < at + count:
                self.mourn(number, stage, how)
                number += 1
            at = number

    def mourn(self, number: int, stage: str, how: str) -> None:
        """A child died of a program."""
        if stage == "reference":
            died, stage, again = self.child(number, 1, without_xla=True)
            if died == number + 1:
                self.reasons["reference", f"XLA died with {how}"] += 1
                print(f"\nprogram {self.arguments.seed}/{number}: XLA died with {how}", flush=True)
                return
            how = f"{how}, then {again}"
        if stage in ("compile", "run"):
            self.note(number, "failed", f"our process died in stage '{stage}' with {how}")
        else:
            self.note(number, "skipped", f"the reference died in stage '{stage}' with {how}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--options", action="append", default=[], help="an option of the compilation (may be repeated)")
    parser.add_argument("--keep", type=Path, help="where the texts of failing programs go")
    parser.add_argument("--chunk", type=int, default=250, help="programs of one child process")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--without-xla", action="store_true", help="judge operation by operation at once")
    arguments = parser.parse_args()
    if arguments.worker:
        return work(arguments)

    began = time.monotonic()
    print(f"generator {random_programs.VERSION}, JAX {jax.__version__}", flush=True)
    campaign = Campaign(arguments)
    campaign.run()
    print()
    for (status, message), times in campaign.reasons.most_common():
        print(f"{times:6} {status}: {message}")
    counts = campaign.counts
    total = sum(counts.values())
    assert total == arguments.count, "every program is counted once"
    print(f"\ngenerator {random_programs.VERSION}: {total} programs in {time.monotonic() - began:.0f} s")
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
