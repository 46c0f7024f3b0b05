# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compilation in three visible steps: get the pipeline as an object, run it, translate the result.

    client   = compiler.CompilerClient()
    pipeline = client.get_stablehlo_to_executable_pipeline(options)
    print(pipeline)                                # a textual pipeline, which parses again and which latewood-opt runs
    lowered  = pipeline.run(compiler.Module.parse(text))
    exe      = client.translate_to_runtime_executable(lowered)

`client.stablehlo_to_executable(module, options)` is exactly that. Importing this module loads MLIR and LLVM; nothing else in
the package does. Nothing prints as a side effect: what the compiler has to say is in `module.diagnostics` and in the
CompilationError that a failure raises.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ._compiler import (
    Diagnostic,
    Module,
    PassStatistics,
    Pipeline,
    Report,
    StableHLOToExecutableOptions,
    compile,
    translate,
)
from ._executable import Executable
from ._program import source_of
from .errors import CompilationError, InvalidArgumentError, UnavailableError

__all__ = [
    "CompilationError",
    "CompilerClient",
    "Diagnostic",
    "Module",
    "PassStatistics",
    "Pipeline",
    "Report",
    "StableHLOToExecutableOptions",
    "parse",
]


def _options_from(options: Any) -> StableHLOToExecutableOptions:
    """Options as the compiler takes them, from an options object, a list of `--name=value` strings, or None."""
    if isinstance(options, StableHLOToExecutableOptions):
        return options
    if options is None:
        return StableHLOToExecutableOptions()
    if isinstance(options, str) or not isinstance(options, Sequence) or not all(isinstance(o, str) for o in options):
        raise InvalidArgumentError(
            f"options: expected StableHLOToExecutableOptions or a list of '--name=value' strings, not {options!r}"
        )
    return StableHLOToExecutableOptions(list(options))


def parse(program: Any) -> Module:
    """A Module from whatever latewood.compile takes: text, bytes, a path, or an object with a text form."""
    if isinstance(program, Module):
        return program
    source, name = source_of(program)
    return Module.parse(source, name)


@contextmanager
def _reporting(report: Any) -> Iterator[Report | None]:
    """What collects for `report`: a Report, or a path that the page is written to at the end, whatever came of it."""
    if report is None or isinstance(report, Report):
        yield report
        return
    if not isinstance(report, (str, os.PathLike)):
        raise InvalidArgumentError(f"report: expected a path or a Report, not {report!r}")
    # Opened before the work: a path that cannot be written fails at once, and hides no error of the compilation.
    try:
        file = Path(report).open("w", encoding="utf-8")
    except OSError as error:
        raise UnavailableError(f"cannot write the report '{report}': {error.strerror or error}") from None
    with file:
        collector = Report()
        try:
            yield collector
        finally:
            file.write(collector.html())


class CompilerClient:
    """Where compilation starts. It holds nothing: modules have contexts of their own, and any number of threads may compile."""

    def get_stablehlo_to_executable_pipeline(self, options: Any = None) -> Pipeline:
        """The passes that compile StableHLO with these options.

        Args:
            options: StableHLOToExecutableOptions, a list of `--name=value` strings, or None for those that are usual.

        Raises:
            InvalidArgumentError: an unknown option or value.
        """
        return Pipeline.for_options(_options_from(options))

    def get_textual_pipeline(self, options: Any = None) -> str:
        """The same pipeline as text that names whole phases with their options; Pipeline.parse reads it."""
        return Pipeline.phases_text(_options_from(options))

    def get_pipeline(self, options: Any = None) -> Pipeline:
        """The same under the reference system's newer name."""
        return self.get_stablehlo_to_executable_pipeline(options)

    def translate_to_runtime_executable(self, module: Module, report: Report | None = None) -> Executable:
        """An executable from a module that has finished the last phase.

        Raises:
            InvalidArgumentError: the module has not finished it.
        """
        return Executable(translate(module, report))

    def translate_mlir_to_executable(self, module: Module) -> Executable:
        """The same under the reference system's newer name."""
        return self.translate_to_runtime_executable(module)

    def stablehlo_to_executable(self, module: Any, options: Any = None, *, report: Any = None) -> Executable:
        """All three steps.

        Args:
            module: a Module, which stays as it is, or whatever latewood.compile takes.
            options: as in get_stablehlo_to_executable_pipeline.
            report: a path that a page about the compilation is written to, or a Report.

        Raises:
            CompilationError: the program is wrong, or no engine takes part of it.
            InvalidArgumentError: an unknown option, or something that is not a program.
            UnavailableError: the report cannot be written.
        """
        with _reporting(report) as collector:
            if isinstance(module, Module):
                pipeline = self.get_stablehlo_to_executable_pipeline(options)
                return Executable(translate(pipeline.run(module.clone(), report=collector), collector))
            source, name = source_of(module)
            return Executable(compile(source, _options_from(options), name, collector))
