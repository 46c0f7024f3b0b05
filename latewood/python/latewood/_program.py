# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From what a user has to what the compiler reads: the text or the bytes of a StableHLO module, and its name.

The compiler has no Python object of a program. Whatever can print itself is taken, so that JAX (or anything else) need not
be known here: it is never imported.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from .errors import InvalidArgumentError, NotFoundError


def source_of(program: Any) -> tuple[bytes, str]:
    """Returns (text or bytecode, the name for messages).

    A `str` that names an existing file, or that is one word ending like a file of MLIR, is a path; any other is text.
    """
    if isinstance(program, (bytes, bytearray, memoryview)):
        return bytes(program), "<bytes>"
    if isinstance(program, os.PathLike):
        return _read(Path(program))
    if isinstance(program, str):
        return _read(Path(program)) if _is_path(program) else (_encode(program), "<string>")
    text = _text_of(program)
    if text is None:
        hint = "; a function is lowered first: jax.jit(f).lower(*arguments)" if callable(program) else ""
        raise InvalidArgumentError(
            f"compile: expected StableHLO as text, bytes, a path, or an object with as_text(), mlir_module() or a module "
            f"text form (JAX's Lowered, Exported, ir.Module), not {type(program).__module__}.{type(program).__qualname__}"
            + hint
        )
    return text if isinstance(text, bytes) else _encode(text), f"<{type(program).__name__}>"


def _encode(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise InvalidArgumentError(
            f"compile: the text is not Unicode at position {error.start}: {error.reason}"
        ) from None


def _is_path(text: str) -> bool:
    if "\n" in text or len(text) > 4096 or not text.strip():
        return False
    try:
        if os.path.exists(text):
            return True
    except ValueError:
        return False
    return not any(c in text for c in '{}()"') and text.endswith((".mlir", ".mlirbc", ".stablehlo", ".bc"))


def _read(path: Path) -> tuple[bytes, str]:
    try:
        return path.read_bytes(), str(path)
    except OSError as error:
        raise NotFoundError(f"cannot read the program '{path}': {error.strerror or error}") from None


def _text_of(program: Any) -> str | bytes | None:
    # jax.export.Exported has mlir_module(); jax.stages.Lowered has as_text(), whose debug_info keeps source lines.
    if callable(getattr(program, "mlir_module", None)):
        return program.mlir_module()
    if callable(getattr(program, "as_text", None)):
        try:
            return program.as_text(debug_info=True)
        except TypeError:
            return program.as_text()
    # A module of MLIR's Python bindings, whichever package they are in.
    operation = getattr(program, "operation", None)
    if callable(getattr(operation, "get_asm", None)):
        return operation.get_asm(enable_debug_info=True)
    # Objects whose only text form is str(): accepted when that text is plainly a module.
    if type(program).__str__ is not object.__str__ and not isinstance(
        program, (int, float, complex, list, tuple, dict, set)
    ):
        text = str(program)
        if "func.func" in text or '"func.func"' in text:
            return text
    return None
