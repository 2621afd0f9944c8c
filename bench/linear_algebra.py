#!/usr/bin/env python3
"""Linear algebra as jax.numpy has it, from batches of small matrices to large ones, beside XLA:CPU in this process:
milliseconds, the fastest of several turns that both take.

  linear_algebra.py [build/lowtide] [--rounds 3] [--only TEXT] [--above RATIO]

Needs jax in the interpreter that runs it. Ends with the geometric mean of the ratios, by function and of all, and the
worst. --above: lists only what is slower than that. Both sides have the arguments that Lowtide seeds; what has to be
well-conditioned is made so by adding to the diagonal, which costs nothing beside the function.
"""
import collections
import itertools
import math
import pathlib
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests" / "external"))
import xla  # which asks for jax on CPUs alone
import jax
import jax.numpy as jnp
from jax.scipy.linalg import lu_factor, solve_triangular

import beside_xla

# How many matrices, of which order.
SIZES = [(4096, 2), (4096, 4), (1024, 8), (512, 16), (256, 32), (16, 128), (1, 32), (1, 128), (1, 512), (1, 1024)]
LARGE = [(1, 2048)]
TALL = [(100000, 16), (6000, 64), (2000, 256)]  # rows, columns


def shifted(a):
    return a + a.shape[-1] * jnp.eye(a.shape[-1], dtype=a.dtype)


# name: the function, the columns of its right side (n: as many as rows) if it has one, whether it is cheap enough for LARGE.
FUNCTIONS = {
    "cholesky": (lambda a: jnp.linalg.cholesky(shifted(a)), None, True),
    "triangular vector": (lambda a, b: solve_triangular(shifted(a), b, lower=True), 1, True),
    "triangular": (lambda a, b: solve_triangular(shifted(a), b, lower=True), "n", True),
    "lu": (lu_factor, None, True),
    "solve": (jnp.linalg.solve, 1, False),
    "inv": (jnp.linalg.inv, None, False),
    "det": (jnp.linalg.det, None, False),
    "qr": (jnp.linalg.qr, None, False),
    "eigh": (jnp.linalg.eigh, None, False),
    "svd": (lambda a: jnp.linalg.svd(a, full_matrices=False), None, False),
}


def programs(only):
    for function, (run, columns, cheap) in FUNCTIONS.items():
        for batch, n in SIZES + LARGE * cheap:
            for dtype in ("float32", "float64"):
                name = f"{function} {batch}x{n} {dtype}"
                if only not in name:
                    continue
                shapes = [(batch, n, n) if batch > 1 else (n, n)]
                if columns is not None:
                    shapes.append(shapes[0][:-1] + (n if columns == "n" else columns,))
                yield function, name, run, [xla.seeded(k, jnp.dtype(dtype).type, shape) for k, shape in enumerate(shapes)]


def tall_programs(only):
    for rows, columns in TALL:
        for dtype in ("float32", "float64"):
            name = f"tall qr {rows}x{columns} {dtype}"
            if only in name:
                yield "tall qr", name, jnp.linalg.qr, [xla.seeded(0, jnp.dtype(dtype).type, (rows, columns))]


def main():
    parser = beside_xla.parser(__doc__)
    parser.add_argument("--above", type=float, default=0)
    options = parser.parse_args()
    ratios = collections.defaultdict(list)
    print(f"{'linear algebra':36} {'XLA ms':>9} {'ms':>9} {'ratio':>6}")
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "linear_algebra.hlo"
        for function, name, run, numbers in itertools.chain(programs(options.only), tall_programs(options.only)):
            with jax.enable_x64(name.endswith("64")):
                lowered = jax.jit(run).lower(*numbers)
                path.write_text(lowered.compiler_ir("hlo").as_hlo_text())
                peer = lowered.compile()
                arguments = [jax.device_put(x) for x in numbers]

                def once():
                    start = time.perf_counter()
                    jax.block_until_ready(peer(*arguments))
                    return time.perf_counter() - start
                once()
                repeats = min(max(int(0.05 / once()), 3), 40)
                theirs = ours = math.inf
                for _ in range(options.rounds):
                    theirs = min(theirs, *(once() for _ in range(repeats)))
                    time.sleep(0.02)  # the threads of its library spin on for a while
                    ours = min(ours, beside_xla.seconds_of_ours(options.lowtide, path, repeats))
            ratios[function].append(ours / theirs)
            if ours / theirs > options.above:
                print(f"{name:36} {theirs * 1e3:9.3f} {ours * 1e3:9.3f} {ours / theirs:6.2f}", flush=True)
    for function, values in ratios.items():
        print(f"{function:36} {'':9} {'':9} {beside_xla.geometric_mean(values):6.2f} worst {max(values):.2f}")
    values = sum(ratios.values(), [])
    print(beside_xla.summary(values, "programs") + f", {sum(v > 1.05 for v in values)} above 1.05")


main()
