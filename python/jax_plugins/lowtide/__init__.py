"""Makes JAX_PLATFORMS=lowtide and jax.devices("lowtide") known to JAX, which calls initialize()."""

import jax._src.xla_bridge as xla_bridge

import lowtide

# Below the cpu's, which is 0: whoever has Lowtide installed chooses it by name.
_PRIORITY = -100


def initialize() -> None:
    xla_bridge.register_plugin("lowtide", library_path=lowtide.library_path(), priority=_PRIORITY, options={})
