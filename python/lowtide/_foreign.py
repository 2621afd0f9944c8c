"""Foreign functions of jax.ffi on Lowtide: whatever is registered for the platform cpu is registered here, too.

JAX keeps registrations until a platform's handler asks for them. XLA:CPU's handler would take all of them when its
client is created; the handler here takes them first, and passes them on."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Mapping
from typing import Any

from lowtide._library import library_path
from lowtide._progress import logger

_STAGES = ("instantiate", "prepare", "initialize", "execute")
_TYPED = 1  # the registration's version; earlier versions don't describe their arrays


@functools.cache
def _register() -> Any:
    function = ctypes.CDLL(library_path()).lowtide_register_foreign
    function.argtypes = [ctypes.c_char_p, *[ctypes.c_void_p] * len(_STAGES), ctypes.c_char_p, ctypes.c_size_t]
    function.restype = ctypes.c_int
    return function


_name_of = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.py_object)(("PyCapsule_GetName", ctypes.pythonapi))
_pointer_of = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_GetPointer", ctypes.pythonapi))


def _address(capsule: Any) -> int | None:
    return None if capsule is None else _pointer_of(capsule, _name_of(capsule))


def _take(name: str | bytes, handlers: Any, api_version: int) -> None:
    if api_version != _TYPED:
        return  # programs that call it are refused, with its name
    stages = handlers if isinstance(handlers, Mapping) else {"execute": handlers}
    why = ctypes.create_string_buffer(512)
    target = name if isinstance(name, bytes) else name.encode()
    if _register()(target, *[_address(stages.get(stage)) for stage in _STAGES], why, len(why)):
        logger.warning("a foreign function can't be called: %s", why.value.decode(errors="replace"))


@functools.cache
def install() -> None:
    """Called once per process, before a backend is used. Functions that XLA:CPU has taken before aren't known here."""
    import jaxlib._jax as xla
    from jaxlib import xla_client
    _register()  # fails here if the library lacks the function, before XLA:CPU's registrations are touched

    def take(name: Any, handlers: Any, platform: str, api_version: int, traits: Any) -> None:
        xla.register_custom_call_target(name, handlers, platform, api_version, traits)
        try:
            _take(name, handlers, api_version)
        except Exception as error:  # noqa: BLE001: later registrations must still reach XLA:CPU
            logger.warning("the foreign function %s can't be called: %s", name, error)

    # The first handlers of a platform stay. Types come first, since a handler with a state needs its type when it is taken.
    xla_client.register_custom_type_handler("cpu", xla.register_custom_type)
    xla_client.register_custom_call_handler("cpu", take)
