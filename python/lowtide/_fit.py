"""The same function in less memory, for XLA on whatever device JAX has."""

from __future__ import annotations

import dataclasses
import functools
import json
import re
from collections.abc import Callable
from typing import Any

from lowtide import _signature
from lowtide._native import LowtideError, Session, format_bytes, size_in_bytes
from lowtide._progress import logger

_VERSION = "1.15.0"  # of StableHLO, as jax.export writes it
_TRIES = 4  # the number of targets tried if XLA needs more than the model's figure
_NO_SLOPE = "a fitted function can't be differentiated: fit the step, not the loss, with jax.grad inside of what is fitted"
_NO_BATCH = "a fitted function has no batched form: fit the batched function, lowtide.fit(jax.vmap(f))"


@dataclasses.dataclass
class Fit:
    """One signature of a function, fitted."""

    call: Any  #: jitted
    exported: Any  #: jax.export.Exported, which can be serialised
    plan: dict[str, Any]  #: the report of the search, as in docs/schema/lowtide.schema.json
    text: str  #: the same for people
    before: Any  #: memory_analysis() of the original function; None if the backend has none
    after: Any  #: the same of `call`
    is_rewritten: bool  #: False: XLA needs no less for the rewritten program, and `call` is the original function

    def memory_analysis(self) -> tuple[Any, Any]:
        """XLA's figures before and after."""
        return self.before, self.after


