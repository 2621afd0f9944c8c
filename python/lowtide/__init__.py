"""Lowtide: array programs in the least memory they need, and a plain answer to where it goes.

    lowtide.explain(step, params, batch)      what holds memory at the peak, why, and what would free it
    lowtide.fit(step, donate_argnums=0)       the same function, which XLA runs in less
    lowtide.jit(step, donate_argnums=0)       the same on Lowtide's own runtime, in this very process
    JAX_PLATFORMS=lowtide python train.py     all of JAX on Lowtide's own runtime

    import lowtide.numpy as np                arrays of its own, by NumPy's names
    lowtide.grad, vmap, eval, limit, ...      functions of them, by JAX's and MLX's

docs/jax.md and docs/arrays.md say more.
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
    """Arrays are loaded when somebody asks for them: who fits a program of JAX's needs none."""
    if not name.startswith("_"):
        try:
            return getattr(importlib.import_module("lowtide.arrays"), name)
        except ImportError as error:
            raise AttributeError(f"module 'lowtide' has no attribute '{name}'; there are no arrays: {error}") from error
    raise AttributeError(f"module 'lowtide' has no attribute '{name}'")
