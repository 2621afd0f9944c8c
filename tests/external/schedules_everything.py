#!/usr/bin/env python3
"""Programs of the corpus are scheduled, and each schedule followed by the checker: schedules_everything.py TABLE CORPUS [--every N]."""
import argparse
import glob
import os
import subprocess
import sys


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("table")
    options.add_argument("corpus")
    options.add_argument("--every", type=int, default=1, help="every N-th program only")
    options = options.parse_args()
    table, corpus = options.table, options.corpus
    if not os.path.isdir(corpus):
        print(f"SKIP schedules_everything: {corpus} isn't there")
        return 0
    bad = 0
    paths = sorted(p for folder in ("cases", "kernels", "spmd", "real", "optimised/*") for p in glob.glob(f"{corpus}/{folder}/*.[ht][lx][ot]"))[::options.every]
    for path in paths:
        run = subprocess.run([table, path], capture_output=True, text=True, timeout=300)
        if run.returncode != 0:
            bad += 1
            said = (run.stdout.strip().split("\n")[-1] or run.stderr)[-300:]
            print(f"{os.path.relpath(path, corpus)}: {said} {run.stderr[-300:]}")
    print(f"{len(paths)} programs, {bad} at fault")
    return bad != 0 or not paths


sys.exit(main())
