"""Streams: evaluations on one stream run one after another, those on different streams concurrently."""

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
