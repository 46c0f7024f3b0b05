# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What goes wrong, as exceptions.

Everything that Latewood raises derives from LatewoodError, so that one `except` catches all of it. An error has a `code`,
which programs may test, and a `message`, which is the full text for people: what was wrong, what was expected, where. The
extension modules raise these classes, so they know nothing but Python.

A failed call leaves its session usable; an error is never a reason to start over.
"""

from __future__ import annotations


class LatewoodError(Exception):
    """Base of all errors.

    Attributes:
        code: the runtime's name of the kind of failure, for instance "InvalidArgument".
        message: the full text, without the code.
    """

    code: str = "Internal"

    def __init__(self, message: str = "", code: str | None = None):
        super().__init__(message)
        self.message = message
        if code is not None:
            self.code = code

    def __str__(self) -> str:
        return self.message


class InvalidArgumentError(LatewoodError, ValueError):
    """The caller gave something that cannot be taken: a wrong count, element type, rank, shape, layout or option."""

    code = "InvalidArgument"


class NotFoundError(LatewoodError):
    """A file, a function or a library that does not exist."""

    code = "NotFound"


class OutOfMemoryError(LatewoodError, MemoryError):
    """The system gave no memory."""

    code = "OutOfMemory"


class UnimplementedError(LatewoodError, NotImplementedError):
    """Valid, but this build cannot do it."""

    code = "Unimplemented"


class DataCorruptionError(LatewoodError):
    """A file that is truncated, foreign, or not what it was when it was written."""

    code = "DataCorruption"


class FailedPreconditionError(LatewoodError):
    """Valid, but not in this state."""

    code = "FailedPrecondition"


class UnavailableError(LatewoodError):
    """This machine lacks something that is needed (a CPU feature, a device, a vendor library), or a file cannot be read or
    written."""

    code = "Unavailable"


class InternalError(LatewoodError, RuntimeError):
    """A fault of Latewood."""

    code = "Internal"


class CompilationError(LatewoodError):
    """A program that does not compile. The message shows each diagnostic with its location in the source.

    Attributes:
        diagnostics: the diagnostics as objects (latewood.compiler.Diagnostic).
    """

    code = "Compilation"


#: From the code that the runtime names to the class.
BY_CODE: dict[str, type[LatewoodError]] = {
    kind.code: kind
    for kind in (
        InvalidArgumentError,
        NotFoundError,
        OutOfMemoryError,
        UnimplementedError,
        DataCorruptionError,
        FailedPreconditionError,
        UnavailableError,
        InternalError,
        CompilationError,
    )
}


def from_code(code: str, message: str) -> LatewoodError:
    """The exception for a code of the runtime; an unknown code becomes a plain LatewoodError that carries it."""
    kind = BY_CODE.get(code)
    return kind(message) if kind else LatewoodError(message, code)
