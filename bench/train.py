#!/usr/bin/env python3
"""A training step run step after step by its free plan and within a part of that plan's temp, or the least that there is
a plan for: losses, seconds, model.

  train.py build/lowtide STEP.hlo... [--steps 20] [--part 0.5]

A step is a program whose results alias what the next step is given (parameters and the optimiser's state); integers are
tokens, drawn anew for each step, and results that alias nothing are losses. Prints per program: the temp of both plans,
whether all losses agree, whether those of two exact plans (`--exact`) are the same bits, and the measured seconds of a
step of the fitted plan over the free plan's, beside what the model says of that ratio.
"""
import argparse
import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

import numpy as np

TYPES = {"f32": "<f4", "f64": "<f8", "s32": "<i4", "u32": "<u4", "s64": "<i8", "pred": "?", "u8": "u1"}
NAMES = {"F32": "<f4", "F64": "<f8", "I32": "<i4", "U32": "<u4", "I64": "<i8", "BOOL": "?", "U8": "u1"}


def signature(text):
    """Types and extents of the arguments, and which result goes on as which argument."""
    head = text[: text.index("\n")]
    aliases = {int(k): int(a) for k, a in re.findall(r"\{(\d+)\}: \((\d+),", head)}
    arguments = head[head.index("entry_computation_layout={(") + 27 : head.index(")->")]
    shapes = [(t, tuple(map(int, filter(None, d.split(","))))) for t, d in re.findall(r"(\w+)\[([\d,]*)\]", arguments)]
    return shapes, aliases


def read_safetensors(path):
    raw = path.read_bytes()
    length = struct.unpack("<Q", raw[:8])[0]
    head, body = json.loads(raw[8 : 8 + length]), raw[8 + length :]
    head.pop("__metadata__", None)
    found = {}
    for name, entry in head.items():
        begin, end = entry["data_offsets"]
        found[name] = np.frombuffer(body[begin:end], NAMES[entry["dtype"]]).reshape(entry["shape"])
    return found


def first_arguments(shapes, aliases, rng):
    """The aliased ones come in threes: parameters, then two moments of as many."""
    state = sorted(aliases.values())
    parameters = set(state[: len(state) // 3])
    return [
        rng.standard_normal(d).astype(TYPES[t]) * 0.05 if j in parameters and t.startswith("f") else np.zeros(d, TYPES[t])
        for j, (t, d) in enumerate(shapes)
    ]


def run(tool, path, steps, extra, folder):
    """Losses of each step, and seconds of the fastest."""
    shapes, aliases = signature(path.read_text())
    rng = np.random.default_rng(7)
    arguments = first_arguments(shapes, aliases, rng)
    fed = set(aliases.values())
    losses, fastest = [], float("inf")
    for _ in range(steps):
        for j, (kind, dims) in enumerate(shapes):
            if j in fed:
                continue
            is_float = kind.startswith("f")
            arguments[j] = (rng.standard_normal(dims) if is_float else rng.integers(0, 100, dims)).astype(TYPES[kind])
        np.savez(folder / "in.npz", **{f"arg{j}": a for j, a in enumerate(arguments)})
        done = subprocess.run(
            [tool, "run", path, "--inputs", folder / "in.npz", "--outputs", folder / "out.safetensors", "--json", *extra],
            capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{path.name}: {done.stderr.strip()}")
        fastest = min(fastest, *json.loads(done.stdout)["run_seconds"])
        results = read_safetensors(folder / "out.safetensors")
        for k, j in aliases.items():
            arguments[j] = results[f"out{k}"]
        losses.append([results[n] for n in sorted(results) if int(n[3:]) not in aliases])
    return losses, fastest


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tool")
    parser.add_argument("programs", nargs="+", type=pathlib.Path)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--part", type=float, default=0.5)
    options = parser.parse_args()
    print(f"{'step':32} {'temp, free':>12} {'fitted':>12} {'losses':>9} {'exact':>10} {'time':>6} {'model':>6}")
    for path in options.programs:
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)

            def fit(*extra):
                done = subprocess.run([options.tool, "fit", path, "--json", *extra], capture_output=True, text=True)
                return json.loads(done.stdout), done.returncode

            rows, plans = {}, {}
            for exact in ((), ("--exact",)):
                free, _ = fit(*exact)
                fixed = free["peak_bytes"] - free["temp_bytes"]
                half = int(fixed + options.part * (free["free_peak_bytes"] - fixed))
                limit = max(half, min(p["peak_bytes"] for p in free["frontier"]))  # the least that there is
                plan = folder / f"plan{len(exact)}"
                fitted, code = fit("--limit", str(limit), "--plan", plan, *exact)
                if code != 0:
                    print(f"{path.stem:32} no plan within {limit} bytes {' '.join(exact)}")
                    break
                rows[exact] = (free["free_peak_bytes"] - fixed, fitted)
                plans[exact] = [run(options.tool, path, options.steps, [*exact, *more], folder)
                                for more in ((), ("--plan", plan))]
            if len(rows) < 2:
                continue
            (before, slow), (after, fast) = plans[()][0], plans[()][1]
            agree = all(np.allclose(a, b, rtol=2e-3, atol=1e-6) for x, y in zip(before, after) for a, b in zip(x, y))
            same = all(a.tobytes() == b.tobytes() for x, y in zip(plans[("--exact",)][0][0], plans[("--exact",)][1][0])
                       for a, b in zip(x, y))
            temp, fitted = rows[()]
            print(f"{path.stem:32} {temp / 2**20:8.1f} MiB {fitted['temp_bytes'] / 2**20:8.1f} MiB "
                  f"{'agree' if agree else 'DIFFER':>9} {'same bits' if same else 'DIFFER':>10} {fast / slow:6.2f} "
                  f"{fitted['modelled_seconds'] / fitted['free_modelled_seconds']:6.2f}")
            print(f"    losses {float(before[0][0].ravel()[0]):.6f} ... {float(before[-1][0].ravel()[0]):.6f}, fitted "
                  f"{float(after[0][0].ravel()[0]):.6f} ... {float(after[-1][0].ravel()[0]):.6f}", flush=True)


main()
