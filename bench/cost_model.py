#!/usr/bin/env python3
"""Modelled against measured time of programs, free plan and tightest, and how far the model is off.

  cost_model.py build/lowtide FILE.hlo...  [--tightest]

Measured is processor time of one run divided by threads: what else the machine does then counts little. Runs should
still be niced. The last line is the geometric mean of measured / modelled and the factor within which two thirds lie;
constants: src/region/cost.h, src/schedule/modelled_time.cpp.
"""
import argparse
import json
import math
import os
import resource
import subprocess
import sys


def cpu_seconds(command):
    """(JSON printed, user and system seconds of the process)."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return (json.loads(done.stdout) if done.returncode == 0 else None), spent


def measure(exe, path, more, repeat):
    """(modelled, measured) seconds of one run, or None where it doesn't run."""
    command = [exe, "run", path, "--json", *more, "--repeat"]
    first, _ = cpu_seconds([*command, "1"])  # compiles
    if first is None:
        return None
    repeat = max(2, min(repeat, int(2.0 / max(1e-4, min(first["run_seconds"])))))
    _, once = cpu_seconds([*command, "1"])
    _, often = cpu_seconds([*command, str(1 + repeat)])
    return first["modelled_seconds"], (often - once) / repeat / first["threads"]


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("exe")
    options.add_argument("files", nargs="+")
    options.add_argument("--tightest", action="store_true", help="also the plan of the lowest peak")
    options.add_argument("--repeat", type=int, default=8)
    options = options.parse_args()
    ratios = []
    for path in options.files:
        plans = [("free", [])]
        if options.tightest:
            best, _ = cpu_seconds([options.exe, "fit", path, "--json"])
            if best:
                plans.append(("tight", ["--limit", str(best["peak_bytes"])]))
        for name, more in plans:
            result = measure(options.exe, path, more, options.repeat)
            if result is None:
                continue
            modelled, measured = result
            ratio = measured / modelled if modelled > 0 else math.nan
            if measured > 5e-4 and ratio > 0:
                ratios.append(ratio)
            print(f"{os.path.basename(path):44} {name:6} modelled {1e3 * modelled:10.2f} ms  measured {1e3 * measured:10.2f} ms  "
                  f"ratio {ratio:6.2f}", flush=True)
    if ratios:
        logs = sorted(math.log(r) for r in ratios)
        mean = sum(logs) / len(logs)
        spread = sorted(abs(x - mean) for x in logs)[2 * len(logs) // 3]
        print(f"{len(ratios)} programs: measured / modelled {math.exp(mean):.2f} in geometric mean, two thirds within a factor "
              f"{math.exp(spread):.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
