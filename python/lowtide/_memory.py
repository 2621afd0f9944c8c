"""Arguments and results of programs: numpy's types, and memory that may become a JAX array."""

from __future__ import annotations

import ctypes
import functools
import math
from typing import Any

import numpy as np

from lowtide._native import LowtideError, library

_PLAIN = {
    "pred": "bool", "s8": "int8", "s16": "int16", "s32": "int32", "s64": "int64", "u8": "uint8", "u16": "uint16", "u32": "uint32", "u64": "uint64",
    "f16": "float16", "f32": "float32", "f64": "float64", "c64": "complex64", "c128": "complex128",
}
_MORE = {
    "bf16": "bfloat16", "s4": "int4", "u4": "uint4", "s2": "int2", "u2": "uint2", "f8e4m3fn": "float8_e4m3fn", "f8e5m2": "float8_e5m2",
    "f8e4m3b11fnuz": "float8_e4m3b11fnuz", "f8e4m3fnuz": "float8_e4m3fnuz", "f8e5m2fnuz": "float8_e5m2fnuz", "f8e4m3": "float8_e4m3",
    "f8e3m4": "float8_e3m4", "f8e8m0fnu": "float8_e8m0fnu", "f4e2m1fn": "float4_e2m1fn",
}
_WHOLE_BYTES = {"s4": "int8", "s2": "int8", "u4": "uint8", "u2": "uint8"}  # types narrower than a byte
_DLPACK_CODES = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}


def dtype_of(array: dict[str, Any]) -> np.dtype:
    """numpy's type for a program's type; those that numpy lacks come from the package ml_dtypes, which JAX requires."""
    name = array["type"]
    if name in _PLAIN:
        return np.dtype(_PLAIN[name])
    try:
        import ml_dtypes
        return np.dtype(getattr(ml_dtypes, _MORE[name]))
    except (ImportError, KeyError, AttributeError):
        raise LowtideError("unsupported", f"numpy has no element type for {name}") from None


def is_below_a_byte(array: dict[str, Any]) -> bool:
    return array["type"] in _WHOLE_BYTES or array["type"] == "f4e2m1fn"


def contiguous(value: Any, array: dict[str, Any], what: str) -> np.ndarray:
    """`value` in the program's form; copied only if necessary."""
    given, dtype, dims = np.asarray(value), dtype_of(array), tuple(array["dims"])
    if given.shape != dims:
        raise LowtideError("input", f"{what} has the shape {list(given.shape)}, expected {list(dims)}")
    if given.dtype != dtype:
        if given.ndim > 0 and not np.can_cast(given.dtype, dtype, "same_kind"):
            raise LowtideError("input", f"{what} is {given.dtype}, expected {dtype}")
        given = given.astype(dtype)
    if array["type"] in _WHOLE_BYTES:  # ml_dtypes leaves the bits beyond an element undefined; programs expect its sign there
        given = given.astype(_WHOLE_BYTES[array["type"]]).view(dtype)
    return np.ascontiguousarray(given).reshape(dims)


@functools.cache
def _dlpack_code(dtype: np.dtype) -> int | None:
    if dtype.name.startswith(("int4", "int2")):
        return None
    return 4 if dtype.name == "bfloat16" else _DLPACK_CODES.get(dtype.kind)


class Block:
    """Bytes of a result. They are freed when neither this object nor an array made from it is left."""

    def __init__(self, size: int):
        self.address: int = library().block(size) or 0
        if not self.address:
            raise LowtideError("limit", f"no memory is left for a result of {size} bytes")
        self.data: int = library().block_data(self.address)

    def __del__(self) -> None:
        if getattr(self, "address", 0):
            library().block_release(self.address)

    def is_shared(self) -> bool:
        """Does an array, or a view of one, still refer to it?"""
        return bool(library().block_is_shared(self.address))

    def tensor(self, dtype: np.dtype, dims: tuple[int, ...]) -> "_Tensor | None":
        """For jax.dlpack.from_dlpack; None if DLPack lacks the type."""
        code = _dlpack_code(dtype)
        return None if code is None else _Tensor(self, code, dtype.itemsize * 8, dims)

    def view(self, dtype: np.dtype, dims: tuple[int, ...]) -> np.ndarray:
        """The same as a numpy array, which keeps this alive."""
        size = math.prod(dims) * dtype.itemsize
        owner = _Bytes(self, size)
        return np.asarray(owner).view(dtype).reshape(dims) if size else np.empty(dims, dtype)


class _Bytes:
    def __init__(self, block: Block, size: int):
        self._block = block
        self.__array_interface__ = {"shape": (size,), "typestr": "|u1", "data": (block.data, False), "version": 3}


# Our own prototype: the process shares the functions of ctypes.pythonapi, and jax.ffi changes their attributes.
_capsule_new = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)(("PyCapsule_New", ctypes.pythonapi))


class _Tensor:
    """An object with DLPack's protocol, for a single use."""

    def __init__(self, block: Block, code: int, bits: int, dims: tuple[int, ...]):
        self._of = (block, code, bits, dims)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)

    def __dlpack__(self, **_: Any) -> Any:
        block, code, bits, dims = self._of
        managed = library().block_dlpack(block.address, code, bits, len(dims), (ctypes.c_int64 * len(dims))(*dims))
        if not managed:
            raise MemoryError("no memory is left")
        return _capsule_new(managed, b"dltensor", None)
