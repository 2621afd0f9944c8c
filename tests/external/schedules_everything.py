#!/usr/bin/env python3
"""Programs of the corpus are scheduled, and each schedule followed by the checker: schedules_everything.py TABLE CORPUS [EVERY],
every EVERY-th of them (default 1)."""
import glob
import os
import subprocess
import sys


def main():
    table, corpus = sys.argv[1:3]
    every = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    if not os.path.isdir(corpus):
        print(f"SKIP schedules_everything: {corpus} isn't there")
        return 0
    bad = 0
    paths = sorted(p for folder in ("cases", "kernels", "spmd", "real", "optimised/*") for p in glob.glob(f"{corpus}/{folder}/*.[ht][lx][ot]"))[::every]
    for path in paths:
        run = subprocess.run([table, path], capture_output=True, text=True, timeout=300)
        if run.returncode != 0:
            bad += 1
            said = (run.stdout.strip().split("\n")[-1] or run.stderr)[-300:]
            print(f"{os.path.relpath(path, corpus)}: {said} {run.stderr[-300:]}")
    print(f"{len(paths)} programs, {bad} at fault")
    return bad != 0 or not paths


sys.exit(main())
