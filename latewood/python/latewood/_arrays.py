# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""NumPy's side of arrays: which dtype is which element type, and NumPy arrays on the memory of a MemRefValue.

Called from the extension module where a Python object has to be understood or made; nothing here copies elements. Element
types that NumPy lacks are those of ml_dtypes; their arrays have no buffer protocol, so they pass as integers of the same
width that know what they are.
"""

from __future__ import annotations

import sys
from typing import Any

import ml_dtypes
import numpy as np

from ._runtime import MemRefType, ScalarType, ScalarTypeCode
from .errors import InvalidArgumentError, UnimplementedError

_NUMPY_NAMES = {
    "i1": "bool",
    "i8": "int8",
    "i16": "int16",
    "i32": "int32",
    "i64": "int64",
    "ui8": "uint8",
    "ui16": "uint16",
    "ui32": "uint32",
    "ui64": "uint64",
    "f16": "float16",
    "f32": "float32",
    "f64": "float64",
    "complex32": "complex64",
    "complex64": "complex128",
}
_ML_NAMES = {
    "i2": "int2",
    "i4": "int4",
    "ui2": "uint2",
    "ui4": "uint4",
    "bf16": "bfloat16",
    "f4e2m1fn": "float4_e2m1fn",
    "f6e2m3fn": "float6_e2m3fn",
    "f6e3m2fn": "float6_e3m2fn",
    "f8e3m4": "float8_e3m4",
    "f8e4m3": "float8_e4m3",
    "f8e4m3b11fnuz": "float8_e4m3b11fnuz",
    "f8e4m3fn": "float8_e4m3fn",
    "f8e4m3fnuz": "float8_e4m3fnuz",
    "f8e5m2": "float8_e5m2",
    "f8e5m2fnuz": "float8_e5m2fnuz",
    "f8e8m0fnu": "float8_e8m0fnu",
}

_DTYPES: dict[ScalarTypeCode, np.dtype] = {getattr(ScalarTypeCode, c): np.dtype(n) for c, n in _NUMPY_NAMES.items()}
# Older releases of ml_dtypes lack the newest types; arrays of those cannot exist then.
_ML_CODES: dict[np.dtype, ScalarTypeCode] = {
    np.dtype(getattr(ml_dtypes, name)): getattr(ScalarTypeCode, code)
    for code, name in _ML_NAMES.items()
    if hasattr(ml_dtypes, name)
}
_DTYPES.update({code: dtype for dtype, code in _ML_CODES.items()})
_CODES: dict[np.dtype, ScalarTypeCode] = {dtype: code for code, dtype in _DTYPES.items()}
_INTEGERS = {1: np.dtype(np.uint8), 2: np.dtype(np.uint16)}
_INTEGER_CODES = {1: ScalarTypeCode.ui8, 2: ScalarTypeCode.ui16}
_NAMES = {name: getattr(ScalarTypeCode, name) for name in (*_NUMPY_NAMES, *_ML_NAMES)}


def dtype_of(code: ScalarTypeCode) -> np.dtype:
    """The NumPy (or ml_dtypes) type of an element type."""
    try:
        return _DTYPES[code]
    except KeyError:
        raise UnimplementedError(f"the installed ml_dtypes has no type for {code.spelling}") from None


def code_of(kind: Any) -> ScalarTypeCode:
    """The element type that `kind` means: a ScalarTypeCode, a ScalarType, a MemRefType, a name, or anything that NumPy takes
    as a dtype."""
    if isinstance(kind, ScalarTypeCode):
        return kind
    if isinstance(kind, ScalarType):
        return kind.type
    if isinstance(kind, MemRefType):
        return kind.dtype
    if isinstance(kind, str):
        for code in ScalarTypeCode:
            if kind == code.spelling:
                return code
        if kind in _NAMES:
            return _NAMES[kind]
        if hasattr(ml_dtypes, kind):
            kind = getattr(ml_dtypes, kind)
    try:
        dtype = np.dtype(kind)
    except TypeError:
        dtype = None
    code = _CODES.get(dtype) if dtype is not None else None
    if code is None:
        raise InvalidArgumentError(
            f"dtype: expected an element type (such as ScalarTypeCode.f32, 'f32', np.float32), not {kind!r}"
        )
    return code


def as_integers(array: Any) -> tuple[np.ndarray, ScalarTypeCode] | None:
    """A NumPy array of one of ml_dtypes' types as integers on the same memory, and its element type; None for others."""
    if not isinstance(array, (np.ndarray, np.generic)):
        return None
    code = _ML_CODES.get(array.dtype)
    return None if code is None else (np.asarray(array).view(_INTEGERS[array.dtype.itemsize]), code)


