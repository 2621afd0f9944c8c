"""Trees of arrays, as functions take and return them: nested lists, tuples and dicts, with arrays or anything else as
leaves."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from lowtide._arrays.numpy import array, asarray


@dataclasses.dataclass(frozen=True)
class Tree:
    """The structure of a tree without its leaves."""

    kind: Any  # the type of a list, tuple or dict; None: empty; Tree: a leaf
    keys: tuple[Any, ...] = ()
    children: tuple["Tree", ...] = ()

    def build(self, ends: Sequence[Any]) -> Any:
        """The tree with these leaves."""
        left = iter(ends)
        made = self._build(left)
        if next(left, left) is not left:
            raise ValueError("found more arrays than the tree has places")
        return made

    def _build(self, ends: Iterator[Any]) -> Any:
        if self.kind is Tree:
            return next(ends)
        if self.kind is None:
            return None
        children = [child._build(ends) for child in self.children]
        if issubclass(self.kind, dict):
            return self.kind(zip(self.keys, children))
        return self.kind(*children) if hasattr(self.kind, "_fields") else self.kind(children)


def flatten(tree: Any) -> tuple[list[Any], Tree]:
    """The leaves of a tree in order, and its structure."""
    ends: list[Any] = []
    return ends, _without_ends(tree, ends.append)


def _without_ends(tree: Any, add: Callable[[Any], None]) -> Tree:
    if tree is None:
        return Tree(None)
    if isinstance(tree, dict):
        return Tree(type(tree), tuple(tree), tuple(_without_ends(child, add) for child in tree.values()))
    if isinstance(tree, (list, tuple)):
        return Tree(type(tree), (), tuple(_without_ends(child, add) for child in tree))
    add(tree)
    return Tree(Tree)


def is_array(end: Any) -> bool:
    """Is it traced? Numbers, strings and the like are constants."""
    return isinstance(end, array) or hasattr(end, "__array_interface__") or hasattr(end, "__dlpack__")


def spread(prefix: Any, tree: Any) -> list[Any]:
    """For each leaf of a tree the entry of a prefix tree: one for all, or a tree of entries of any depth."""
    if isinstance(prefix, dict) and isinstance(tree, dict):
        return [said for key, child in tree.items() for said in spread(prefix[key], child)]
    if isinstance(prefix, (list, tuple)) and isinstance(tree, (list, tuple)):
        if len(prefix) != len(tree):
            raise ValueError(f"found {len(prefix)} axes for {len(tree)} values")
        return [said for part, child in zip(prefix, tree) for said in spread(part, child)]
    return [prefix] * len(flatten(tree)[0])


class Flat:
    """A function of trees as a function of a list of arrays. `given` are the leaves of its arguments (args, kwargs);
    those at `places` come from the list, and are not kept here; other libraries' arrays are converted to ours. It
    remembers the structure of its last result."""

    def __init__(self, fun: Callable[..., Any], given: Sequence[Any], tree: Tree, places: Sequence[int]):
        self._fun, self._tree, self._places = fun, tree, list(places)
        self._given = [asarray(end) if is_array(end) else end for end in given]
        for place in places:
            self._given[place] = None
        self._gave: Tree | None = None

    def __call__(self, arrays: Sequence[array]) -> list[array]:
        ends = list(self._given)
        for place, value in zip(self._places, arrays):
            ends[place] = value
        args, kwargs = self._tree.build(ends)
        made, self._gave = flatten(self._fun(*args, **kwargs))
        return [asarray(end) for end in made]

    def result(self, arrays: Sequence[array]) -> Any:
        """The function's result for these arrays."""
        assert self._gave is not None, "the function wasn't called"
        return self._gave.build(arrays)


def flat(fun: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Flat, list[array]]:
    """The function as one of its arrays only, and these arrays."""
    ends, tree = flatten((args, kwargs))
    places = [place for place, end in enumerate(ends) if is_array(end)]
    return Flat(fun, ends, tree, places), [asarray(ends[place]) for place in places]
