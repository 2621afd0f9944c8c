"""The library's C functions, by ctypes; they release Python's lock while they work."""

from __future__ import annotations

import ctypes
import functools
import json
import threading
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from lowtide import _progress
from lowtide._library import library_path

_KINDS = {1: "internal", 2: "usage", 3: "input", 4: "limit", 5: "wrong values", 6: "unsupported", 130: "interrupted"}
_T = TypeVar("_T")


class LowtideError(Exception):
    """An error of the library; `kind` is one of internal, usage, input, limit, wrong values, unsupported, interrupted.
    `lowest_peak`: if no plan meets the limit, bytes of the lowest found."""

    def __init__(self, kind: str, message: str, lowest_peak: int | None = None):
        super().__init__(message)
        self.kind = kind
        self.lowest_peak = lowest_peak
        self.program: str | None = None  # what the library was asked to plan, if known


_SIGNATURES: dict[str, tuple[Any, list[Any]]] = {
    "open": (ctypes.c_void_p, [ctypes.POINTER(ctypes.c_char_p), ctypes.POINTER(ctypes.c_char_p), ctypes.c_size_t]),
    "close": (None, [ctypes.c_void_p]),
    "cancel": (None, [ctypes.c_void_p]),
    "progress": (ctypes.c_size_t, [ctypes.c_void_p, ctypes.POINTER(ctypes.c_double), ctypes.c_char_p, ctypes.c_size_t]),
    "lines": (ctypes.c_void_p, [ctypes.c_void_p]),
    "read": (ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p]),
    "free_module": (None, [ctypes.c_void_p]),
    "explain": (ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int]),
    "fit_for_xla": (ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p]),
    "sizes": (ctypes.c_void_p, [ctypes.c_void_p]),
    "plan": (ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_void_p]),
    "free_plan": (None, [ctypes.c_void_p]),
    "compile": (ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_void_p]),
    "free_runner": (None, [ctypes.c_void_p]),
    "run": (ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_size_t]),
    "match": (ctypes.c_void_p, [ctypes.c_void_p, ctypes.POINTER(ctypes.c_char_p), ctypes.c_size_t]),
    "run_files": (ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_void_p]),
    "block": (ctypes.c_void_p, [ctypes.c_int64]),
    "block_data": (ctypes.c_void_p, [ctypes.c_void_p]),
    "block_is_shared": (ctypes.c_int, [ctypes.c_void_p]),
    "block_release": (None, [ctypes.c_void_p]),
    "block_dlpack": (ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.POINTER(ctypes.c_int64)]),
    "dlpack_delete": (None, [ctypes.c_void_p]),
    "size": (ctypes.c_void_p, [ctypes.c_char_p]),
    "format": (ctypes.c_void_p, [ctypes.c_int64]),
    "kind": (ctypes.c_int, [ctypes.c_void_p]),
    "text": (ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_char_p, ctypes.POINTER(ctypes.c_size_t)]),
    "made": (ctypes.c_void_p, [ctypes.c_void_p]),
    "free": (None, [ctypes.c_void_p]),
}


class _Functions:
    """The library's functions by their names without "lowtide_"."""

    def __init__(self) -> None:
        library = ctypes.CDLL(library_path())
        for name, (result, arguments) in _SIGNATURES.items():
            function = getattr(library, "lowtide_" + name)
            function.restype, function.argtypes = result, arguments
            setattr(self, name, function)

    def __getattr__(self, name: str) -> Any:  # for type checkers: all are set above
        raise AttributeError(name)


@functools.cache
def library() -> _Functions:
    return _Functions()


class Answer:
    """The outcome of a call: texts by name, and a library object, if it created one."""

    def __init__(self, address: int):
        c = library()
        self._address = address
        kind = c.kind(address)
        if kind != 0:
            lowest = self.text("lowest")
            message = self.text("error")
            c.free(address)
            raise LowtideError(_KINDS.get(kind, str(kind)), message, int(lowest) if lowest else None)
        self.made: int = c.made(address) or 0

    def bytes(self, name: str) -> bytes:
        length = ctypes.c_size_t()
        text = library().text(self._address, name.encode(), ctypes.byref(length))
        return ctypes.string_at(text, length.value) if text else b""

    def text(self, name: str) -> str:
        return self.bytes(name).decode(errors="replace")

    def json(self, name: str) -> Any:
        return json.loads(self.text(name))

    def __enter__(self) -> "Answer":
        return self

    def __exit__(self, *_: Any) -> None:
        library().free(self._address)


class _Owned:
    """A library object, freed with this one."""

    _free = ""

    def __init__(self, address: int):
        self.address = address

    def __del__(self, library: Callable[[], Any] = library) -> None:  # bound now: modules may be gone at exit
        address = getattr(self, "address", 0)
        if address:
            getattr(library(), self._free)(address)
            self.address = 0


def size_in_bytes(text: str) -> int:
    """"8GiB", "8G" (= GiB), "8GB" (10^9) or bytes."""
    with Answer(library().size(text.encode())) as size:
        return int(size.text("bytes"))


def format_bytes(size: int) -> str:
    """Three digits in the largest fitting unit: "12.5 MiB"."""
    with Answer(library().format(size)) as text:
        return text.text("text")


def _strings(words: Sequence[str]) -> Any:
    return (ctypes.c_char_p * len(words))(*[word.encode() for word in words])


