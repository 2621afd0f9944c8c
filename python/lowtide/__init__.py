"""Lowtide: array programs in the least memory they need.

JAX runs on it with JAX_PLATFORMS=lowtide (docs/jax.md); this package says where its library is.
"""

from lowtide._library import library_path

__all__ = ["library_path"]
