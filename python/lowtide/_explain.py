"""What holds memory, why, and what would free it."""

from __future__ import annotations

import json
import os
from typing import Any

from lowtide import _native
from lowtide._programs import program_of


class Report:
    """An explanation: `print` shows it as the command does, notebooks draw it, `.rows` and `.data` are what it says."""

    def __init__(self, texts: dict[str, str]):
        self._texts = texts
        #: all of it, as in docs/schema/lowtide.schema.json
        self.data: dict[str, Any] = json.loads(texts["json"])

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The buffers at the peak of the program as given, largest first: pandas.DataFrame(report.rows)."""
        return self.data.get("input_at_peak") or self.data.get("at_peak") or []

    def text(self) -> str:
        return self._texts["report"]

    def html(self) -> str:
        return self._texts["page"]

    def save(self, path: str | os.PathLike) -> None:
        """A page of its own, or JSON where the name ends in .json."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self._texts["json"] if os.fspath(path).endswith(".json") else self.html())

    def __str__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        import html
        return f'<iframe srcdoc="{html.escape(self.html(), quote=True)}" style="width:100%;height:600px;border:0"></iframe>'


def explain(x: Any, *args: Any, rows: int = 10, **kwargs: Any) -> Report:
    """Explains a path, text, bytes, a function with its arguments, or what JAX made of one; rows: of each table, 0: all."""
    program, name = program_of(x, args, kwargs)
    return Report(_native.explain(program, name, rows))
