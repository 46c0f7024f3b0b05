#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles and runs self-checking StableHLO programs, and says which ones hold.

    ./dev exec python test/conformance/run.py DIR… [--jobs N] [--json FILE] [--timeout SECONDS] [--options=--target=x86-64-v3]

A program checks itself with operations of the `check` dialect, or with custom calls `@check.expect_*` and `@check.eq`; a file may hold several
programs divided by lines `// -----`. Every public function without arguments is run. A program passes when it compiles and
all of its checks hold; it is skipped when it has no check or needs several processes. Programs run in worker processes:
one that crashes or hangs is a failure, and the others go on.

Prints each failure with its reason, a table by operation and one by element type, and closes with
`N passed, N failed, N skipped`. The exit status is 1 when something failed.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import queue
import re
import select
import subprocess
import sys
import time
from pathlib import Path

OPERATION = re.compile(r"\b((?:stablehlo|chlo)\.[a-z0-9_]+)")
ELEMENT = re.compile(r"tensor<(?:[0-9?]+x)*((?:complex<)?[a-z][A-Za-z0-9]*|!quant)")
PLUMBING = {"stablehlo.constant", "stablehlo.return", "stablehlo.custom_call"}


def programs(path: Path):
    """The programs of a file: (name, text)."""
    pieces = re.split(r"^// -----.*$", path.read_text(), flags=re.MULTILINE)
    for number, text in enumerate(pieces):
        if "func.func" in text:
            yield (path.name if len(pieces) == 1 else f"{path.name}#{number}"), text


def skip_reason(text: str) -> str | None:
    if "expect_" not in text and "check.eq" not in text:
        return "it has no check"
    if re.search(r"\binterpreter\.run_parallel\b", text):
        return "it needs several processes"
    if re.search(r"\binterpreter\.\w", text) or "expect_serialized_eq" in text:
        return "it tests the reference interpreter's own instrumentation"
    return None


def worker(options: list[str]) -> None:
    """Answers each program on standard input with a line of JSON: {"error": null or text, "phase": ...}."""
    import latewood
    from latewood import runtime

    client = runtime.RuntimeClient()
    for line in sys.stdin:
        phase = "compile"
        try:
            executable = latewood.compile(json.loads(line), options)
            phase = "run"
            session = runtime.RuntimeSession(client, runtime.RuntimeSessionOptions(), executable)
            for name in executable.functions:
                if executable.get_signature(name).get_num_args() == 0:
                    session.execute_function(name, in_args=[])
            answer = {"error": None, "phase": phase}
        except Exception as error:  # whatever it is, it is this program's result
            answer = {"error": f"{type(error).__name__}: {error}", "phase": phase}
        print(json.dumps(answer), flush=True)


class Worker:
    """A worker process that is started again when it has died."""

    def __init__(self, options: list[str]):
        self.command = [sys.executable, __file__, "--worker", *options]
        self.process = None

    def run(self, text: str, timeout: float) -> dict:
        if self.process is None:
            self.process = subprocess.Popen(
                self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
            )
        try:
            self.process.stdin.write(json.dumps(text) + "\n")
            self.process.stdin.flush()
            ready, _, _ = select.select([self.process.stdout], [], [], timeout)
            if not ready:
                self.stop()
                return {"error": f"no answer within {timeout:g} s", "phase": "hang"}
            if line := self.process.stdout.readline():
                return json.loads(line)
        except BrokenPipeError:
            pass
        status = self.process.wait()
        self.stop()
        return {"error": f"the process ended with status {status}", "phase": "crash"}

    def stop(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None


def table(title: str, results: list[dict], key: str) -> None:
    counts = collections.defaultdict(lambda: [0, 0])
    for result in results:
        if result["status"] != "skipped":
            for name in result[key]:
                counts[name][result["status"] == "failed"] += 1
    width = max((len(name) for name in counts), default=0)
    print(f"\n{title:{width}}  passed  failed")
    for name, (passed, failed) in sorted(counts.items()):
        print(f"{name:{width}}  {passed:6}  {failed or '':>6}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("directories", nargs="+", type=Path, metavar="DIR", help="folders or files of programs")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="programs at a time")
    parser.add_argument("--json", type=Path, help="where all results go")
    parser.add_argument("--timeout", type=float, default=120, help="seconds for one program")
    parser.add_argument("--filter", default="", help="only files whose name contains this")
    parser.add_argument("--options", action="append", default=[], help="an option of the compilation (may be repeated)")
    arguments = parser.parse_args()

    files = []
    for path in arguments.directories:
        if not path.exists():
            parser.error(f"there is no {path}")
        files += [path] if path.is_file() else sorted(path.glob("*.mlir"))
    files = [path for path in files if arguments.filter in path.name]

    workers = queue.SimpleQueue()
    for _ in range(arguments.jobs):
        workers.put(Worker(arguments.options))

    def run(item: tuple[str, str]) -> dict:
        name, text = item
        result = {
            "name": name,
            "operations": sorted(set(OPERATION.findall(text)) - PLUMBING),
            "elements": sorted(set(ELEMENT.findall(text))),
        }
        if reason := skip_reason(text):
            return result | {"status": "skipped", "reason": reason}
        own = workers.get()
        try:
            started = time.monotonic()
            answer = own.run(text, arguments.timeout)
            result["seconds"] = round(time.monotonic() - started, 3)
        finally:
            workers.put(own)
        if answer["error"] is None:
            return result | {"status": "passed"}
        return result | {"status": "failed", "phase": answer["phase"], "reason": answer["error"]}

    work = [program for path in files for program in programs(path)]
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        results = list(pool.map(run, work))
    while not workers.empty():
        workers.get().stop()

    for result in results:
        if result["status"] == "failed":
            print(f"FAILED {result['name']} ({result['phase']}): " + " | ".join(result["reason"].splitlines()[:3]))
    table("operation", results, "operations")
    table("element type", results, "elements")
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=1) + "\n")
    counts = collections.Counter(result["status"] for result in results)
    print(f"\n{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    if "--worker" in sys.argv:
        worker(sys.argv[sys.argv.index("--worker") + 1 :])
    else:
        sys.exit(main())
