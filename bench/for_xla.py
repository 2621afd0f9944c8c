#!/usr/bin/env python3
"""What XLA's compilers need for programs as given and as `fit --for xla` hands them back: temp bytes, compile only, no device.

usage: for_xla.py --lowtide LOWTIDE [--backend NAME=PYTHON...] [--run] [--worse] FILE.hlo...
NAME is cpu, cpu-min, gpu or tpu; PYTHON one whose jax has that compiler; ../shared/referee/xla_temp.py asks it.
The ratio is (after + s) / (before + s) with s = 1 MiB + 2 % of arguments and results. --worse: only rows above 1.05.
--run: XLA:CPU also runs both, on seeded arguments, in the Python that runs this; of three turns the fastest counts. --worse: above 1.5.
"""
import argparse
import functools
import json
import math
import os
import subprocess
import sys
import tempfile

from beside_xla import Peer

MIB = 1 << 20
MACHINES = {"gpu": "h100", "tpu": "v5p"}  # whose costs choose the plans; otherwise the command's default
TURNS = 3
SLOWER = 1.5  # times the given program's seconds


def ask(referee, backend, python, files):
    """What the compiler says of each file. A program that ends the compiler itself has no answer; it starts anew after it."""
    answers = {}
    while files:
        done = subprocess.run([python, referee, backend, *files], capture_output=True, text=True)
        records = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        answers.update({record["file"]: record for record in records})
        files = files[len(records) + 1:]
    return answers


def fitted(options, folder, machine):
    """By path: the rewritten program, and the report."""
    os.mkdir(folder)
    costs = ["--machine", machine] if machine else []
    exports = {}
    for path in options.files:
        out = os.path.join(folder, os.path.basename(path))
        done = subprocess.run([options.lowtide, "fit", path, "--for", "xla", *costs, "-o", out, "--json"], capture_output=True, text=True)
        if done.returncode != 0:
            print(f"{path}: exit {done.returncode} {done.stderr.strip()[:120]}")
            continue
        exports[path] = (out, json.loads(done.stdout))
    return exports


def print_times(exports, only_worse):
    """What a fitted program takes on XLA:CPU, relative to the given one, with which it takes turns."""
    print(f"{'XLA:CPU':40} ms before, after, ratio, the model's ratio")
    ratios = []
    for path, (out, report) in exports.items():
        try:
            with Peer(path) as given, Peer(out) as ours:
                before, after = map(min, zip(*((given.seconds(1), ours.seconds(1)) for _ in range(TURNS))))
        except (OSError, ValueError):  # XLA's process ended
            print(f"{os.path.basename(path):40} no answer")
            continue
        ratio = after / before
        ratios.append(ratio)
        if not only_worse or ratio > SLOWER:
            model = report["modelled_seconds"] / report["free_modelled_seconds"]
            print(f"{os.path.basename(path):40} {before * 1e3:9.1f} {after * 1e3:9.1f} {ratio:6.2f} {model:6.2f}", flush=True)
    if ratios:
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        print(f"XLA:CPU: {len(ratios)} programs, time {mean:.2f} in geometric mean, {sum(r > SLOWER for r in ratios)} above {SLOWER}, worst {max(ratios):.2f}")


def main():
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--lowtide", default=os.path.join(root, "build", "lowtide"))
    p.add_argument("--backend", action="append", default=[], help="NAME=PYTHON")
    p.add_argument("--referee", default=os.path.join(os.path.dirname(root), "shared", "referee", "xla_temp.py"))
    p.add_argument("--run", action="store_true")
    p.add_argument("--worse", action="store_true")
    p.add_argument("files", nargs="+")
    options = p.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        exports_for = functools.cache(lambda machine: fitted(options, os.path.join(folder, machine or "default"), machine))
        for backend in options.backend:
            name, python = backend.split("=", 1)
            exports = exports_for(MACHINES.get(name))
            before = ask(options.referee, name, python, list(exports))
            after = ask(options.referee, name, python, [out for out, _ in exports.values()])
            logarithms, worse = [], 0
            print(f"{name:40} temp before, after, ratio, model of the peak before, after (MiB)")
            for path, (_, report) in exports.items():
                file = os.path.basename(path)
                b, a = before.get(file, {}), after.get(file, {})
                if "temp" not in b or "temp" not in a:
                    print(f"{file:40} {b.get('error', '') or a.get('error', 'no answer')}")
                    continue
                slack = MIB + 0.02 * (b["argument"] + b["output"])
                ratio = (a["temp"] + slack) / (b["temp"] + slack)
                logarithms.append(math.log(ratio))
                worse += ratio > 1.05
                if options.worse and ratio <= 1.05:
                    continue
                print(f"{file:40} {b['temp'] / MIB:9.1f} {a['temp'] / MIB:9.1f} {ratio:6.2f} "
                      f"{report['input_peak_bytes'] / MIB:9.0f} {report['peak_bytes'] / MIB:9.0f}")
            if logarithms:
                print(f"{name}: {len(logarithms)} programs, geometric mean {math.exp(sum(logarithms) / len(logarithms)):.3f}, {worse} worse")
        if options.run:
            print_times(exports_for(None), options.worse)
    return 0


if __name__ == "__main__":
    sys.exit(main())
