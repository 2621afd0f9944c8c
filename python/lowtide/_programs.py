"""Converts a user's program, in any form, to bytes that the library reads."""

from __future__ import annotations

import os
from typing import Any


def program_of(x: Any, args: tuple, kwargs: dict) -> tuple[bytes, str]:
    """Returns (bytes, name), or (no bytes, path) for a file. x: a path, text, bytes, a function with its arguments
    (arrays or jax.ShapeDtypeStruct), or JAX's Lowered, Compiled or Exported."""
    if isinstance(x, os.PathLike):
        return b"", os.fspath(x)
    if isinstance(x, (bytes, bytearray)):
        return bytes(x), "the program"
    if isinstance(x, str):
        return (x.encode(), "the program") if "\n" in x else (b"", x)
    if hasattr(x, "mlir_module_serialized"):  # jax.export.Exported
        return bytes(x.mlir_module_serialized), x.fun_name
    if hasattr(x, "as_text"):  # Lowered, whose text has source lines; Compiled, which has HLO
        try:
            text = x.as_text(debug_info=True)
        except TypeError:
            text = x.as_text()
        if not text:
            raise TypeError("this executable has no text: explain what it was lowered from")
        return text.encode(), "the program"
    if callable(x):
        import jax
        lower = x.lower if hasattr(x, "lower") else jax.jit(x).lower
        return lower(*args, **kwargs).as_text(debug_info=True).encode(), getattr(x, "__name__", "the program")
    raise TypeError(f"found {type(x).__name__}, expected a path, text, bytes, a function, or what JAX lowers one to")
