# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The executable as users hold it: a file of compiled functions that can be called like one."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Any

from . import _runtime
from .errors import InvalidArgumentError, UnavailableError


class Executable(_runtime.Executable):
    """A compiled program, verified and ready to run.

    `executable(*arrays)` calls the function `main`: arrays in, arrays out. It takes NumPy arrays (with ml_dtypes' types),
    anything with DLPack or the buffer protocol, MemRefValues, and Python numbers for arrays of rank 0. Element types and
    shapes must be those of the signature; an array that is not row-major without gaps is copied first, others are used in
    place. Results are arrays of JAX or PyTorch where the first array was one, else of NumPy: one array, or a tuple
    where the function has several results (or none). They own their memory.

    Immutable. It may be called from several threads at a time; the interpreter lock is released while it runs.
    """

    def __init__(self, data: Any = None, path: Any = None, *, verify: bool = False, inspect: bool = False):
        super().__init__(data, path, verify=verify, inspect=inspect)
        # Sessions run one call at a time: each call takes one that is idle, and puts it back.
        self._idle: list[_runtime.RuntimeSession] = []

    def __call__(self, *arguments: Any, function: str = "main") -> Any:
        """Calls a function of the executable.

        Args:
            arguments: one value for each argument of the signature (`get_signature(function)`).
            function: its name.

        Returns:
            One array, or a tuple where the function has several results or none.

        Raises:
            InvalidArgumentError: an argument is not what the signature says; the text names it by number.
            NotFoundError: there is no such function.
        """
        try:
            session = self._idle.pop()
        except IndexError:
            session = _runtime.RuntimeSession(self)
        try:
            arrays = session._call_arrays(function, arguments)
        finally:
            self._idle.append(session)
        return arrays[0] if len(arrays) == 1 else tuple(arrays)

    def save(self, path: str | os.PathLike) -> None:
        """Writes the file. What is at `path` is replaced at once and as a whole, so that a program that has the old file
        mapped keeps its contents.

        Raises:
            UnavailableError: the file cannot be written.
        """
        target = Path(path)
        data = self.serialize()
        # Renaming would put a file in the place of a device or a pipe, and of a link: it is what the link leads to that is
        # replaced.
        in_place = target.exists() and not target.is_file()
        place = target if in_place or not target.is_symlink() else target.resolve()
        written = place if in_place else place.with_name(f".{place.name}.{os.getpid()}-{threading.get_ident()}")
        try:
            try:
                written.write_bytes(data)
                if not in_place:
                    os.replace(written, place)
            except BaseException:
                if not in_place:
                    written.unlink(missing_ok=True)
                raise
        except OSError as error:
            raise UnavailableError(f"cannot write '{target}': {error.strerror or error}") from None

    def __repr__(self) -> str:
        name = f" {self.name!r}" if self.name else ""
        return f"<latewood.Executable{name}: {'; '.join(str(self.get_signature(f)) for f in self.functions)}>"

    def __reduce__(self):
        return Executable, (self.serialize(),)


def load(path: str | os.PathLike, *, verify: bool = False) -> Executable:
    """Opens an executable file. It is mapped, not read: constants come in as they are used.

    Args:
        path: the file, which must not be changed in place while it is in use.
        verify: check the checksums of the constants, too, which reads the whole file.

    Raises:
        NotFoundError: there is no such file.
        InvalidArgumentError: it is no executable of Latewood.
        DataCorruptionError: it is truncated, or not what was written.
        UnavailableError: it was compiled for another CPU.
    """
    if isinstance(path, (bytes, bytearray, memoryview)):
        raise InvalidArgumentError("load: expected a path; for the bytes of a file there is latewood.Executable(data)")
    if not isinstance(path, (str, os.PathLike)):
        raise InvalidArgumentError(f"load: expected a path, not a value of type {type(path).__qualname__}")
    return Executable(path=path, verify=verify)