class Session(_Owned):
    """Threads, caches and options. Its calls can be interrupted, show progress, and log the library's messages."""

    _free = "close"

    def __init__(self, **options: Any):
        """limit, exact, threads, machine, cache; None: from the environment."""
        given = {name: _option(value) for name, value in options.items() if value is not None and value is not False}
        with Answer(library().open(_strings(list(given)), _strings(list(given.values())), len(given))) as opened:
            super().__init__(opened.made)

    def read(self, program: bytes, name: str) -> "Module":
        """A program from memory, or from the file `name` if there are no bytes."""
        with self._wait(lambda: library().read(self.address, program, len(program), name.encode())) as read:
            return Module(self, read, not program)

    def _wait(self, call: Callable[[], int]) -> Answer:
        try:
            return Answer(_in_background(self, call))
        finally:
            self.log()

    def cancel(self) -> None:
        library().cancel(self.address)

    def progress(self) -> tuple[float, str]:
        """The share done, 0 to 1, and a line for people, which is empty if no call is in progress."""
        share, text = ctypes.c_double(), ctypes.create_string_buffer(512)
        length = library().progress(self.address, ctypes.byref(share), text, len(text))
        return share.value, text.raw[:length].decode(errors="replace")

    def log(self) -> None:
        with Answer(library().lines(self.address)) as told:
            for line in told.text("lines").splitlines():
                _progress.logger.warning("%s", line)


class Module(_Owned):
    """A program."""

    _free = "free_module"

    def __init__(self, session: Session, read: Answer, is_file: bool):
        super().__init__(read.made)
        self.session, self.is_file = session, is_file
        self.name = read.text("name")
        self.arguments: list[dict[str, Any]] = read.json("arguments")
        self.results: list[dict[str, Any]] = read.json("results")

    def explain(self, rows: int) -> dict[str, str]:
        with self.session._wait(lambda: library().explain(self.session.address, self.address, rows, self.is_file)) as said:
            return {name: said.text(name) for name in ("report", "page", "json")}

    def fit_for_xla(self, limit: str) -> tuple[bytes, dict[str, str]]:
        """The program, as MLIR bytecode or as text, and its report."""
        with self.session._wait(lambda: library().fit_for_xla(self.session.address, self.address, limit.encode())) as said:
            return said.bytes("program"), {name: said.text(name) for name in ("report", "json")}

    def sizes(self) -> tuple[dict[str, int], int]:
        """Bytes by the account of the program as given, and the floors."""
        with self.session._wait(lambda: library().sizes(self.address)) as said:
            return said.json("given"), int(said.text("floor"))

    def plan(self) -> "Plan":
        with self.session._wait(lambda: library().plan(self.session.address, self.address)) as made:
            return Plan(self.session, made)


class Plan(_Owned):
    """What is stored, where and when."""

    _free = "free_plan"

    def __init__(self, session: Session, made: Answer):
        super().__init__(made.made)
        self.session = session
        self.sizes: dict[str, int] = made.json("sizes")
        self.text = made.text("text")
        self.seconds = float(made.text("seconds"))
        if made.text("warning"):
            _progress.logger.warning("%s", made.text("warning"))

    def compile(self) -> "Runner":
        with self.session._wait(lambda: library().compile(self.session.address, self.address)) as made:
            return Runner(self, made)


class Runner(_Owned):
    """A compiled plan, which any number of threads may run."""

    _free = "free_runner"

    def __init__(self, plan: Plan, made: Answer):
        super().__init__(made.made)
        self.plan, self.session = plan, plan.session
        self.arguments: list[dict[str, Any]] = made.json("arguments")
        self.results: list[dict[str, Any]] = made.json("results")
        self.homes: list[int] = made.json("homes")
        self._arguments = ctypes.c_void_p * len(self.arguments)
        self._results = ctypes.c_void_p * len(self.results)
        self._run = library().run
        self._is_long = plan.seconds > 0.05  # only then is it worth being interruptible

    def run(self, arguments: Sequence[int], donated: bytes, results: Sequence[int]) -> None:
        """Takes addresses; `donated`: a byte for each argument, 1 if it may be overwritten."""
        given, wanted = self._arguments(*arguments), self._results(*results)
        call = lambda: self._run(self.address, given, donated, len(given), wanted, len(wanted)) or 0
        failed = _in_background(self.session, call) if self._is_long else call()
        if failed:
            Answer(failed)

    def match(self, names: Sequence[str]) -> list[int]:
        """For each argument, which of `names` denotes it."""
        with Answer(library().match(self.address, _strings(names), len(names))) as found:
            return found.json("places")

    def run_files(self, arguments: str, results: str, into: Sequence[int]) -> None:
        places = self._results(*into) if into else None
        self.session._wait(lambda: library().run_files(self.session.address, self.address, arguments.encode(), results.encode(), places)).__exit__()


def _option(value: Any) -> str:
    return "1" if value is True else str(value)


def _in_background(session: Session, call: Callable[[], _T]) -> _T:
    """The call's value. Python handles signals between its own instructions, on its main thread, so that thread waits
    while another one works. On an interrupt the call is cancelled, and ends before the interrupt propagates."""
    if threading.current_thread() is not threading.main_thread():
        return call()
    values: list[_T] = []
    ended = threading.Event()

    def work() -> None:
        try:
            values.append(call())
        finally:
            ended.set()

    thread = threading.Thread(target=work, name="lowtide", daemon=True)
    thread.start()
    try:
        if not ended.wait(0.2):
            with _progress.shown() as show:
                while not ended.wait(0.1):
                    show(*session.progress())
    except BaseException:
        while not ended.is_set():
            session.cancel()
            ended.wait(0.05)
        raise
    thread.join()
    return values[0]