def to_numpy(value: Any) -> np.ndarray:
    """A NumPy array on the memory of a MemRefValue, which it keeps alive."""
    dtype = dtype_of(value.dtype)
    if dtype not in _ML_CODES:
        # Where the memory cannot be had (it was donated), NumPy would ask for an array in another way: here again.
        return np.asarray(memoryview(value))
    return np.asarray(memoryview(value._with_dtype(_INTEGER_CODES[dtype.itemsize]))).view(dtype)


def as_array(value: Any, dtype: Any, copy: bool | None) -> np.ndarray:
    """NumPy's __array__."""
    array = to_numpy(value)
    if dtype is not None and np.dtype(dtype) != array.dtype:
        if copy is False:
            raise ValueError(f"an array of {array.dtype} cannot be one of {np.dtype(dtype)} without a copy")
        return array.astype(dtype)
    return array.copy() if copy else array


def scalar_bytes(number: Any, code: ScalarTypeCode) -> bytes:
    """The bytes of one element, from a number that must fit the type."""
    dtype = dtype_of(code)
    real = dtype.kind != "c"
    if isinstance(number, complex) and real:
        raise InvalidArgumentError(f"expected a real number for {code.spelling}, not {number}")
    if dtype.kind in "iu" or code.spelling in ("i2", "i4", "ui2", "ui4"):
        bits, signed = int(code.spelling.lstrip("ui")), code.spelling.startswith("i")
        low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
        if isinstance(number, float) and not number.is_integer():
            raise InvalidArgumentError(f"expected a whole number for {code.spelling}, not {number}")
        if not low <= number <= high:
            raise InvalidArgumentError(f"{number} is out of the range of {code.spelling}, {low} to {high}")
        number = int(number)
    return np.asarray(number).astype(dtype).tobytes()


def scalar_value(data: bytes, code: ScalarTypeCode) -> bool | int | float | complex:
    """The inverse of scalar_bytes, as a Python number."""
    value = np.frombuffer(data, dtype_of(code))[0]
    if code.spelling in ("i2", "i4", "ui2", "ui4"):
        return int(value)
    return value.item() if isinstance(value, np.generic) and value.dtype not in _ML_CODES else float(value)


def describe(value: Any) -> str:
    """What a value is, for messages."""
    shape, dtype = getattr(value, "shape", None), getattr(value, "dtype", None)
    if shape is not None and dtype is not None:
        return f"an array of {dtype} with shape {tuple(shape)}"
    kind = type(value)
    name = kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
    return f"a value of type {name}"


def is_jax_array(value: Any) -> bool:
    """Whether it is an array of JAX, which need not be imported."""
    module = type(value).__module__
    return module.startswith(("jaxlib", "jax.")) or module == "jax"


def like_arguments(results: list, arguments: tuple) -> list:
    """Results in the kind of the arguments: arrays of JAX or PyTorch where the first array is one (on the same memory), else
    NumPy arrays. Neither library is imported: whoever passes its arrays has done that."""
    for argument in arguments:
        module = type(argument).__module__
        if module == "numpy" or isinstance(argument, np.ndarray):
            break
        if is_jax_array(argument):
            return [sys.modules["jax"].numpy.from_dlpack(result) for result in results]
        if module == "torch" or module.startswith("torch."):
            return [sys.modules["torch"].from_dlpack(result) for result in results]
    return [to_numpy(result) for result in results]
