"""Functions on Lowtide's own runtime, whatever the process's platform."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from lowtide import _callbacks, _signature
from lowtide._memory import Block, contiguous, dtype_of, is_below_a_byte
from lowtide._native import LowtideError, Plan, Runner, Session


class Jitted:
    """A function that Lowtide compiles and runs. Called like jax.jit's: with JAX or numpy arrays, in any tree. Each
    signature is compiled at its first call. Under tracing (jax.jit, jax.grad, jax.vmap) the original function is
    used."""

    def __init__(self, function: Callable, limit: str | int | None, exact: bool, machine: str | None, donate_argnums: Any, donate_argnames: Any,
                 static_argnums: Any, static_argnames: Any):
        functools.update_wrapper(self, function, updated=())
        self._function = function
        given = lambda mine, name: mine if mine is not None else _signature.jitted_with(function, name)
        self._static = _signature.Static(function, given(static_argnums, "static_argnums"), given(static_argnames, "static_argnames"))
        self._donated = {
            "donate_argnums": _signature.as_tuple(given(donate_argnums, "donate_argnums")),
            "donate_argnames": _signature.as_tuple(given(donate_argnames, "donate_argnames")),
        }
        self._session_options = (None if limit is None else str(limit), exact, machine)
        self._made: dict[tuple, _Compiled] = {}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        import jax
        dynamic, named, statics = self._static.split(args, kwargs)
        leaves, tree = jax.tree.flatten((dynamic, named))
        if _signature.is_traced(leaves):
            return self._function(*args, **kwargs)
        return self._compiled(leaves, tree, statics)(leaves)

    def plan_for(self, *args: Any, **kwargs: Any) -> Plan:
        """The plan for arguments like these, arrays or jax.ShapeDtypeStruct: `.sizes` in bytes, `.text`, modelled
        `.seconds`."""
        import jax
        dynamic, named, statics = self._static.split(args, kwargs)
        leaves, tree = jax.tree.flatten((dynamic, named))
        return self._compiled(leaves, tree, statics).runner.plan

    def _compiled(self, leaves: list, tree: Any, statics: tuple) -> "_Compiled":
        import jax
        key = (tree, statics, jax.config.jax_enable_x64, tuple(map(_signature.leaf_key, leaves)))
        made = self._made.get(key)
        if made is None:
            made = self._made[key] = self._compile(leaves, tree, statics)
        return made

    def _compile(self, leaves: list, tree: Any, statics: tuple) -> "_Compiled":
        """Lowers the function for a cpu. Key arrays are passed as their underlying numbers."""
        import jax
        keys = {i: jax.random.key_impl(leaf) for i, leaf in enumerate(leaves) if _signature.is_key(leaf)}
        seen: dict[str, Any] = {}

        @functools.wraps(self._function)
        def plain(*args: Any, **kwargs: Any) -> Any:
            dynamic, named, inner = self._static.split(args, kwargs)
            given = [jax.random.wrap_key_data(leaf, impl=keys[i]) if i in keys else leaf for i, leaf in enumerate(jax.tree.leaves((dynamic, named)))]
            dynamic, named = jax.tree.unflatten(tree, given)
            args, kwargs = self._static.join(dynamic, named, inner)
            result = self._function(*args, **kwargs)
            results = jax.tree.leaves(result)
            seen["keys"] = {i: jax.random.key_impl(leaf) for i, leaf in enumerate(results) if _signature.is_key(leaf)}
            seen["tree"] = jax.tree.structure(result)
            return jax.tree.map(lambda leaf: jax.random.key_data(leaf) if _signature.is_key(leaf) else leaf, result)

        structs = [_raw(leaf) if i in keys else _signature.struct(leaf) for i, leaf in enumerate(leaves)]
        dynamic, named = jax.tree.unflatten(tree, structs)
        args, kwargs = self._static.join(dynamic, named, statics)
        traced = jax.jit(plain, static_argnums=self._static.numbers, static_argnames=self._static.names, keep_unused=True, **self._donated).trace(*args, **kwargs)
        with _callbacks.lowered_for_lowtide():
            lowered = traced.lower(lowering_platforms=("cpu",))
        donated = [info.donated for info in jax.tree.leaves(lowered.args_info)]
        weak = [getattr(aval, "weak_type", False) for aval in traced.jaxpr.out_avals]
        text = lowered.as_text(debug_info=True)
        try:
            module = _session(*self._session_options).read(text.encode(), getattr(self._function, "__name__", "the program"))
            return _Compiled(module.plan().compile(), seen["tree"], set(keys), seen["keys"], donated, weak, lowered)
        except LowtideError as error:
            error.program = text
            raise


@functools.cache
def _session(limit: str | None, exact: bool, machine: str | None) -> Session:
    return Session(limit=limit, exact=exact, machine=machine)


def _raw(leaf: Any) -> Any:
    import jax
    return jax.eval_shape(jax.random.key_data, jax.ShapeDtypeStruct(leaf.shape, leaf.dtype))


#: arrays that runs created, by id, with their memory: only these can be overwritten when they are donated, since other
#: arrays may have unknown users
_ours: dict[int, tuple[weakref.ref, Block]] = {}


def _block_of(array: Any) -> Block | None:
    found = _ours.get(id(array))
    return found[1] if found and found[0]() is array else None


class _Compiled:
    """One signature of a function."""

    def __init__(self, runner: Runner, tree: Any, keys: set[int], result_keys: dict[int, Any], donated: list[bool], weak: list[bool], lowered: Any):
        self._lowered = lowered  # keeps its callbacks alive
        self.runner, self._tree, self._keys, self._result_keys = runner, tree, keys, result_keys
        if len(donated) != len(runner.arguments):
            raise LowtideError("internal", f"found a program of {len(runner.arguments)} arguments, expected {len(donated)}")
        self._donated = [asked and argument["can_be_donated"] for asked, argument in zip(donated, runner.arguments)]
        self._any_donated = any(self._donated)
        self._weak = [is_weak and not result["dims"] for is_weak, result in zip(weak, runner.results)]
        self._results = [(result["bytes"], dtype_of(result), tuple(result["dims"])) for result in runner.results]

    def __call__(self, leaves: list) -> Any:
        import jax
        if self._keys:
            leaves = [jax.random.key_data(leaf) if i in self._keys else leaf for i, leaf in enumerate(leaves)]
        if self._any_donated:
            self._refuse_twice(leaves)
        addresses, held = [], []
        given_away = bytearray(len(leaves))
        blocks: list[Block | None] = [None] * len(leaves)
        afterwards = []
        for i, leaf in enumerate(leaves):
            if isinstance(leaf, jax.Array) and leaf.is_deleted():
                raise RuntimeError(f"argument {i} has been deleted or donated")
        for i, leaf in enumerate(leaves):
            block = _block_of(leaf)
            if block is not None:
                addresses.append(block.data)
                held.append(block)
                if self._donated[i]:
                    leaf.delete()
                    if not block.is_shared():
                        given_away[i], blocks[i] = 1, block
                continue
            if self._donated[i] and isinstance(leaf, jax.Array):
                afterwards.append(leaf)
            address, owner = _address_of(leaf, self.runner.arguments[i], i)
            addresses.append(address)
            held.append(owner)
        made = []
        for (size, _, _), home in zip(self._results, self.runner.homes):
            at_home = blocks[home] if home >= 0 else None
            made.append(at_home if at_home is not None else Block(size))
        self.runner.run(addresses, bytes(given_away), [block.data for block in made])
        for leaf in afterwards:
            leaf.delete()
        return jax.tree.unflatten(self._tree, [self._array(i, block) for i, block in enumerate(made)])

    def _refuse_twice(self, leaves: list) -> None:
        numbers = {id(leaf): i for i, leaf in enumerate(leaves)}
        for i, leaf in enumerate(leaves):
            other = numbers[id(leaf)]
            if other != i and (self._donated[i] or self._donated[other]) and hasattr(leaf, "delete"):
                raise ValueError(f"arguments {i} and {other} are the same array, and one of them is donated")

    def _array(self, number: int, block: Block) -> Any:
        import jax
        _, dtype, dims = self._results[number]
        if self._weak[number]:
            return jax.numpy.asarray(block.view(dtype, dims).item())
        array = _array_of(block, dtype, dims)
        return jax.random.wrap_key_data(array, impl=self._result_keys[number]) if number in self._result_keys else array


@functools.cache
def _has_cpu() -> bool:
    import jax
    try:
        return bool(jax.devices("cpu"))
    except RuntimeError:
        return False


def _array_of(block: Block, dtype: np.dtype, dims: tuple[int, ...]) -> Any:
    """A JAX array in this memory, without a copy if the process has XLA's cpu platform."""
    import jax
    tensor = block.tensor(dtype, dims) if _has_cpu() and 0 not in dims else None
    if tensor is None:
        return jax.device_put(block.view(dtype, dims))
    array = jax.dlpack.from_dlpack(tensor)
    number = id(array)
    _ours[number] = (weakref.ref(array, lambda gone: _forget(number, gone)), block)
    return array


