# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Running executables, step by step: client, buffers, sessions.

    client  = runtime.RuntimeClient()
    session = runtime.RuntimeSession(client, runtime.RuntimeSessionOptions(), runtime.Executable(path="model.lwx"))
    session.execute_function("main", in_args=[x], out_args=[y])    # results are written to y
    results = session.execute_function("main", in_args=[x])        # results are allocated

The verbs are those of the reference system's Python API. Nothing here loads any part of the compiler.

Ownership: every object keeps what it needs. A session holds its client and its executable; a result holds neither and
outlives both; a window on somebody's memory keeps that somebody alive.
"""

from ._executable import Executable, load
from ._runtime import (
    Bounds,
    Device,
    FunctionSignature,
    MemRefType,
    MemRefValue,
    PointerType,
    RuntimeClient,
    RuntimeSession,
    RuntimeSessionOptions,
    ScalarType,
    ScalarTypeCode,
    ScalarValue,
    Stream,
    default_client,
)

__all__ = [
    "Bounds",
    "Device",
    "Executable",
    "FunctionSignature",
    "MemRefType",
    "MemRefValue",
    "PointerType",
    "RuntimeClient",
    "RuntimeSession",
    "RuntimeSessionOptions",
    "ScalarType",
    "ScalarTypeCode",
    "ScalarValue",
    "Stream",
    "default_client",
    "load",
]