class Fitted:
    """A function rewritten for XLA. Called like the original, also under jax.jit. Each signature is fitted at its first
    call. It can't be differentiated: fit the step, not the loss."""

    def __init__(self, function: Callable, limit: str, exact: bool, machine: str | None, donate_argnums: Any, donate_argnames: Any, static_argnums: Any,
                 static_argnames: Any):
        import jax
        functools.update_wrapper(self, function, updated=())
        given = lambda mine, name: mine if mine is not None else _signature.jitted_with(function, name)
        self._static = _signature.Static(function, given(static_argnums, "static_argnums"), given(static_argnames, "static_argnames"))
        # A jitted function keeps its jit options.
        self._jitted = function if hasattr(function, "lower") else jax.jit(
            function, donate_argnums=_signature.as_tuple(donate_argnums), donate_argnames=_signature.as_tuple(donate_argnames),
            static_argnums=self._static.numbers, static_argnames=self._static.names)
        self._limit, self._options = limit, {"exact": exact, "machine": machine}
        self._made: dict[tuple, Fit] = {}
        self._last: Fit | None = None

    def fitted_for(self, *args: Any, **kwargs: Any) -> Fit:
        """The fitted signature for arguments like these: arrays or jax.ShapeDtypeStruct."""
        import jax
        dynamic, named, statics = self._static.split(args, kwargs)
        leaves, tree = jax.tree.flatten((dynamic, named))
        key = (tree, statics, jax.config.jax_enable_x64, tuple(map(_signature.leaf_key, leaves)))
        made = self._made.get(key)
        if made is None:
            made = self._made[key] = self._fit(leaves, tree, statics)
        self._last = made
        return made

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        fit = self.fitted_for(*args, **kwargs)
        dynamic, named, _ = self._static.split(args, kwargs)
        try:
            return fit.call(*dynamic, **named)
        except NotImplementedError as error:
            if "call_exported" in str(error) and "atching" in str(error):
                raise NotImplementedError(_NO_BATCH) from error
            raise

    def lower(self, *args: Any, **kwargs: Any) -> Any:
        dynamic, named, _ = self._static.split(args, kwargs)
        return self.fitted_for(*args, **kwargs).call.lower(*dynamic, **named)

    @property
    def plan(self) -> dict[str, Any]:
        """The report of the search for the signature that was called last."""
        return self._latest().plan

    def memory_analysis(self, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
        """XLA's figures before and after, for arguments like these, or by default for those of the last call."""
        return (self.fitted_for(*args, **kwargs) if args or kwargs else self._latest()).memory_analysis()

    def _latest(self) -> Fit:
        if self._last is None:
            raise LowtideError("usage", "nothing is fitted before the first call, or fitted_for(...)")
        return self._last

    def _fit(self, leaves: list, tree: Any, statics: tuple) -> Fit:
        import jax
        given = [_spread(leaf) for leaf in leaves]
        dynamic, named = jax.tree.unflatten(tree, given)
        args, kwargs = self._static.join(dynamic, named, statics)
        lowered = self._jitted.lower(*args, **kwargs)
        before = _analysis(lowered)
        exported = _export(self._jitted, lowered, args, kwargs)
        donated = tuple(i for i, info in enumerate(jax.tree.leaves(lowered.args_info)) if info.donated)
        fit = Fit(_Call(_without_slope(exported.call, tree), donated), exported, {}, "", before, before, False)
        if self._limit and before is not None and _peak(before) <= size_in_bytes(self._limit):
            return self._told(fit, "which is within the limit")
        options = self._options | {"machine": self._options["machine"] or _machine_of(exported.platforms)}
        module = Session(**options).read(bytes(exported.mlir_module_serialized), exported.fun_name)
        limit = target = size_in_bytes(self._limit) if self._limit else 0
        for _ in range(_TRIES):
            program, texts = module.fit_for_xla(str(target) if target else "")
            fit.plan, fit.text = json.loads(texts["json"]), texts["report"]
            fitted = dataclasses.replace(exported, mlir_module_serialized=_serialised(program))
            call = _Call(_without_slope(fitted.call, tree), donated)
            after = _analysis(call.lower_flat([_committed_struct(leaf) for leaf in leaves]))
            if after is None or not limit or _peak(after) <= limit or fit.plan["peak_bytes"] > target:
                break
            target = int(target * limit / _peak(after) * 0.98)  # the model of XLA's account is too low here
        if before is not None and after is not None and _peak(after) >= _peak(before):
            return self._told(fit, "and no less for what Lowtide makes of it")
        fit.call, fit.exported, fit.after, fit.is_rewritten = call, fitted, after, True
        return self._told(fit, "")

    def _told(self, fit: Fit, why_not: str) -> Fit:
        """Logs the outcome; an error if it exceeds the limit."""
        name = getattr(self, "__name__", "the function")
        if fit.before is None and fit.after is None:
            return fit
        before, after = ("more than there is" if analysis is None else format_bytes(_peak(analysis)) for analysis in (fit.before, fit.after))
        what = f"{name}: XLA takes {before} as given and {after} fitted" if fit.is_rewritten else \
            f"{name}: XLA takes {before}, {why_not}; it stays as it is"
        logger.info("%s", what)
        fit.text = what + "\n\n" + fit.text
        if self._limit and fit.after is not None and _peak(fit.after) > size_in_bytes(self._limit):
            raise LowtideError("limit", f"{name}: {after} is the least that was found, and more than the limit of {self._limit}\n\n{fit.text}", _peak(fit.after))
        return fit


class _Call:
    """A function of flat arguments, jitted, called with trees."""

    def __init__(self, flat: Callable, donated: tuple[int, ...]):
        import jax
        self._jitted = jax.jit(flat, donate_argnums=donated)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        import jax
        return self._jitted(*map(_committed, jax.tree.leaves((args, kwargs))))

    def lower(self, *args: Any, **kwargs: Any) -> Any:
        import jax
        return self.lower_flat(jax.tree.leaves((args, kwargs)))

    def lower_flat(self, leaves: list) -> Any:
        return self._jitted.lower(*leaves)


def _committed(leaf: Any) -> Any:
    """The same array, committed to its device: results of exported functions are committed, and passing one back as an
    argument would otherwise cause another compilation."""
    import jax
    if not isinstance(leaf, jax.Array) or isinstance(leaf, jax.core.Tracer) or leaf.committed:
        return leaf
    return jax.device_put(leaf, leaf.sharding)


def _committed_struct(leaf: Any) -> Any:
    import jax
    if not isinstance(leaf, jax.Array) or isinstance(leaf, jax.core.Tracer):
        return leaf
    return jax.ShapeDtypeStruct(leaf.shape, leaf.dtype, sharding=leaf.sharding, weak_type=getattr(leaf, "weak_type", False))


def _without_slope(call: Callable, tree: Any) -> Callable:
    """`call` on flat arguments, with a clear error for its missing derivative."""
    import jax

    @jax.custom_jvp
    def flat(*leaves: Any) -> Any:
        args, kwargs = jax.tree.unflatten(tree, leaves)
        return call(*args, **kwargs)

    @flat.defjvp
    def refuse(primals: Any, tangents: Any) -> Any:
        raise TypeError(_NO_SLOPE)

    return flat


def _spread(leaf: Any) -> Any:
    """Its ShapeDtypeStruct, with a sharding if it is on several devices."""
    import jax
    if not isinstance(leaf, jax.Array):
        return leaf
    if isinstance(leaf, jax.core.Tracer) or len(leaf.sharding.device_set) == 1:
        return _signature.struct(leaf)
    return jax.ShapeDtypeStruct(leaf.shape, leaf.dtype, sharding=leaf.sharding, weak_type=getattr(leaf, "weak_type", False))


def _export(jitted: Any, lowered: Any, args: tuple, kwargs: dict) -> Any:
    """Allows all custom calls: the export is run in this process."""
    from jax import export
    names = set(re.findall(r"custom_call @([\w.$]+)", lowered.as_text()))
    checks = [export.DisabledSafetyCheck.custom_call(name) for name in sorted(names)]
    return export.export(jitted, disabled_checks=checks)(*args, **kwargs)


def _machine_of(platforms: tuple[str, ...]) -> str | None:
    """The machine whose costs are the nearest to those of the device that JAX has; None for this machine's processors."""
    import jax
    if platforms[0] in ("cuda", "rocm", "gpu"):
        return "h200" if any("H200" in device.device_kind for device in jax.devices() if device.platform == "gpu") else "h100"
    return "v5p" if platforms[0] == "tpu" else None


def _analysis(lowered: Any) -> Any:
    """XLA's own account; None if the backend has none, or can't compile it."""
    try:
        return lowered.compile().memory_analysis()
    except Exception as error:
        if "RESOURCE_EXHAUSTED" not in str(error) and "UNIMPLEMENTED" not in str(error):
            raise
        return None


def _peak(analysis: Any) -> int:
    return analysis.argument_size_in_bytes + analysis.output_size_in_bytes - analysis.alias_size_in_bytes + analysis.temp_size_in_bytes


def _serialised(program: bytes) -> bytes:
    """The program in jax.export's form. With operations that only chlo has, the library returns text, which jaxlib
    converts to bytecode."""
    if program.startswith(b"ML\xefR"):
        return program
    from jax._src.interpreters import mlir
    from jax._src.lib.mlir import ir
    from jaxlib.mlir.dialects import stablehlo
    with mlir.make_ir_context():
        return stablehlo.serialize_portable_artifact(ir.Module.parse(program.decode()), _VERSION, allow_other_dialects=True)


def fit(function: Callable | None = None, limit: str | int | None = None, *, for_: str = "xla", exact: bool = False, machine: str | None = None,
        donate_argnums: Any = None, donate_argnames: Any = None, static_argnums: Any = None, static_argnames: Any = None) -> Any:
    """`function`, rewritten so that stock XLA runs it in less memory: within `limit` ("8GiB", bytes), or in as little as possible. If
    XLA needs no less for the rewritten program, the original is used. machine: whose cost model chooses plans ("h100"), by
    default the nearest to JAX's device; exact: keep every sum's order."""
    if for_ != "xla":
        raise ValueError(f'for_ is {for_!r}, expected "xla"; lowtide.jit runs on Lowtide')
    if function is None:
        return functools.partial(fit, limit=limit, exact=exact, machine=machine, donate_argnums=donate_argnums, donate_argnames=donate_argnames,
                                 static_argnums=static_argnums, static_argnames=static_argnames)
    return Fitted(function, "" if limit is None else str(limit), exact, machine, donate_argnums, donate_argnames, static_argnums, static_argnames)
