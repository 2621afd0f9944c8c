#!/usr/bin/env python3
"""python_arrays.py [SIDE]: what the arrays cost in Python beside NumPy: to import, to make a step of a graph, and to compute one operation
at a time, of SIDE elements (8). The fastest of seven turns, in microseconds. The package is the one that Python finds."""
import subprocess
import sys
import time

side = int(sys.argv[1]) if len(sys.argv) > 1 else 8
CALLS = 10_000


def fastest(work):
    turns = []
    for _ in range(7):
        start = time.perf_counter()
        work()
        turns.append(time.perf_counter() - start)
    return min(turns) / CALLS * 1e6


def imports(name):
    code = f"import time; t = time.perf_counter(); import {name}; print(time.perf_counter() - t)"
    return min(float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout) for _ in range(7))


import lowtide  # noqa: E402
import lowtide.numpy as np  # noqa: E402
import numpy  # noqa: E402


def repeated(step):
    def work():
        for _ in range(CALLS):
            step()
    return fastest(work)


ours, theirs = np.ones(side), numpy.ones(side, "float32")
ours.eval()
rows = [
    ("x + 1, one step of a graph", repeated(lambda: ours + 1), repeated(lambda: theirs + 1)),
    ("x + x, one step of a graph", repeated(lambda: ours + ours), repeated(lambda: theirs + theirs)),
    ("(x + x).eval()", repeated(lambda: (ours + ours).eval()), repeated(lambda: theirs + theirs)),
    ("x.sum().item()", repeated(lambda: ours.sum().item()), repeated(lambda: theirs.sum().item())),
    ("x[1:3], a step", repeated(lambda: ours[1:3]), repeated(lambda: theirs[1:3])),
]
print(f"import: lowtide.numpy {imports('lowtide.numpy') * 1e3:.0f} ms, lowtide {imports('lowtide') * 1e3:.0f} ms, numpy {imports('numpy') * 1e3:.0f} ms")
print(f"{'each of 10,000 calls, us':32} {'here':>8} {'NumPy':>8}")
for name, a, b in rows:
    print(f"{name:32} {a:8.2f} {b:8.2f}")
