"""Trees of arrays, as functions take and give them: lists, tuples and dicts in each other, with arrays or anything else at the ends."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from lowtide._arrays.numpy import array, asarray


@dataclasses.dataclass(frozen=True)
class Tree:
    """What a tree is without its ends. Equal trees are told apart by nothing but those."""

    kind: Any  # the type of a list, tuple or dict; None: nothing stands there; Tree: an end
    keys: tuple[Any, ...] = ()
    children: tuple["Tree", ...] = ()

    def build(self, ends: Sequence[Any]) -> Any:
        """The tree with these ends."""
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
    """The ends of a tree in their order, and what it is without them."""
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
    """What is traced; numbers, words and the like are what they are."""
    return isinstance(end, array) or hasattr(end, "__array_interface__") or hasattr(end, "__dlpack__")


def spread(prefix: Any, tree: Any) -> list[Any]:
    """For each end of a tree what a prefix of it says: one thing for all, or a tree of things as deep as it goes."""
    if isinstance(prefix, dict) and isinstance(tree, dict):
        return [said for key, child in tree.items() for said in spread(prefix[key], child)]
    if isinstance(prefix, (list, tuple)) and isinstance(tree, (list, tuple)):
        if len(prefix) != len(tree):
            raise ValueError(f"found {len(prefix)} axes for {len(tree)} values")
        return [said for part, child in zip(prefix, tree) for said in spread(part, child)]
    return [prefix] * len(flatten(tree)[0])


class Flat:
    """A function of trees as one of a list of arrays. `given` are the ends of its arguments (args, kwargs), of which those at `places`
    are the list's, and not kept here; other arrays, whosever they are, become ours. It remembers the tree that it gave last."""

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
        """What the function gives, of these arrays."""
        assert self._gave is not None, "the function wasn't called"
        return self._gave.build(arrays)


def flat(fun: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Flat, list[array]]:
    """A function of its arrays alone, and those."""
    ends, tree = flatten((args, kwargs))
    places = [place for place, end in enumerate(ends) if is_array(end)]
    return Flat(fun, ends, tree, places), [asarray(ends[place]) for place in places]
