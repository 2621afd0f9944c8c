"""Signatures of calls: which arguments are static, and the properties of the others on which a program depends."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any


def as_tuple(given: Any) -> tuple:
    if given is None:
        return ()
    return (given,) if isinstance(given, (int, str)) else tuple(given)


class Static:
    """Which arguments are static, by position and by name; each implies the other, as in jax.jit."""

    def __init__(self, function: Callable, numbers: Any, names: Any):
        self.numbers, self.names = as_tuple(numbers), as_tuple(names)
        try:
            parameters = list(inspect.signature(function).parameters.values())
        except (TypeError, ValueError):
            parameters = []
        placed = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        if not self.names:
            self.names = tuple(placed[n].name for n in self.numbers if -len(placed) <= n < len(placed) and placed[n].kind != inspect.Parameter.POSITIONAL_ONLY)
        if not self.numbers:
            self.numbers = tuple(i for i, p in enumerate(placed) if p.name in self.names)

    def split(self, args: tuple, kwargs: dict) -> tuple[tuple, dict, tuple]:
        """Arguments that aren't static, and the static ones as (position or name, value)."""
        if not self.numbers and not self.names:
            return args, kwargs, ()
        numbers = {n % len(args) if args and n < 0 else n for n in self.numbers}
        statics = [(i, args[i]) for i in range(len(args)) if i in numbers]
        statics += [(name, kwargs[name]) for name in sorted(kwargs) if name in self.names]
        return (tuple(arg for i, arg in enumerate(args) if i not in numbers), {k: v for k, v in kwargs.items() if k not in self.names}, tuple(statics))

    @staticmethod
    def join(args: Iterable, kwargs: dict, statics: tuple) -> tuple[tuple, dict]:
        """Undoes split()."""
        whole, named = list(args), dict(kwargs)
        for where, value in statics:  # positions ascend
            if isinstance(where, int):
                whole.insert(where, value)
            else:
                named[where] = value
        return tuple(whole), named


def leaf_key(leaf: Any) -> tuple:
    """The properties of an argument on which its program depends."""
    dtype = getattr(leaf, "dtype", None)
    if dtype is None:
        return (type(leaf),)
    sharding = getattr(leaf, "sharding", None)
    spread = sharding if sharding is not None and getattr(sharding, "num_devices", 1) > 1 else None
    return (leaf.shape, dtype, getattr(leaf, "weak_type", False), spread)


def is_key(leaf: Any) -> bool:
    """Is it an array of keys from jax.random.key?"""
    import jax
    dtype = getattr(leaf, "dtype", None)
    return dtype is not None and jax.dtypes.issubdtype(dtype, jax.dtypes.prng_key)


def is_traced(leaves: Iterable) -> bool:
    import jax
    return any(isinstance(leaf, jax.core.Tracer) for leaf in leaves)


def jitted_with(function: Callable, name: str) -> Any:
    """A jitted function's own options, unless they are given here."""
    return getattr(getattr(function, "_jit_info", None), name, None) or ()


def struct(leaf: Any) -> Any:
    """The argument without its elements."""
    import jax
    if isinstance(leaf, jax.Array):
        return jax.ShapeDtypeStruct(leaf.shape, leaf.dtype, weak_type=getattr(leaf, "weak_type", False))
    return leaf
