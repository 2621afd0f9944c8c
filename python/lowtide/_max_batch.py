"""The largest batch that fits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lowtide import _signature
from lowtide._native import LowtideError, Session, size_in_bytes
from lowtide._progress import logger


class MaxBatch(int):
    """The largest extent that fits: a number. `.peak`: its bytes. `.next`, `.next_peak`: the smallest extent found that
    doesn't fit, and what it needs at least; None if all fit. `.tried`: peaks by extent."""

    peak: int
    next: int | None
    next_peak: int | None
    tried: dict[int, int]


def max_batch(function: Callable, *args: Any, limit: str | int, in_axes: Any, for_: str = "lowtide", multiple_of: int = 1, most: int = 1 << 20,
              donate_argnums: Any = None, donate_argnames: Any = None, static_argnums: Any = None, static_argnames: Any = None, **kwargs: Any) -> MaxBatch:
    """The largest batch with which `function` fits into `limit` ("16GiB", bytes): it is traced with other sizes, and
    each is planned; nothing is run. args: arrays or jax.ShapeDtypeStruct of any batch.

    in_axes: which axis of each positional argument is the batch's, as in jax.vmap: an int, None if it has none, or a
    tree of them. for_: "lowtide", plans for Lowtide's runtime; "xla", the peak of `lowtide.fit` by the model of XLA's
    account; "as_given", the unchanged program. multiple_of: only multiples of it are tried; most: the largest extent to
    try."""
    import jax
    given = lambda mine, name: mine if mine is not None else _signature.jitted_with(function, name)
    static = _signature.Static(function, given(static_argnums, "static_argnums"), given(static_argnames, "static_argnames"))
    jitted = jax.jit(function, static_argnums=static.numbers, static_argnames=static.names,
                     donate_argnums=_signature.as_tuple(given(donate_argnums, "donate_argnums")),
                     donate_argnames=_signature.as_tuple(given(donate_argnames, "donate_argnames")))
    dynamic, named, statics = static.split(args, kwargs)
    axes = tuple(in_axes) if isinstance(in_axes, (tuple, list)) else (in_axes,) * len(dynamic)
    if len(axes) != len(dynamic):
        raise ValueError(f"in_axes has {len(axes)} entries, expected one for each of {len(dynamic)} arguments that aren't static")
    by_leaf = [_broadcast(axis, arg) for axis, arg in zip(axes, dynamic)]
    if not any(axis is not None for leaf_axes in by_leaf for axis in leaf_axes):
        raise ValueError("in_axes names no axis, expected that of the batch")

    def resized(extent: int) -> Any:
        def one(leaf: Any, axis: int | None) -> Any:
            if axis is None:
                return _signature.struct(leaf)
            dims = list(leaf.shape)
            dims[axis] = extent
            return jax.ShapeDtypeStruct(tuple(dims), leaf.dtype)
        sized = [jax.tree.unflatten(jax.tree.structure(arg), [one(leaf, axis) for leaf, axis in zip(jax.tree.leaves(arg), leaf_axes)])
                 for arg, leaf_axes in zip(dynamic, by_leaf)]
        whole, all_named = static.join(sized, named, statics)
        return jitted.trace(*whole, **all_named).lower()

    return _largest(_Sizes(resized, limit, for_), multiple_of, most)


def _broadcast(axis: Any, arg: Any) -> list[int | None]:
    """The axis for each leaf of an argument, from a prefix of its tree."""
    import jax
    if axis is None or isinstance(axis, int):
        return [axis] * len(jax.tree.leaves(arg))
    parts = jax.tree.leaves(axis, is_leaf=lambda part: part is None)
    trees = jax.tree.structure(axis, is_leaf=lambda part: part is None).flatten_up_to(arg)
    return [one for part, tree in zip(parts, trees) for one in [part] * len(jax.tree.leaves(tree))]


class _Sizes:
    """Finds the bytes that each extent needs."""

    def __init__(self, resized: Callable[[int], Any], limit: str | int, for_: str):
        if for_ not in ("lowtide", "xla", "as_given"):
            raise ValueError(f'for_ is {for_!r}, expected "lowtide", "xla" or "as_given"')
        self._resized, self._limit, self._for = resized, str(limit), for_
        self.limit = size_in_bytes(str(limit))
        self._session = Session(limit=self._limit if for_ == "lowtide" else None)
        self.tried: dict[int, int] = {}

    def fits(self, extent: int) -> bool:
        """Plans it, unless a lower bound for every executor already exceeds the limit."""
        module = self._session.read(self._resized(extent).as_text().encode(), f"the program of {extent}")
        as_given, floor = module.sizes()
        if self._for == "as_given":
            self.tried[extent] = as_given["peak"]
        elif floor > self.limit:
            self.tried[extent] = floor
        elif self._for == "xla":
            import json
            self.tried[extent] = json.loads(module.fit_for_xla(self._limit)[1]["json"])["peak_bytes"]
        else:
            try:
                self.tried[extent] = module.plan().sizes["peak"]
            except LowtideError as error:
                if error.kind != "limit" or error.lowest_peak is None:
                    raise
                self.tried[extent] = error.lowest_peak
        fits = self.tried[extent] <= self.limit
        logger.info("a batch of %d needs %d bytes, which %s", extent, self.tried[extent], "fits" if fits else "doesn't fit")
        return fits


def _largest(sizes: _Sizes, multiple_of: int, most: int) -> MaxBatch:
    """Doubles, then bisects, until both the largest extent that fits and the next admissible one are known."""
    low, high = 0, None
    extent = 1
    while high is None and low * multiple_of < most:
        extent = min(extent, most // multiple_of)
        if extent == low:
            break
        if sizes.fits(extent * multiple_of):
            low = extent
            extent = _guess(sizes, low, multiple_of)
        else:
            high = extent
    while high is not None and high - low > 1:
        middle = (low + high) // 2
        if sizes.fits(middle * multiple_of):
            low = middle
        else:
            high = middle
    if low == 0:
        raise LowtideError("limit", f"a batch of {multiple_of} needs {sizes.tried[multiple_of]} bytes, which is more than the limit of {sizes.limit}",
                           sizes.tried[multiple_of])
    found = MaxBatch(low * multiple_of)
    found.peak, found.tried = sizes.tried[found], dict(sorted(sizes.tried.items()))
    found.next = None if high is None else high * multiple_of
    found.next_peak = None if found.next is None else sizes.tried[found.next]
    return found


def _guess(sizes: _Sizes, low: int, multiple_of: int) -> int:
    """The extent expected to reach the limit, extrapolated from the bytes so far; two to eight times `low`."""
    known = sorted((extent // multiple_of, peak) for extent, peak in sizes.tried.items())
    if len(known) < 2 or known[-1][1] <= known[-2][1]:
        return low * 2
    (a, at_a), (b, at_b) = known[-2:]
    border = b + (sizes.limit - at_b) * (b - a) // (at_b - at_a)
    return max(low * 2, min(low * 8, border + 1))
