"""Streams: what is evaluated on one is evaluated one after another, on different ones side by side."""

import contextlib
from collections.abc import Iterator

from lowtide._arrays import Stream, default_stream, new_stream, set_default_stream, synchronize

__all__ = ["Stream", "default_stream", "new_stream", "set_default_stream", "stream", "synchronize"]


@contextlib.contextmanager
def stream(use: Stream) -> Iterator[Stream]:
    """with stream(s): this thread's operations are evaluated there."""
    before = default_stream()
    set_default_stream(use)
    try:
        yield use
    finally:
        set_default_stream(before)
