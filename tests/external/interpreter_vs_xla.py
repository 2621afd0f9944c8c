#!/usr/bin/env python3
"""Our interpreter against results that XLA computed: the corpus's small programs, and the conformance programs that check
themselves. Prints what matches, what is unsupported by operation, and what is wrong.

  interpreter_vs_xla.py [--lowtide build/lowtide] [--shared ../shared] [--seconds-each N] [--jobs N] [PATTERN...]
"""
import argparse
import collections
import concurrent.futures
import fnmatch
import glob
import json
import os
import re
import subprocess
import sys


def run(options, arguments):
    """(exit code, last line of stderr)"""
    try:
        done = subprocess.run([options.lowtide, "run", "--interpret", *arguments, "--json"], capture_output=True, timeout=options.seconds_each)
    except subprocess.TimeoutExpired:
        return "timeout", f"more than {options.seconds_each} s"
    lines = done.stderr.decode(errors="replace").strip().split("\n")
    return done.returncode, next((line for line in lines if "lowtide:" in line), lines[-1])


def judge(options, title, jobs):
    """Runs (name, arguments) pairs; prints and returns the counts."""
    counts, unsupported, wrong = collections.Counter(), collections.Counter(), []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for (name, _), (code, words) in zip(jobs, pool.map(lambda job: run(options, job[1]), jobs)):
            if code == 0:
                counts["match"] += 1
            elif code == 6:
                counts["unsupported"] += 1
                unsupported[re.sub(r"^.*?: (?=\S+ \S*: |custom)", "", words)[:90]] += 1
            else:
                counts["wrong"] += 1
                wrong.append((name, code, words))
    print(f"{title}: {len(jobs)} programs, {dict(counts)}")
    for words, count in unsupported.most_common(15):
        print(f"  unsupported {count} x {words}")
    for name, code, words in wrong[:25]:
        print(f"  wrong {name}: {code} {words[:200]}")
    return counts


def main():
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--lowtide", default=os.path.join(root, "build", "lowtide"))
    p.add_argument("--shared", default=os.environ.get("LOWTIDE_SHARED", os.path.join(os.path.dirname(root), "shared")))
    p.add_argument("--seconds-each", type=int, default=120)
    p.add_argument("--jobs", type=int, default=1)
    p.add_argument("patterns", nargs="*")
    options = p.parse_args()
    for path in (options.lowtide, os.path.join(options.shared, "corpus")):
        if not os.path.exists(path):
            print(f"SKIP interpreter_vs_xla: {path} isn't there")
            return 0

    wanted = lambda name: not options.patterns or any(fnmatch.fnmatch(name, pattern) for pattern in options.patterns)
    small = []
    for folder in ("cases", "kernels"):
        index = json.load(open(os.path.join(options.shared, "corpus", folder, "index.json")))
        for program in sorted(glob.glob(os.path.join(options.shared, "corpus", folder, "*.small.hlo"))):
            tensors = program[: -len(".hlo")] + ".safetensors"
            name = os.path.basename(program)[: -len(".small.hlo")]
            if wanted(name) and os.path.exists(tensors) and index.get(name, {}).get("partitions", 1) == 1:
                small.append((name, [program, "--inputs", tensors, "--expect", tensors]))
    conformance = [(os.path.basename(f), [f]) for f in sorted(glob.glob(os.path.join(options.shared, "conformance", "*.hlo")))
                   if wanted(os.path.basename(f))]
    small_counts = judge(options, "small programs", small)
    conformance_counts = judge(options, "conformance", conformance)
    return 1 if small_counts["wrong"] + conformance_counts["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
