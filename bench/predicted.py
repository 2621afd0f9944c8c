#!/usr/bin/env python3
"""Modelled against measured time of every step of programs, by what `run --profile` says of them.

  predicted.py [build/lowtide] FILE|FOLDER...  [--worst 20] [--least-ms 1]

A program FILE.mlir or FILE.hlo runs with the arguments in FILE.in where that is there, else with seeded ones. Steps
that all their runs together take at least --least-ms, or should, are judged: how many are within 1.5 and 3 times of
what was modelled, by kind, and the worst by what they make wrong. Wants a machine that does nothing else.
"""
import argparse
import collections
import json
import math
import pathlib
import subprocess

import beside_xla

REPEAT = 3  # of which the first finds its memory for the first time


def steps_of(lowtide, path):
    """(kind, name, runs, measured seconds of them, modelled) of each step."""
    inputs = path.with_suffix(".in")
    given = ["--inputs", str(inputs)] if inputs.exists() else []
    done = subprocess.run([lowtide, "run", str(path), *given, "--repeat", str(REPEAT), "--profile", "--json"], capture_output=True, text=True)
    if done.returncode:
        print(f"{path}: {done.stderr.strip()[-100:]}")
        return
    said = json.loads(done.stdout)
    for step in said.get("profile", said)["steps"]:
        if step["modelled_seconds"] > 0 and step["seconds"] > 0:
            yield step["kind"], step["name"], step["runs"], step["seconds"], step["modelled_seconds"]


def share_within(steps, factor):
    return sum(max(s[3] / s[4], s[4] / s[3]) <= factor for s in steps) / max(1, len(steps))


def line(kind, steps):
    mean = beside_xla.geometric_mean([s[3] / s[4] for s in steps])
    return (f"{kind:16} {len(steps):6} {1e3 * sum(s[3] for s in steps):11.1f} {1e3 * sum(s[4] for s in steps):11.1f} {mean:6.2f} "
            f"{share_within(steps, 1.5):10.0%} {share_within(steps, 3):9.0%}")


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("lowtide", nargs="?", default=beside_xla.BINARY)
    options.add_argument("programs", nargs="+", type=pathlib.Path)
    options.add_argument("--worst", type=int, default=20)
    options.add_argument("--least-ms", type=float, default=1)
    options = options.parse_args()
    files = []
    for given in options.programs:
        files += sorted(f for f in given.rglob("*") if f.suffix in (".mlir", ".hlo")) if given.is_dir() else [given]
    steps = []
    for file in files:
        judged = [s for s in steps_of(options.lowtide, file) if max(s[3], s[4]) >= REPEAT * 1e-3 * options.least_ms]
        steps += [(*s, file.name) for s in judged]
    kinds = collections.defaultdict(list)
    for step in steps:
        kinds[step[0]].append(step)
    print(f"{'kind':16} {'steps':>6} {'measured ms':>11} {'modelled ms':>11} {'ratio':>6} {'within 1.5':>10} {'within 3':>9}")
    for kind in sorted(kinds):
        print(line(kind, kinds[kind]))
    print(line("all", steps))
    beyond = sorted(steps, key=lambda s: -abs(math.log(s[3] / s[4])))
    print(f"\n{'ms a run':>10} {'modelled':>10} {'ratio':>6} {'runs':>6}  step")
    for kind, name, runs, measured, modelled, file in beyond[:options.worst]:
        print(f"{1e3 * measured / runs:10.4f} {1e3 * modelled / runs:10.4f} {measured / modelled:6.2f} {runs:6}  {file} {kind} {name}")


main()
