"""The library's C functions, by ctypes; they let go of Python's lock while they work."""

from __future__ import annotations

import ctypes
import functools

from lowtide._library import library_path

_KINDS = {1: "internal", 2: "usage", 3: "input", 4: "limit", 5: "wrong values", 6: "unsupported", 130: "interrupted"}


class LowtideError(Exception):
    """What the library says; `kind` is one of internal, usage, input, limit, wrong values, unsupported, interrupted."""

    def __init__(self, kind: str, message: str):
        super().__init__(message)
        self.kind = kind


@functools.cache
def _library() -> ctypes.CDLL:
    library = ctypes.CDLL(library_path())
    library.lowtide_explain.restype = ctypes.c_void_p
    library.lowtide_explain.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_int64]
    library.lowtide_fit_for_xla.restype = ctypes.c_void_p
    library.lowtide_fit_for_xla.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_char_p]
    library.lowtide_kind.argtypes = [ctypes.c_void_p]
    library.lowtide_text.restype = ctypes.c_char_p
    library.lowtide_text.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
    library.lowtide_free.argtypes = [ctypes.c_void_p]
    return library


def _texts(answer: int, names: tuple[str, ...]) -> dict[str, str]:
    library = _library()
    try:
        kind = library.lowtide_kind(answer)
        if kind != 0:
            raise LowtideError(_KINDS.get(kind, str(kind)), library.lowtide_text(answer, b"error").decode())
        return {name: library.lowtide_text(answer, name.encode()).decode() for name in names}
    finally:
        library.lowtide_free(answer)


def explain(program: bytes, name: str, rows: int) -> dict[str, str]:
    answer = _library().lowtide_explain(program, len(program), name.encode(), rows)
    return _texts(answer, ("report", "page", "json"))


def fit_for_xla(program: bytes, name: str, limit: str) -> dict[str, str]:
    answer = _library().lowtide_fit_for_xla(program, len(program), name.encode(), limit.encode())
    return _texts(answer, ("program", "report", "json"))
