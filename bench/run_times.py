#!/usr/bin/env python3
"""Measured seconds of the free plans of two builds, program by program, one after the other in turns.

  nice run_times.py BEFORE/build/lowtide AFTER/build/lowtide [--rounds 3] [--seconds 2] [PROGRAM.hlo ...]

Prints a line per program whose plans differ in time by more than a tenth, the worst first, and the geometric mean of
after / before of all. Without programs: the mid-sized cases and the kernels of the corpus. Each round runs both builds,
so that what else the machine does meets both; of the rounds the fastest counts.
"""
import argparse
import json
import math
import pathlib
import subprocess
import sys

CORPUS = pathlib.Path(__file__).resolve().parent.parent.parent / "shared" / "corpus"


def seconds(tool, path, repeat):
    done = subprocess.run([tool, "run", path, "--repeat", str(repeat), "--json"], capture_output=True, text=True, timeout=600)
    return min(json.loads(done.stdout)["run_seconds"]) if done.returncode == 0 else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before")
    parser.add_argument("after")
    parser.add_argument("programs", nargs="*")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=2, help="that a round of one program may take")
    options = parser.parse_args()
    programs = options.programs or sorted(map(str, [*CORPUS.glob("cases/*.mid.hlo"), *CORPUS.glob("kernels/*.hlo")]))
    ratios = {}
    for path in programs:
        best = {}
        for tool in (options.before, options.after):
            best[tool] = seconds(tool, path, 1)  # compiles, and says how often a round may run it
        if None in best.values():
            continue
        repeat = max(1, min(50, int(options.seconds / max(1e-4, *best.values()))))
        for _ in range(options.rounds):
            for tool in best:
                best[tool] = min(best[tool], seconds(tool, path, repeat) or math.inf)
        ratios[pathlib.Path(path).name] = (best[options.after] / best[options.before], best[options.before])
        print(f"\r{len(ratios)} of {len(programs)}", end="", file=sys.stderr)
    print(file=sys.stderr)
    if not ratios:
        sys.exit("no program ran with both")
    for name, (ratio, before) in sorted(ratios.items(), key=lambda r: -r[1][0]):
        if abs(ratio - 1) > 0.1:
            print(f"{name:48} {ratio:6.2f}   {before * 1e3:9.2f} ms before")
    mean = math.exp(sum(math.log(r) for r, _ in ratios.values()) / len(ratios))
    print(f"{len(ratios)} programs, after / before {mean:.3f} in geometric mean")


main()
