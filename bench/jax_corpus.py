#!/usr/bin/env python3
"""Programs compiled and run by JAX's client on Lowtide's plugin, beside XLA:CPU: results, time and resident set.

  bench/jax_corpus.py [--library build/liblowtide_pjrt.so] [--cache DIR] [--rounds 5] [--times 1] [--only TEXT] [--control] [PROGRAM.hlo...]

Without programs: the cases of mid size and the kernels of the corpus. Each program has a process of its own on each platform,
on seeded arguments. `once` is what the client takes to compile StableHLO, which JAX's front end has parsed, and the first run; `run` the
fastest of the rounds, `MiB` what the resident set grows by at most beyond import and arguments, all of compiling included. Worst growth
first. --times: so many pairs of processes, the fastest `once` and `run` of each platform. --cache: kernels stay there from one call of
this script to the next; otherwise each process finds an empty folder. --control: results are spoilt, which must be noticed.
Exit 1 where a result is wrong, or a geometric mean of `once`, `run` or `MiB` is above 0.3.
"""
import argparse
import ctypes
import gc
import glob
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[1]
CORPUS = ROOT.parent / "shared" / "corpus"
BAR = 0.3


def status(key):
    with open("/proc/self/status") as text:
        return next(int(line.split()[1]) for line in text if line.startswith(key)) / 1024


def child(program, platform, rounds, out):
    sys.path.insert(0, str(ROOT / "tests" / "external"))
    import xla
    xla.jax.config.update("jax_platforms", platform)
    import numpy as np
    text = open(program).read()
    module, shapes = xla.as_mlir(text)
    numbers = [xla.seeded(k, dtype, dims) for k, (dtype, dims) in enumerate(shapes)]
    # Small ones: sums over hundreds of positive numbers make a softmax of one of them, and which one rounding decides.
    numbers = [(x * np.float32(0.1)).astype(x.dtype) if x.dtype.kind not in "?biu" else x for x in numbers]
    put = lambda: xla.jax.block_until_ready([xla.jax.device_put(x) for x in numbers])
    arguments = put()
    gc.collect()
    ctypes.CDLL("libc.so.6").malloc_trim(0)
    base = status("VmRSS:")
    with open("/proc/self/clear_refs", "w") as clear:
        clear.write("5")
    start = time.perf_counter()

    def begin():
        nonlocal start
        start = time.perf_counter()

    executable = xla.compiled_mlir(module, begin)
    compiled = time.perf_counter() - start

    def run(arguments):
        results = [r[0] for r in executable.execute_sharded(arguments).disassemble_into_single_device_arrays()]
        return xla.jax.block_until_ready(results)

    results = run(arguments)
    once, growth = time.perf_counter() - start, status("VmHWM:") - base
    kept = {f"out{i}": np.asarray(r) for i, r in enumerate(results)}
    np.savez(out, **{k: v.astype(np.float32) if v.dtype.kind not in "?biufc" else v for k, v in kept.items()})
    del results, kept
    seconds = []
    for _ in range(rounds):
        arguments = put()
        begun = time.perf_counter()
        results = run(arguments)
        seconds.append(time.perf_counter() - begun)
        del results
    print(json.dumps({"compile": compiled, "once": once, "run": min(seconds, default=0), "MiB": growth}))


def measure(program, platform, options, cache, out):
    environment = os.environ | {"LOWTIDE_PJRT_LIBRARY": options.library, "LOWTIDE_CACHE": cache, "PYTHONPATH": str(ROOT / "python"), "PYTHONDONTWRITEBYTECODE": "1"}
    ran = subprocess.run([sys.executable, __file__, "--child", program, platform, str(options.rounds), out], env=environment, capture_output=True, text=True, timeout=900)
    if ran.returncode != 0:
        return {"fault": (ran.stderr.strip().splitlines() or ["no message"])[-1][:200]}
    return json.loads(ran.stdout.splitlines()[-1])


def fastest(so_far, now):
    """Of what was measured in equal processes the least times and the largest growth, or the first fault."""
    if not so_far or "fault" in so_far or "fault" in now:
        return so_far if "fault" in so_far else now
    return {kind: (max if kind == "MiB" else min)(so_far[kind], now[kind]) for kind in now}


