# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""TensorRT's real builder, in a process of its own: it has crashed, it prints, and a process can open one library only.

`Builder` starts this file as a script, gives it networks (functions in the `tensorrt` dialect) as lines of JSON, and gets back
what the builder said of each. The library is the one that LATEWOOD_TENSORRT_BUILDER names; a GPU is not needed."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

LIBRARY = os.environ.get("LATEWOOD_TENSORRT_BUILDER")
MISSING = "LATEWOOD_TENSORRT_BUILDER does not name TensorRT's library (pip install tensorrt-rtx-cu13-libs)"


@dataclass
class Answer:
    built: bool
    # Whether our own verifiers refused the network, before TensorRT saw it.
    invalid: bool
    message: str
    # All diagnostics, remarks too.
    diagnostics: list[str]


class Builder:
    def __init__(self):
        self.process = None

    def start(self):
        environment = dict(os.environ, LATEWOOD_TENSORRT_LIBRARY=LIBRARY)
        environment["PYTHONPATH"] = os.pathsep.join(sys.path)
        self.process = subprocess.Popen(
            [sys.executable, Path(__file__)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            text=True,
        )

    def build(self, functions: str, options: str = "level=0", module: str = "") -> Answer:
        """`functions`: networks, each of which becomes an engine. `module`: what stands beside them."""
        text = f"tensorrt.module @networks {{\n{functions}\n}}\n{module}"
        if self.process is None or self.process.poll() is not None:
            self.start()
        try:
            self.process.stdin.write(json.dumps([text, options]) + "\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            status = self.process.wait()
            self.process = None
            return Answer(False, False, f"TensorRT's builder ended the process (status {status})", [])
        return Answer(*json.loads(line))

    def close(self):
        if self.process is not None:
            self.process.stdin.close()
            self.process.wait()
            self.process = None


def serve():
    """Reads networks, writes answers. What TensorRT prints goes nowhere."""
    from latewood import compiler

    answers = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    for line in sys.stdin:
        text, options = json.loads(line)
        module = None
        try:
            module = compiler.parse(text)
            compiler.Pipeline.parse(f"builtin.module(latewood-build-tensorrt-engines{{{options}}})").run(module)
            answer = (True, False, "")
        except Exception as error:
            answer = (False, module is None, str(error))
        said = [each.message for each in module.diagnostics] if module else []
        answers.write(json.dumps([*answer, said]) + "\n")
        answers.flush()


if __name__ == "__main__":
    serve()
