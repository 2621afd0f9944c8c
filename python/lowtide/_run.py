"""Runs programs on arrays or files."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from lowtide._memory import Block, contiguous, dtype_of
from lowtide._native import LowtideError, Plan, Session
from lowtide._programs import program_of


class Results(list):
    """Arrays in the program's order; `.named` has them by tree path, `.plan` is the plan of the run."""

    def __init__(self, arrays: list[np.ndarray], named: dict[str, np.ndarray], plan: Plan):
        super().__init__(arrays)
        self.named, self.plan = named, plan


def run(program: Any, inputs: Any = None, *, outputs: str | os.PathLike[str] | None = None, limit: str | int | None = None, exact: bool = False,
        machine: str | None = None) -> Results:
    """Runs a program (anything `explain` takes except a function, for which there is `jit`) within `limit`.

    inputs: a file (.npz, .safetensors); a dict, nested or not, by number ("arg0") or tree path ("params/w"); a sequence in
    the program's order; None: seeded numbers. outputs: a .safetensors file for the results, which then aren't returned."""
    source, name = program_of(program, (), {})
    runner = Session(limit=None if limit is None else str(limit), exact=exact, machine=machine).read(source, name).plan().compile()
    specs = [(result["bytes"], dtype_of(result), tuple(result["dims"])) for result in runner.results]
    blocks = [] if outputs is not None else [Block(size) for size, _, _ in specs]
    file = "" if outputs is None else os.fspath(outputs)
    addresses = [block.data for block in blocks]
    if inputs is None or isinstance(inputs, (str, os.PathLike)):
        runner.run_files("" if inputs is None else os.fspath(inputs), file, addresses)
    elif file:
        raise LowtideError("usage", "outputs go to a file where inputs come from one; else write the results that are returned")
    else:
        arrays = _arguments(runner, inputs)
        runner.run([array.ctypes.data for array in arrays], bytes(len(arrays)), addresses)
    results = [block.view(dtype, dims) for block, (_, dtype, dims) in zip(blocks, specs)]
    paths = [result["path"] or f"out{i}" for i, result in enumerate(runner.results)]
    return Results(results, dict(zip(paths, results)), runner.plan)


def _arguments(runner: Any, inputs: Any) -> list[np.ndarray]:
    named = _leaves(inputs)
    if isinstance(inputs, Mapping):
        values = [named[place] for place in runner.match([name for name, _ in named])]
    else:
        if len(named) != len(runner.arguments):
            raise LowtideError("input", f"found {len(named)} arrays, expected {len(runner.arguments)}: {_known(runner)}")
        values = named
    return [contiguous(value, argument, name or f"argument {i}") for i, ((name, value), argument) in enumerate(zip(values, runner.arguments))]


def _known(runner: Any) -> str:
    names = [argument["path"] or f"arg{i}" for i, argument in enumerate(runner.arguments)]
    return ", ".join(names[:6]) + (", ..." if len(names) > 6 else "")


def _leaves(tree: Any, path: str = "") -> list[tuple[str, Any]]:
    """Arrays with their paths, in JAX's order: dicts by their sorted keys."""
    if tree is None:
        return []
    if isinstance(tree, Mapping):
        parts = [(str(key), tree[key]) for key in sorted(tree)]
    elif isinstance(tree, tuple) and hasattr(tree, "_fields"):
        parts = list(zip(tree._fields, tree))
    elif isinstance(tree, (list, tuple)):
        parts = [(str(i), part) for i, part in enumerate(tree)]
    else:
        return [(path, tree)]
    return [leaf for name, part in parts for leaf in _leaves(part, f"{path}/{name}" if path else name)]