def differences(wanted, got, spoil):
    """As the programs' expected results are compared: relative to the largest element, integers exactly."""
    import numpy as np
    wrong = []
    for name in wanted.files:
        x, y = got[name], wanted[name]
        if spoil:
            x = np.logical_not(x) if x.dtype == bool else x * 1.5 + 1
        exact = y.dtype.kind in "?biu"
        top = float(np.abs(y[np.isfinite(y)]).max(initial=0)) if not exact else 0
        fits = x.shape == y.shape and (np.mean(x != y) <= 1e-3 if exact else np.allclose(x, y, rtol=2e-2, atol=5e-3 * top, equal_nan=True))
        if not fits:
            wrong.append(name)
    return wrong


def ratio(row, kind):
    least = 0.5 if kind == "MiB" else 1e-6
    return max(row["ours"][kind], least) / max(row["xla"][kind], least)


def mean(values):
    return math.exp(sum(math.log(max(v, 1e-6)) for v in values) / len(values)) if values else float("nan")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="*")
    parser.add_argument("--library", default=str(ROOT / "build/liblowtide_pjrt.so"))
    parser.add_argument("--cache")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--times", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--control", action="store_true")
    options = parser.parse_args()
    import numpy as np
    programs = options.programs or sorted(glob.glob(str(CORPUS / "cases/*.mid.hlo"))) + [p for p in sorted(glob.glob(str(CORPUS / "kernels/*.hlo"))) if ".small." not in p]
    rows, faults = [], []
    for program in [p for p in programs if options.only in p]:
        name = pathlib.Path(program).name.removesuffix(".hlo")
        with tempfile.TemporaryDirectory() as folder:
            files = [os.path.join(folder, f"{p}.npz") for p in ("cpu", "lowtide")]
            xla, ours = {}, {}
            for k in range(options.times):
                xla = fastest(xla, measure(program, "cpu", options, folder, files[0]))
                ours = fastest(ours, measure(program, "lowtide", options, options.cache or os.path.join(folder, f"cache{k}"), files[1]))
            if "fault" in xla or "fault" in ours:
                faults.append(f"{name}: " + (f"XLA:CPU: {xla['fault']}" if "fault" in xla else ours["fault"]))
            else:
                with np.load(files[0]) as wanted, np.load(files[1]) as got:
                    rows.append({"name": name, "wrong": differences(wanted, got, options.control), "xla": xla, "ours": ours})
        said = faults[-1] if "fault" in xla or "fault" in ours else ", ".join(f"{k} {ratio(rows[-1], k):.2f}" for k in ("once", "run", "MiB"))
        print(f"{len(rows)} {name}: {said}", file=sys.stderr, flush=True)
    print(f"{'':36}" + "".join(f"{kind:>10}{'XLA':>9}{'':>7}" for kind in ("once s", "run ms", "MiB")))
    for row in sorted(rows, key=lambda row: -ratio(row, "MiB")):
        cells = "".join(f"{row['ours'][k] * s:10.2f}{row['xla'][k] * s:9.2f}{ratio(row, k):7.2f}" for k, s in (("once", 1), ("run", 1e3), ("MiB", 1)))
        print(f"{row['name'][:36]:36}{cells}" + (f"  wrong: {', '.join(row['wrong'][:4])}" if row["wrong"] else ""))
    for fault in faults:
        print("fault:", fault)
    wrong = [row["name"] for row in rows if row["wrong"]]
    means = {kind: mean([ratio(row, kind) for row in rows]) for kind in ("once", "run", "MiB")}
    print(f"{len(rows) - len(wrong)} of {len(rows) + len(faults)} right; geometric means: " + ", ".join(f"{kind} {value:.2f}" for kind, value in means.items()))
    if options.control:
        return 0 if len(wrong) == len(rows) > 0 else 1
    return int(bool(wrong or faults) or any(value > BAR for value in means.values()))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2], sys.argv[3], int(sys.argv[4]), sys.argv[5])
    else:
        sys.exit(main())
