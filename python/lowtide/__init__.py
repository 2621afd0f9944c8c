"""Lowtide runs array programs in as little memory as they need, and shows where the memory goes.

    lowtide.explain(step, params, batch)      what holds memory at the peak, why, and what would free it
    lowtide.fit(step, donate_argnums=0)       the same function, in less of XLA's memory
    lowtide.jit(step, donate_argnums=0)       the same on Lowtide's own runtime, in this process
    JAX_PLATFORMS=lowtide python train.py     all of JAX on Lowtide's own runtime

    import lowtide.numpy as np                lazy arrays, with NumPy's names
    lowtide.grad, vmap, eval, limit, ...      their transformations, with JAX's and MLX's names

See docs/jax.md and docs/arrays.md.
"""

import importlib
from typing import TYPE_CHECKING, Any

from lowtide._explain import Report, explain
from lowtide._fit import Fit, Fitted, fit
from lowtide._jit import Jitted, jit
from lowtide._library import library_path
from lowtide._max_batch import MaxBatch, max_batch
from lowtide._native import LowtideError
from lowtide._oom import OutOfMemoryError, oom
from lowtide._progress import show_progress
from lowtide._run import Results, run

__all__ = [
    "Fit", "Fitted", "Jitted", "LowtideError", "MaxBatch", "OutOfMemoryError", "Report", "Results", "explain", "fit", "jit", "library_path", "max_batch",
    "oom", "run", "show_progress",
]

if TYPE_CHECKING:
    from lowtide.arrays import *  # noqa: F403


def __getattr__(name: str) -> Any:
    """Loads arrays on first use: fitting a JAX program doesn't need them."""
    if not name.startswith("_"):
        try:
            return getattr(importlib.import_module("lowtide.arrays"), name)
        except ImportError as error:
            raise AttributeError(f"module 'lowtide' has no attribute '{name}'; there are no arrays: {error}") from error
    raise AttributeError(f"module 'lowtide' has no attribute '{name}'")
