"""JAX's host callbacks on Lowtide's platform: debug.print, debug.callback, pure_callback, io_callback.

The platform is named cpu, so JAX lowers a callback to the call that XLA's own cpu client implements. If the backend is
Lowtide's, that call is replaced by lowtide.host.callback with the number of the Python function; other backends are
unaffected. One C function serves all callbacks."""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import dataclasses
import functools
import itertools
import threading
import traceback
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from lowtide._library import library_path

_CALL = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int64, ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_void_p), ctypes.c_void_p)
_HOLD = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int)


@dataclasses.dataclass(frozen=True)
class _Array:
    """An operand or result in memory: row-major, with one byte for types narrower than that."""

    shape: tuple[int, ...]
    dtype: np.dtype
    bytes: int

    def copy_from(self, address: int) -> np.ndarray:
        """A copy, since the program overwrites the memory later, while the callback may keep the array."""
        array = np.empty(self.shape, self.dtype)
        if self.bytes:
            ctypes.memmove(array.ctypes.data, address, self.bytes)
        array.flags.writeable = False
        return array

    def copy_to(self, address: int, value: Any) -> None:
        array = np.asarray(value, order="C")
        if array.nbytes != self.bytes:
            raise RuntimeError(f"a callback gave {array.nbytes} bytes, expected {self.bytes}")
        if self.bytes:
            ctypes.memmove(address, array.ctypes.data, self.bytes)


@dataclasses.dataclass
class _Callback:
    function: Callable[..., Sequence[Any]]
    operands: list[_Array]
    results: list[_Array]
    has_token: bool  # then a token, which has no memory, is the first argument and result
    x64: bool  # jax_enable_x64 at lowering, since runs are on other threads
    holders: int = 0

    def __call__(self, operands: Any, results: Any) -> None:
        import jax
        given = [array.copy_from(operands[k]) for k, array in enumerate(self.operands)]
        with contextlib.nullcontext() if jax.config.jax_enable_x64 == self.x64 else jax.enable_x64(self.x64):
            made = self.function(None, *given)[1:] if self.has_token else self.function(*given)
        for k, (array, value) in enumerate(zip(self.results, made, strict=True)):
            array.copy_to(results[k], value)


_all: dict[int, _Callback] = {}
_ids = itertools.count()
_here = threading.local()
_lock = threading.RLock()  # garbage collection may release one while another is registered


def _call(id: int, operands: Any, results: Any, report: int) -> int:
    try:
        with _lock:
            callback = _all[id]
        callback(operands, results)
        return 0
    except BaseException:  # noqa: BLE001: any exception becomes the run's error; the caller isn't Python
        why = traceback.format_exc().encode(errors="replace")
        _library().lowtide_callback_failed(report, why, len(why))
        return 1


def _hold(id: int, change: int) -> None:
    with _lock:
        callback = _all.get(id)
        if callback is None:
            return
        callback.holders += change
        if callback.holders == 0:
            del _all[id]
    del callback  # its finalisers run without the lock


_c_call, _c_hold = _CALL(_call), _HOLD(_hold)


class _Lowered:
    """Keeps a callback for the lowered program, which may be compiled more than once."""

    def __init__(self, id: int):
        weakref.finalize(self, _hold, id, -1).atexit = False


@functools.cache
def _library() -> Any:
    library = ctypes.CDLL(library_path())
    library.lowtide_set_callbacks.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
    library.lowtide_set_callbacks.restype = None
    library.lowtide_callback_failed.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t]
    library.lowtide_callback_failed.restype = None
    return library


def _array_of(aval: Any) -> _Array:
    import jax
    physical = jax._src.core.physical_aval(aval)  # key arrays consist of numbers
    dtype = np.dtype(physical.dtype)
    return _Array(tuple(physical.shape), dtype, int(np.prod(physical.shape)) * dtype.itemsize)


def _emit(original: Callable[..., Any], ctx: Any, callback: Any, token: Any, operands: Any, operand_avals: Any, result_avals: Any, **options: Any) -> Any:
    """JAX's own call, rewritten to call the registered function."""
    emitted = original(ctx, callback, token, operands, operand_avals, result_avals, **options)
    if not getattr(_here, "is_ours", False) and "lowtide" not in str(getattr(ctx.module_context.get_backend(), "platform_version", "")):
        return emitted
    import jax
    from jax._src.lib.mlir import ir
    call = ir.InsertionPoint.current.block.operations[-1].operation
    if call.name != "stablehlo.custom_call" or "_python_cpu_callback" not in ir.StringAttr(call.attributes["call_target_name"]).value:
        raise NotImplementedError(f"Lowtide doesn't know how this release of JAX lowers callbacks: {jax.__version__}")
    known = _Callback(
        ctx.module_context.host_callbacks[-1], [_array_of(aval) for aval in operand_avals], [_array_of(aval) for aval in result_avals],
        bool(token), bool(jax.config.jax_enable_x64), holders=1)
    id = next(_ids)
    with _lock:
        _all[id] = known
    ctx.module_context.add_keepalive(_Lowered(id))
    config = ir.DictAttr.get({"id": ir.IntegerAttr.get(ir.IntegerType.get_unsigned(64), id)})
    call.attributes["call_target_name"] = ir.StringAttr.get("lowtide.host.callback")
    call.attributes["mhlo.backend_config" if "mhlo.backend_config" in call.attributes else "backend_config"] = config
    return emitted


def _stop() -> None:
    """Before Python exits: waits for runs in progress, as JAX does later, and disables calls to Python."""
    import jax
    try:
        jax.effects_barrier()
    except Exception:  # noqa: BLE001: JAX reports it when it waits later
        pass
    _library().lowtide_set_callbacks(None, None)


@contextlib.contextmanager
def lowered_for_lowtide() -> Iterator[None]:
    """In this context the thread lowers programs for Lowtide, whatever the process's platform."""
    install()
    before, _here.is_ours = getattr(_here, "is_ours", False), True
    try:
        yield
    finally:
        _here.is_ours = before


@functools.cache
def install() -> None:
    """Called once per process, before anything is lowered for Lowtide."""
    import jax._src.callback as callback

    emit = callback.emit_python_callback
    callback.emit_python_callback = lambda *args, **options: _emit(emit, *args, **options)

    _library().lowtide_set_callbacks(ctypes.cast(_c_call, ctypes.c_void_p), ctypes.cast(_c_hold, ctypes.c_void_p))
    atexit.register(_stop)
