#!/usr/bin/env python3
"""Files one can read in one sitting: median <= 150 lines, 90 % <= 400, none above 700."""
import pathlib
import statistics
import sys

root = pathlib.Path(__file__).resolve().parent.parent
lines = {
    path.relative_to(root).as_posix(): len(path.read_text().splitlines())
    for folder in ("include", "src", "tools", "pjrt", "tests", "scripts", "bench", "python")
    for path in (root / folder).rglob("*")
    if path.suffix in (".h", ".cpp", ".def", ".py", ".sh")
}
ordered = sorted(lines.values())
median, most = statistics.median(ordered), ordered[int(len(ordered) * 0.9)]
large = {name: n for name, n in lines.items() if n > 700}
print(f"{len(ordered)} files, {sum(ordered)} lines: median {median:.0f}, 90 % <= {most}, largest {ordered[-1]}")
for name, n in large.items():
    print(f"{name}: {n} lines, the ceiling is 700")
sys.exit(bool(large) or median > 150 or most > 400)
