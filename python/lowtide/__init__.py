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

# Arrays are loaded when somebody asks for them: who fits a program of JAX's needs none.
_HOMES = {
    "_arrays": (
        "LimitError", "Plan", "clear_cache", "get_active_memory", "get_cache_memory", "get_memory_limit", "get_peak_memory", "memory_stats",
        "plan_stats", "reset_peak_memory", "set_cache_limit", "set_memory_limit", "use",
    ),
    "_arrays.numpy": ("Dtype", "array", "stop_gradient"),
    "_files": ("load", "load_safetensors", "save", "save_safetensors", "savez"),
    "_streams": ("Stream", "default_stream", "new_stream", "set_default_stream", "stream", "synchronize"),
    "_transforms": (
        "async_eval", "checkpoint", "compile", "cond", "custom_vjp", "eval", "grad", "jvp", "limit", "plan", "scan", "value_and_grad", "vjp", "vmap",
        "while_loop",
    ),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}
_MODULES = ("fast", "fft", "linalg", "numpy", "random")
__all__ += [*_HOME_OF, *_MODULES]

if TYPE_CHECKING:
    from lowtide import fast, fft, linalg, numpy, random
    from lowtide._arrays import (
        LimitError, Plan, clear_cache, get_active_memory, get_cache_memory, get_memory_limit, get_peak_memory, memory_stats, plan_stats,
        reset_peak_memory, set_cache_limit, set_memory_limit, use,
    )
    from lowtide._arrays.numpy import Dtype, array, stop_gradient
    from lowtide._files import load, load_safetensors, save, save_safetensors, savez
    from lowtide._streams import Stream, default_stream, new_stream, set_default_stream, stream, synchronize
    from lowtide._transforms import (
        async_eval, checkpoint, compile, cond, custom_vjp, eval, grad, jvp, limit, plan, scan, value_and_grad, vjp, vmap, while_loop,
    )


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"lowtide.{name}")
    if name not in _HOME_OF:
        raise AttributeError(f"module 'lowtide' has no attribute '{name}'")
    value = getattr(importlib.import_module(f"lowtide.{_HOME_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
