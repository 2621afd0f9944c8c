"""The same function in less memory, for XLA on whatever device JAX has."""

from __future__ import annotations

import dataclasses
import functools
import json
from typing import Any, Callable, Sequence

from lowtide import _native

_VERSION = "1.15.0"  # of StableHLO, as jax.export writes it


class Fitted:
    """A function rewritten for XLA. Called as the one it was made of; under jax.jit, too. Each signature is fitted when it
    is first seen. It can't be differentiated: fit the step, not the loss."""

    def __init__(self, function: Callable, limit: str, donate_argnums: Sequence[int], static_argnums: Sequence[int]):
        import jax
        functools.update_wrapper(self, function, updated=())
        # A jitted function keeps what it was jitted with.
        self._jitted = function if hasattr(function, "lower") else jax.jit(
            function, donate_argnums=donate_argnums, static_argnums=static_argnums)
        self._limit, self._donated, self._made = limit, tuple(donate_argnums), {}
        self._static = tuple(static_argnums)

    def fitted_for(self, *args: Any, **kwargs: Any) -> "Fit":
        """What was made for arguments like these: arrays or jax.ShapeDtypeStruct."""
        import jax
        leaves, tree = jax.tree.flatten((args, kwargs))
        key = (tree, tuple((getattr(leaf, "shape", None), str(getattr(leaf, "dtype", leaf)), getattr(leaf, "weak_type", False)) for leaf in leaves))
        if key not in self._made:
            self._made[key] = _fit_one(self._jitted, self._limit, self._donated, args, kwargs)
        return self._made[key]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.fitted_for(*args, **kwargs).call(*self._dynamic(args), **kwargs)

    def lower(self, *args: Any, **kwargs: Any) -> Any:
        return self.fitted_for(*args, **kwargs).call.lower(*self._dynamic(args), **kwargs)

    def _dynamic(self, args: tuple) -> tuple:
        return tuple(arg for i, arg in enumerate(args) if i not in self._static)


@dataclasses.dataclass
class Fit:
    """One signature of a function, fitted."""

    call: Any  #: jitted
    exported: Any  #: jax.export.Exported, which can be serialised
    plan: dict  #: the report of the search, as in docs/schema/lowtide.schema.json
    text: str  #: the same for people
    before: Any  #: jitted, as it was

    def memory_analysis(self, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
        """What XLA takes before and after, for these arguments or ones of their shapes."""
        before = self.before.lower(*args, **kwargs).compile().memory_analysis()
        return before, self.call.lower(*args, **kwargs).compile().memory_analysis()


def _fit_one(jitted: Any, limit: str, donated: tuple, args: tuple, kwargs: dict) -> Fit:
    import jax
    from jax import export
    checks = [export.DisabledSafetyCheck.custom_call(name) for name in ("annotate_device_placement",)]
    exported = export.export(jitted, disabled_checks=checks)(*args, **kwargs)
    texts = _native.Session().read(bytes(exported.mlir_module_serialized), exported.fun_name).fit_for_xla(limit)
    fitted = dataclasses.replace(exported, mlir_module_serialized=_serialised(texts["program"]))
    before = exported
    call = jax.jit(fitted.call, donate_argnums=donated)
    return Fit(call, fitted, json.loads(texts["json"]), texts["report"], jax.jit(before.call, donate_argnums=donated))


def _serialised(text: str) -> bytes:
    from jax._src.interpreters import mlir
    from jax._src.lib.mlir import ir
    from jaxlib.mlir.dialects import stablehlo
    with mlir.make_ir_context():
        module = ir.Module.parse(text)
        return stablehlo.serialize_portable_artifact(module, _VERSION, allow_other_dialects=True)


def fit(function: Callable, limit: str | int | None = None, *, donate_argnums: Sequence[int] = (), static_argnums: Sequence[int] = ()) -> Fitted:
    """`function` as stock XLA runs it in less memory: within `limit` ("8GiB", bytes), or in as little as was found."""
    as_tuple = lambda numbers: (numbers,) if isinstance(numbers, int) else tuple(numbers)
    return Fitted(function, "" if limit is None else str(limit), as_tuple(donate_argnums), as_tuple(static_argnums))
