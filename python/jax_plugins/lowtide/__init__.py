"""Registers JAX_PLATFORMS=lowtide and jax.devices("lowtide") with JAX, which calls initialize()."""

import atexit
import ctypes

import jax._src.xla_bridge as xla_bridge

import lowtide
from lowtide import _callbacks

# Below the cpu's, which is 0: Lowtide must be selected by name.
_PRIORITY = -100


def initialize() -> None:
    path = lowtide.library_path()
    xla_bridge.register_plugin("lowtide", library_path=path, priority=_PRIORITY, options={})
    # After an interrupt jaxlib's threads continue to compile while it destroys its client.
    atexit.register(lambda: ctypes.CDLL(path).lowtide_stop_compiling())
    _callbacks.install()  # after it, so that runs in progress are waited for before that
