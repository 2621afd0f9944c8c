"""Registers JAX_PLATFORMS=lowtide and jax.devices("lowtide") with JAX, which calls initialize()."""

import atexit
import ctypes
from typing import Any

import jax
import jax._src.xla_bridge as xla_bridge

import lowtide
from lowtide import _callbacks, _foreign

# Below the cpu's, which is 0: Lowtide must be selected by name.
_PRIORITY = -100


def _answer_for_cpu() -> None:
    """Makes jax.devices("cpu") Lowtide's if JAX_PLATFORMS excludes XLA's, since programs that keep arrays on the host ask for it."""
    registration = xla_bridge._backend_factories["lowtide"]
    make = registration.factory

    def made() -> Any:
        client = make()
        if "cpu" not in (jax.config.jax_platforms or "cpu").split(","):
            xla_bridge._backends.setdefault("cpu", client)
        return client

    registration.factory = made


def initialize() -> None:
    path = lowtide.library_path()
    xla_bridge.register_plugin("lowtide", library_path=path, priority=_PRIORITY, options={})
    _answer_for_cpu()
    # After an interrupt jaxlib's threads continue to compile while it destroys its client.
    atexit.register(lambda: ctypes.CDLL(path).lowtide_stop_compiling())
    _foreign.install()
    _callbacks.install()  # registered last: at exit it first waits for runs in progress
