"""What holds memory, why, and what would free it."""

from __future__ import annotations

import json
import os
from typing import Any

from lowtide._native import Session
from lowtide._programs import program_of


class Report:
    """An explanation: `print` shows it as the command does, notebooks draw it, `.rows` and `.data` are its content."""

    def __init__(self, texts: dict[str, str]):
        self._texts = texts
        #: everything, as in docs/schema/lowtide.schema.json
        self.data: dict[str, Any] = json.loads(texts["json"])

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The buffers at the peak of the program as given, largest first, a flat dict each: pandas.DataFrame(report.rows).
        Everything, with what would free each, is in `.data`."""
        return [_flat(row) for row in self.data.get("input_at_peak") or self.data.get("at_peak") or []]

    @property
    def peak(self) -> int:
        """Bytes of the program as given."""
        return self.data["input_peak_bytes"]

    @property
    def planned_peak(self) -> int:
        """Bytes of Lowtide's plan for it."""
        return self.data["peak_bytes"]

    def text(self) -> str:
        return self._texts["report"]

    def html(self) -> str:
        return self._texts["page"]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a self-contained page, or JSON if the name ends in .json."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self._texts["json"] if os.fspath(path).endswith(".json") else self.html())

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"<lowtide.Report: {self.data.get('module', '')}, peak {self.peak} bytes, {self.planned_peak} planned>"

    def _repr_html_(self) -> str:
        import html
        return f'<iframe srcdoc="{html.escape(self.html(), quote=True)}" style="width:100%;height:600px;border:0"></iframe>'


def _flat(row: dict[str, Any]) -> dict[str, Any]:
    flat = {name: value for name, value in row.items() if not isinstance(value, (dict, list))}
    for name, value in row.get("origin", {}).items():
        flat.setdefault(name, value)
    return flat


def explain(x: Any, *args: Any, rows: int = 10, machine: str | None = None, **kwargs: Any) -> Report:
    """Explains a path, text, bytes, a function with its arguments (arrays or jax.ShapeDtypeStruct), or JAX's Lowered,
    Compiled or Exported. rows: how many of each table, 0: all."""
    program, name = program_of(x, args, kwargs)
    return Report(Session(machine=machine).read(program, name).explain(rows))
