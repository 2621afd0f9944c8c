"""Lowtide: array programs in the least memory they need, and a plain answer to where it goes.

    lowtide.explain(step, params, batch)      what holds memory at the peak, why, and what would free it
    lowtide.fit(step, donate_argnums=0)       the same function, which XLA runs in less
    JAX_PLATFORMS=lowtide python train.py     JAX on Lowtide's own runtime

docs/jax.md says more.
"""

from lowtide._explain import Report, explain
from lowtide._fit import Fit, Fitted, fit
from lowtide._library import library_path
from lowtide._native import LowtideError

__all__ = ["Fit", "Fitted", "LowtideError", "Report", "explain", "fit", "library_path"]
