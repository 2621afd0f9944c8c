"""Progress of long calls: a line on a terminal, a bar in a notebook; and the log."""

from __future__ import annotations

import contextlib
import html
import logging
import sys
import time
from collections.abc import Callable, Iterator

#: the library's warnings, and the outcome for programs
logger = logging.getLogger("lowtide")

_FIRST_AFTER = 1.5  # seconds before progress is shown
_wanted: bool | None = None


def show_progress(wanted: bool | None) -> None:
    """True: always; False: never; None, the default: in notebooks and on terminals."""
    global _wanted
    _wanted = wanted


@contextlib.contextmanager
def shown() -> Iterator[Callable[[float, str], None]]:
    """A function to call any number of times with a call's progress: the share done (0 to 1) and a line."""
    notebook = _notebook()
    bar = _Bar(notebook) if notebook else _Line()
    bar.silent = _wanted is False or (_wanted is None and not notebook and not sys.stderr.isatty())
    start = time.monotonic()

    def show(share: float, text: str) -> None:
        if text and not bar.silent and time.monotonic() - start > _FIRST_AFTER:
            bar.draw(share, text)

    try:
        yield show
    finally:
        bar.end()


class _Line:
    """A line that overwrites itself."""

    silent = False

    def __init__(self) -> None:
        self._drawn = 0

    def draw(self, share: float, text: str) -> None:
        text = text[:99]
        sys.stderr.write("\r" + text.ljust(self._drawn))
        sys.stderr.flush()
        self._drawn = len(text)

    def end(self) -> None:
        if self._drawn:
            sys.stderr.write("\r" + " " * self._drawn + "\r")
            sys.stderr.flush()


class _Bar(_Line):
    """The same in a notebook, which keeps the last drawing."""

    def __init__(self, display: Callable) -> None:
        super().__init__()
        self._display = display
        self._handle = None

    def draw(self, share: float, text: str) -> None:
        self._show(f'<progress value="{share:.3f}" max="1"></progress> {html.escape(text)}')

    def _show(self, page: str) -> None:
        from IPython.display import HTML
        if self._handle is None:
            self._handle = self._display(HTML(page), display_id=True)
        else:
            self._handle.update(HTML(page))

    def end(self) -> None:
        if self._handle is not None:
            self._show("")


def _notebook() -> Callable | None:
    """IPython's display, if this is a notebook."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    if shell is None or not hasattr(shell, "kernel"):
        return None
    from IPython.display import display
    return display
