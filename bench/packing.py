#!/usr/bin/env python3
"""Packs minimalloc's challenging instances and prints the times beside minimalloc's own.

usage: bench/packing.py FOLDER [LOWTIDE]     FOLDER holds {A..K}.1048576.csv (google/minimalloc, benchmarks/challenging)
"""
import json
import pathlib
import subprocess
import sys

CAPACITY = 1 << 20
# Seconds of minimalloc 9f5cf81, g++ -O3, one thread of a 4.5 GHz Zen 5.
MINIMALLOC = dict(A=4.71, B=3.33, C=0.62, D=2.45, E=3.78, F=5.67, G=1.17, H=1.75, I=3.63, J=0.86, K=0.60)


def main():
    folder = pathlib.Path(sys.argv[1])
    lowtide = sys.argv[2] if len(sys.argv) > 2 else "build/lowtide"
    print(f"{'':9} {'buffers':>8} {'arena':>10} {'load':>10} {'seconds':>8} {'minimalloc':>11}")
    ours = theirs = 0.0
    for path in sorted(folder.glob("*.csv")):
        name = path.name.split(".")[0]
        hard = name in MINIMALLOC
        capacity = ["--capacity", str(CAPACITY)] if hard else []
        run = subprocess.run([lowtide, "plan", str(path), "--json", *capacity], capture_output=True, text=True)
        row = json.loads(run.stdout)
        peer = f"{MINIMALLOC[name]:11.2f}" if hard else " " * 11
        note = "" if run.returncode == 0 else "  not packed"
        print(f"{name:9} {row['buffers']:8} {row['peak_bytes']:10} {row['load_bytes']:10} {row['seconds']:8.3f} {peer}{note}")
        if hard:
            ours += row["seconds"]
            theirs += MINIMALLOC[name]
    print(f"{'A to K':9} {'':8} {'':10} {'':10} {ours:8.3f} {theirs:11.2f}")


if __name__ == "__main__":
    main()
