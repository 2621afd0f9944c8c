#!/usr/bin/env python3
"""Our account of scheduled texts beside XLA's own figures: as_given.py LOWTIDE CORPUS [--max-each PCT] [--max-mean PCT]

CORPUS holds optimised/{gpu,tpu}/*.txt with cases/index.json (argument, output, alias and temp bytes recorded when each text
was made) and dumps/*/ with XLA's memory-usage reports. From a dump only the text is given, so that the figure is ours."""
import argparse
import glob
import json
import os
import re
import subprocess
import sys


def explain(lowtide, path):
    run = subprocess.run([lowtide, "explain", path, "--json"], capture_output=True, text=True, timeout=120)
    return json.loads(run.stdout) if run.returncode == 0 else None


def recorded(corpus):
    """(backend, name, text, XLA's peak, XLA's temp or None)"""
    with open(os.path.join(corpus, "cases", "index.json")) as f:
        index = json.load(f)
    for backend, key in (("gpu", "xla_gpu_h100"), ("tpu", "xla_tpu_v5p")):
        for path in sorted(glob.glob(os.path.join(corpus, "optimised", backend, "*.txt"))):
            name = os.path.basename(path)[:-4]
            e = index.get(name, {}).get(key, {})
            if "temp" not in e:
                continue
            inputs, results = e.get("arg", e.get("argument")), e.get("out", e.get("output"))
            yield backend, name, path, inputs + results - e["alias"] + e["temp"], e["temp"]
    for folder in sorted(glob.glob(os.path.join(corpus, "dumps", "*"))):
        texts = glob.glob(os.path.join(folder, "*after_optimizations.txt"))
        reports = glob.glob(os.path.join(folder, "*memory-usage-report.txt"))
        if len(texts) == 1 and len(reports) == 1:
            with open(reports[0]) as f:
                total = int(re.search(r"Total bytes: (\d+)", f.read())[1])
            yield "cpu", os.path.basename(folder), texts[0], total, None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("lowtide")
    parser.add_argument("corpus")
    parser.add_argument("--max-each", type=float, default=15)
    parser.add_argument("--max-mean", type=float, default=6)
    options = parser.parse_args()
    if not os.path.isdir(options.corpus):
        print(f"SKIP as_given: {options.corpus} isn't there")
        sys.exit(0)
    gaps, bad = [], []
    print(f"{'':4}{'program':30}{'ours':>16}{'XLA':>16}{'gap':>9}{'load/temp':>11}")
    for backend, name, path, want, _ in recorded(options.corpus):
        r = explain(options.lowtide, path)
        if r is None:
            bad.append(name)
            print(f"{backend:4}{name:30}  not explained")
            continue
        gap = 100 * (r["input_peak_bytes"] / want - 1)
        gaps.append(abs(gap))
        filled = r["input_load_bytes"] / r["input_temp_bytes"] if r.get("input_temp_bytes") else 1
        if abs(gap) > options.max_each:
            bad.append(name)
        print(f"{backend:4}{name:30}{r['input_peak_bytes']:16,}{want:16,}{gap:+8.2f}%{filled:11.3f}")
    mean = sum(gaps) / max(1, len(gaps))
    print(f"{len(gaps)} programs, mean gap {mean:.2f} %, largest {max(gaps, default=0):.2f} %")
    sys.exit(1 if bad or mean > options.max_mean or not gaps else 0)


main()
