# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Latewood: a compiler and a runtime for tensor programs in StableHLO.

    executable = latewood.compile(jax.jit(f).lower(x))
    y = executable(x)
    executable.save("f.lwx")
    y = latewood.load("f.lwx")(x)

`latewood.runtime` has the steps of running one by one, `latewood.compiler` those of compiling. Importing this package, and
running files with it, loads no compiler: MLIR and LLVM come in with the first compilation.
"""

from __future__ import annotations

import importlib
from typing import Any

from . import runtime
from ._executable import Executable, load
from .errors import (
    CompilationError,
    DataCorruptionError,
    FailedPreconditionError,
    InternalError,
    InvalidArgumentError,
    LatewoodError,
    NotFoundError,
    OutOfMemoryError,
    UnavailableError,
    UnimplementedError,
)

__version__ = "0.1.0"

__all__ = [
    "CompilationError",
    "DataCorruptionError",
    "Executable",
    "FailedPreconditionError",
    "InternalError",
    "InvalidArgumentError",
    "LatewoodError",
    "NotFoundError",
    "OutOfMemoryError",
    "UnavailableError",
    "UnimplementedError",
    "compile",
    "compiler",
    "load",
    "runtime",
]


def compile(program: Any, options: Any = None, *, report: Any = None) -> Executable:
    """Compiles a StableHLO program for this machine.

    Args:
        program: StableHLO as text or bytes (MLIR bytecode), a path to a file of either, or an object with a text form:
            JAX's Lowered (`jax.jit(f).lower(x)`), Exported and ir.Module, or a latewood.compiler.Module.
        options: a latewood.compiler.StableHLOToExecutableOptions, or a list of `--name=value` strings.
        report: a path for a page (HTML) that shows passes and times, the program as graphs, memory, remarks and the parts of
            the executable; written also when the compilation fails. Or a latewood.compiler.Report.

    Returns:
        An executable, which can be called, saved, and loaded elsewhere.

    Raises:
        CompilationError: the program is wrong, or no engine takes part of it; the text says what and where.
        InvalidArgumentError: an unknown option, or something that is not a program.
        NotFoundError: no file at the path.
    """
    compiler = importlib.import_module(".compiler", __name__)
    return compiler.CompilerClient().stablehlo_to_executable(program, options, report=report)


def __getattr__(name: str) -> Any:
    # The compiler is a large library: it is loaded when it is first asked for.
    if name == "compiler":
        return importlib.import_module(".compiler", __name__)
    raise AttributeError(f"module 'latewood' has no attribute '{name}'")
