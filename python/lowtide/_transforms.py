"""Evaluation, and transformations of functions. They take and return trees of arrays: lists, tuples and dicts. A
transformed function can be transformed again."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import lowtide._arrays as _arrays
from lowtide._arrays.numpy import array, asarray, moveaxis
from lowtide._tree import Flat, Tree, flat, flatten, is_array, spread

_F = TypeVar("_F", bound=Callable[..., Any])


def _given(trees: tuple[Any, ...]) -> list[array]:
    return [end for end in flatten(trees)[0] if isinstance(end, array)]


def eval(*trees: Any) -> None:
    """Evaluates all arrays in one program, in as little memory as possible, and waits. LimitError if memory doesn't
    suffice."""
    _arrays.eval_all(_given(trees))


def async_eval(*trees: Any) -> None:
    """Starts the evaluation and returns; reading elements waits for it and raises its errors."""
    _arrays.async_eval_all(_given(trees))


def value_and_grad(fun: Callable[..., Any], argnums: int | Sequence[int] = 0) -> Callable[..., Any]:
    """(fun(...), gradients of its first array, a scalar, with respect to arguments): a tree like the argument, or a
    tuple of such trees. Other arguments are passed unchanged."""
    chosen = [argnums] if isinstance(argnums, int) else list(argnums)

    @functools.wraps(fun)
    def differentiated(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
        ends, tree = flatten([args[number] for number in chosen])

        def of_chosen(parts: list[Any]) -> Any:
            whole = list(args)
            for number, part in zip(chosen, parts):
                whole[number] = part
            return fun(*whole, **kwargs)

        places = range(len(ends))
        inner = Flat(of_chosen, ends, Tree(tuple, (), (Tree(tuple, (), (tree,)), Tree(dict))), places)
        values, gradients = _arrays.value_and_grad(inner, [asarray(end) for end in ends], list(places))
        by = tree.build(gradients)
        return inner.result(values), by[0] if isinstance(argnums, int) else tuple(by)

    return differentiated


def grad(fun: Callable[..., Any], argnums: int | Sequence[int] = 0) -> Callable[..., Any]:
    """Only the gradients."""
    both = value_and_grad(fun, argnums)
    return functools.wraps(fun)(lambda *args, **kwargs: both(*args, **kwargs)[1])


def vjp(fun: Callable[..., Any], primals: Sequence[Any], cotangents: Any) -> tuple[Any, tuple[Any, ...]]:
    """(fun(*primals), cotangents times its derivative): cotangents have the structure of fun's result, gradients that
    of the primals."""
    inner, arrays = flat(fun, tuple(primals), {})
    outputs, gradients = _arrays.vjp(inner, arrays, [asarray(end) for end in flatten(cotangents)[0]])
    return inner.result(outputs), flatten(tuple(primals))[1].build(gradients)


def jvp(fun: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
    """(fun(*primals), its derivative times the tangents, which have the structure of the primals)."""
    inner, arrays = flat(fun, tuple(primals), {})
    outputs, derivatives = _arrays.jvp(inner, arrays, [asarray(end) for end in flatten(tuple(tangents))[0]])
    return inner.result(outputs), inner.result(derivatives)


def vmap(fun: Callable[..., Any], in_axes: Any = 0, out_axes: Any = 0) -> Callable[..., Any]:
    """fun for each index along an axis of its arguments (None: the argument is the same for all), with the results
    stacked along an axis (None: the result is the same for all, or ValueError; fun is called twice then). Axes: one for
    all, or a tuple with an axis, or a tree of axes, for each. Named arguments are mapped along their first axis."""

    @functools.wraps(fun)
    def mapped(*args: Any, **kwargs: Any) -> Any:
        ends, tree = flatten((args, kwargs))
        axes = spread((tuple(in_axes) if isinstance(in_axes, list) else in_axes, 0), (args, kwargs))
        places = [place for place, axis in enumerate(axes) if axis is not None]
        arrays = [asarray(ends[place]) for place in places]
        inner = Flat(fun, ends, tree, places)
        from_first = [axes[place] + a.ndim * (axes[place] < 0) for place, a in zip(places, arrays)]
        results = inner.result(_arrays.vmap(inner, arrays, from_first, []))
        made, form = flatten(results)
        out = spread(out_axes, results)
        if None in out:
            made = _arrays.vmap(inner, arrays, from_first, [-1 if axis is None else 0 for axis in out])
        return form.build([moveaxis(a, 0, axis) if axis else a for a, axis in zip(made, out)])

    return mapped


def compile(fun: _F) -> _F:
    """fun, traced once for each structure, shapes and types of its arguments, and for each value of arguments that
    aren't arrays: numbers, strings. Captured arrays keep the values they had then. Only tracing is saved: all evaluation
    is compiled."""
    known: dict[Any, tuple[Flat, Any]] = {}  # by the structure of the arguments

    @functools.wraps(fun)
    def compiled(*args: Any, **kwargs: Any) -> Any:
        ends, tree = flatten((args, kwargs))
        forms = [(end.shape, str(end.dtype)) if is_array(end) else (type(end), end) for end in ends]
        inner, arrays = flat(fun, args, kwargs)
        found = known.get((tree, *forms))
        if found is None:
            found = known.setdefault((tree, *forms), (inner, _arrays.compile(inner)))
        return found[0].result(found[1](arrays))

    return compiled  # type: ignore[return-value]


def checkpoint(fun: _F) -> _F:
    """fun with derivatives that store only the arguments and recompute the rest."""

    @functools.wraps(fun)
    def recomputed(*args: Any, **kwargs: Any) -> Any:
        inner, arrays = flat(fun, args, kwargs)
        return inner.result(_arrays.checkpoint(inner, arrays))

    return recomputed  # type: ignore[return-value]


def custom_vjp(fun: _F, fun_vjp: Callable[[Any, Any, Any], Any]) -> _F:
    """fun with the caller's derivative: fun_vjp(arguments, cotangents, outputs) returns a tuple with a gradient for
    each argument."""

    @functools.wraps(fun)
    def differentiable(*args: Any) -> Any:
        inner, arrays = flat(fun, args, {})
        form = flatten(args)[1]

        def backwards(primals: Sequence[array], cotangents: Sequence[array], outputs: Sequence[array]) -> list[array]:
            gradients = fun_vjp(form.build(primals), inner.result(cotangents), inner.result(outputs))
            return [asarray(end) for end in flatten(gradients)[0]]

        return inner.result(_arrays.custom_vjp(inner, backwards, arrays))

    return differentiable  # type: ignore[return-value]


def custom_function(
    fun: _F,
    fun_vjp: Callable[[Any, Any, Any], Any] | None = None,
    fun_jvp: Callable[[Any, Any], Any] | None = None,
    fun_vmap: Callable[[Any, Any], tuple[Any, Any]] | None = None,
) -> _F:
    """fun with the caller's transformations, or its own for those that aren't given. fun_vjp(arguments, cotangents, outputs)
    returns a tuple with a gradient for each argument, for vjp and grad; fun_jvp(arguments, tangents), with None for
    what isn't differentiated, the tangents of fun's result, for jvp; fun_vmap(arguments, axes), with None for no axis,
    a pair of results and their axes."""

    @functools.wraps(fun)
    def transformable(*args: Any) -> Any:
        inner, arrays = flat(fun, args, {})
        ends, form = flatten(args)
        places = [place for place, end in enumerate(ends) if is_array(end)]

        def whole(values: Sequence[Any], others: Sequence[Any]) -> Any:
            return form.build([dict(zip(places, values)).get(place, other) for place, other in enumerate(others)])

        def backwards(primals: Sequence[array], cotangents: Sequence[array], outputs: Sequence[array]) -> list[array]:
            gradients = flatten(fun_vjp(whole(primals, ends), inner.result(cotangents), inner.result(outputs)))[0]  # type: ignore[misc]
            return [asarray(gradient) for gradient in (gradients if len(gradients) == len(places) else [gradients[place] for place in places])]

        def forwards(primals: Sequence[array], tangents: Sequence[array], by: Sequence[int]) -> list[array]:
            given = dict(zip(by, tangents))
            along = whole([given.get(i) for i in range(len(places))], [None] * len(ends))
            return [asarray(end) for end in flatten(fun_jvp(whole(primals, ends), along))[0]]  # type: ignore[misc]

        def batched(inputs: Sequence[array], axes: Sequence[int]) -> tuple[list[array], list[int]]:
            along = whole([None if axis == -1 else axis for axis in axes], [None] * len(ends))
            results, out = fun_vmap(whole(inputs, ends), along)  # type: ignore[misc]
            made = [asarray(end) for end in flatten(results)[0]]
            return made, [-1 if axis is None else axis for axis in spread(out, results)]

        rules = (backwards if fun_vjp else None, forwards if fun_jvp else None, batched if fun_vmap else None)
        return inner.result(_arrays.custom_function(inner, *rules, arrays))

    return transformable  # type: ignore[return-value]


def while_loop(cond: Callable[[Any], Any], body: Callable[[Any], Any], init: Any) -> Any:
    """Starts with init and applies body(...) while cond(...), a boolean scalar, is true. It can be batched, and
    differentiated forwards (jvp)."""
    inner, arrays = flat(body, (init,), {})
    test = flat(cond, (init,), {})[0]
    results = _arrays.while_loop(lambda at: test(at)[0], inner, arrays)
    return flatten(init)[1].build(results)


def scan(f: Callable[[Any, Any], tuple[Any, Any]], init: Any, xs: Any = None, length: int | None = None, reverse: bool = False) -> tuple[Any, Any]:
    """Applies f(carry, x) = (carry, y) to each x along the first dimension of xs (backwards with reverse): returns the
    last carry, and the stacked ys. length: the trip count where there are no xs."""
    carry, form = flatten(init)
    along, x_form = flatten(xs)
    made: list[Any] = []

    def step(carries: Sequence[array], x: Sequence[array]) -> tuple[list[array], list[array]]:
        carry, y = f(form.build(carries), x_form.build(x))
        ends, tree = flatten(y)
        made[:] = [tree]
        return [asarray(end) for end in flatten(carry)[0]], [asarray(end) for end in ends]

    last, ys = _arrays.scan(step, [asarray(end) for end in carry], [asarray(end) for end in along], -1 if length is None else length, reverse)
    return form.build(last), made[0].build(ys)


def cond(pred: Any, on_true: Callable[..., Any], on_false: Callable[..., Any], *operands: Any) -> Any:
    """on_true(*operands) or on_false(*operands), as the boolean scalar selects; only that one is computed."""
    yes, arrays = flat(on_true, operands, {})
    no = flat(on_false, operands, {})[0]
    return yes.result(_arrays.cond(asarray(pred), yes, no, arrays))


def plan(fun: Callable[..., Any], *args: Any, **kwargs: Any) -> _arrays.Plan:
    """What evaluating fun(...) would take, without running it: peak, floor, buffers. Only shapes and types of the
    arguments matter."""
    return _arrays.plan_of(*flat(fun, args, kwargs))


def limit(fun: _F, bytes: int) -> _F:
    """fun, evaluated as it is called, in a plan whose peak (arguments, results and arena) is within this many bytes.
    LimitError if there is none."""

    @functools.wraps(fun)
    def within(*args: Any, **kwargs: Any) -> Any:
        inner, arrays = flat(fun, args, kwargs)
        return inner.result(_arrays.limited(inner, bytes, arrays))

    return within  # type: ignore[return-value]


def function_of(program: Any) -> Callable[..., Any]:
    """The program as a function of its arguments, flattened, that can be differentiated, batched and compiled: a file in
    any form that Lowtide reads (its path), a Program, or what JAX's jit(f).lower(...) gives. It returns an array, or a
    tuple of them. RuntimeError names an operation that isn't supported, or whose derivative isn't."""
    if isinstance(program, _arrays.Program):
        run = _arrays.program_of(program)
    elif hasattr(program, "as_text"):
        run = _arrays.program_in(program.as_text().encode(), "program.mlir")
    else:
        run = _arrays.program_at(os.fspath(program))

    def call(*args: Any) -> Any:
        results = run([asarray(arg) for arg in args])
        return results[0] if len(results) == 1 else tuple(results)

    return call


def to_program(fun: Callable[..., Any], *args: Any, name: str = "arrays") -> _arrays.Program:
    """The program that computes fun(*args), of which only shapes and types matter: its text is hlo() or stablehlo().
    Arrays that fun captures become constants of it."""
    return _arrays.to_program(*flat(fun, args, {}), name)
