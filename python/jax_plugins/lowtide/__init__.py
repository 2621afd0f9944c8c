"""Makes JAX_PLATFORMS=lowtide and jax.devices("lowtide") known to JAX, which calls initialize()."""

import atexit
import ctypes

import jax._src.xla_bridge as xla_bridge

import lowtide
from lowtide import _callbacks

# Below the cpu's, which is 0: whoever has Lowtide installed chooses it by name.
_PRIORITY = -100


def initialize() -> None:
    path = lowtide.library_path()
    xla_bridge.register_plugin("lowtide", library_path=path, priority=_PRIORITY, options={})
    # After an interrupt jaxlib's threads go on compiling, and it destroys its client under them.
    atexit.register(lambda: ctypes.CDLL(path).lowtide_stop_compiling())
    _callbacks.install()  # behind it: what is under way is waited for before that