def _forget(number: int, gone: weakref.ref) -> None:
    if number in _ours and _ours[number][0] is gone:
        del _ours[number]


def _address_of(leaf: Any, argument: dict[str, Any], number: int) -> tuple[int, Any]:
    """The elements' address, and the object that keeps them alive."""
    import jax
    if isinstance(leaf, jax.Array):
        devices = leaf.devices()
        # XLA packs elements narrower than a byte.
        lies_so = _is_row_major(leaf) and leaf.dtype.itemsize * leaf.size == argument["bytes"] and not is_below_a_byte(argument)
        if len(devices) == 1 and next(iter(devices)).platform == "cpu" and lies_so:
            return leaf.block_until_ready().unsafe_buffer_pointer() if leaf.size else 0, leaf
    array = contiguous(leaf, argument, f"argument {number}")
    return array.ctypes.data, array


def _is_row_major(array: Any) -> bool:
    if array.ndim < 2:
        return True
    layout = getattr(getattr(array, "format", None), "layout", None)
    order = getattr(layout, "major_to_minor", None)
    return order is None or tuple(order) == tuple(range(array.ndim))


def jit(function: Callable | None = None, *, limit: str | int | None = None, exact: bool = False, machine: str | None = None, donate_argnums: Any = None,
        donate_argnames: Any = None, static_argnums: Any = None, static_argnames: Any = None) -> Any:
    """`function` compiled and run by Lowtide on this machine's processors, in a process of any platform. limit: on its
    bytes ("8GiB"); if no plan meets it, LowtideError of kind "limit". exact: keep every sum's order. A jitted function
    keeps its jit options. Donated arrays are overwritten if a run created them and nothing else refers to them; others
    are copied, and deleted."""
    if function is None:
        return functools.partial(jit, limit=limit, exact=exact, machine=machine, donate_argnums=donate_argnums, donate_argnames=donate_argnames,
                                 static_argnums=static_argnums, static_argnames=static_argnames)
    return Jitted(function, limit, exact, machine, donate_argnums, donate_argnames, static_argnums, static_argnames)
