"""Explains out-of-memory errors."""

from __future__ import annotations

import contextlib
import linecache
import os
import re
import tempfile
from collections.abc import Iterator
from typing import Any

from lowtide._explain import Report, explain
from lowtide._native import LowtideError, format_bytes
from lowtide._progress import logger


class OutOfMemoryError(LowtideError, MemoryError):
    """Explains what failed: `.report` shows what holds its memory. The backend's error is its cause."""

    def __init__(self, message: str, report: Report | None):
        super().__init__("limit", message)
        self.report = report


@contextlib.contextmanager
def oom(rows: int = 10) -> Iterator[None]:
    """Code in this block that runs out of memory, on any backend, raises OutOfMemoryError: it says which program it
    was, what holds its memory at the peak, and which of your lines created that. For asynchronous backends (GPUs), wait
    for results in the block."""
    with tempfile.TemporaryDirectory(prefix="lowtide_") as folder, _compiled_programs_go_to(folder):
        try:
            yield
        except Exception as error:
            if not _is_out_of_memory(error):
                raise
            report = None
            try:
                program = _program_of(error, folder)
                report = None if program is None else explain(program, rows=rows)
            except Exception as why:  # the original error is the one to report
                logger.warning("what ran out of memory can't be explained: %s", why)
            raise OutOfMemoryError(_message(error, report, rows), report) from error


def _is_out_of_memory(error: BaseException) -> bool:
    if isinstance(error, LowtideError):
        return error.kind == "limit" and not isinstance(error, OutOfMemoryError)
    return "RESOURCE_EXHAUSTED" in str(error) or "Out of memory" in str(error)


@contextlib.contextmanager
def _compiled_programs_go_to(folder: str) -> Iterator[None]:
    """Makes JAX write the programs that it compiles to the folder: nothing else is left of one that fails to compile."""
    import jax
    before = jax.config.values["jax_dump_ir_to"]
    if not before:
        jax.config.update("jax_dump_ir_to", folder)
    try:
        yield
    finally:
        jax.config.update("jax_dump_ir_to", before)


def _program_of(error: BaseException, folder: str) -> str | None:
    if isinstance(error, LowtideError):
        return error.program
    wanted = _bytes_in(str(error))
    executable = _live_executable(wanted)
    compiled = _compiled_last(folder)
    # A program that failed to compile isn't live; a message that matches no live program is about the last one compiled.
    if compiled and (executable is None or not executable[1]):
        return compiled
    return executable[0] if executable else None


def _bytes_in(message: str) -> int | None:
    """The bytes that couldn't be allocated: "Out of memory allocating 4398046511104 bytes", "... trying to allocate
    12.50GiB"."""
    units = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
    found = re.search(r"allocat\w*:? (?:of )?([\d.]+) ?([kmgt]?)i?b", message, re.IGNORECASE)
    return int(float(found[1].rstrip(".")) * units[found[2].lower()]) if found else None


def _live_executable(wanted: int | None) -> tuple[str, bool] | None:
    """The text of the live executable that requested this many bytes, or else of the one that needs most, and whether
    it is the one that requested them."""
    import jax
    best: tuple[bool, int, Any] | None = None
    clients = {id(device.client): device.client for device in jax.devices()}
    for client in clients.values():
        for executable in client.live_executables():
            try:
                stats = executable.get_compiled_memory_stats()
            except Exception:  # a backend without this information
                continue
            temp, output = stats.temp_size_in_bytes, stats.output_size_in_bytes
            asked = wanted is not None and any(abs(size - wanted) <= 0.005 * wanted for size in (temp, output, temp + output))
            if best is None or (asked, temp + output) > best[:2]:
                best = (asked, temp + output, executable)
    if best is None:
        return None
    try:
        return best[2].hlo_modules()[0].to_string(), best[0]
    except Exception:
        return None


def _compiled_last(folder: str) -> str | None:
    files = [os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".mlir")]
    if not files:
        return None
    with open(max(files, key=lambda path: (os.stat(path).st_mtime_ns, path)), encoding="utf-8") as file:
        return file.read()


def _message(error: BaseException, report: Report | None, rows: int) -> str:
    if report is None:
        return str(error)
    lines = _own_lines(report, rows)
    return "\n".join([str(error), "", str(report).rstrip()] + (["", "Lines of the program that made most of it:"] + lines if lines else []))


def _own_lines(report: Report, most: int) -> list[str]:
    """Bytes at the peak by source line, largest first."""
    sizes: dict[str, int] = {}
    for row in report.rows:
        if row.get("source"):
            sizes[row["source"]] = sizes.get(row["source"], 0) + row["bytes"]
    lines = []
    for source, size in sorted(sizes.items(), key=lambda item: -item[1])[:most]:
        path, _, number = source.rpartition(":")
        text = linecache.getline(path, int(number)).strip() if number.isdigit() else ""
        lines.append(f"  {format_bytes(size):>8}  {source}" + (f"  {text}" if text else ""))
    return lines
