#!/usr/bin/env python3
"""Our interpreter against results that XLA computed: the corpus's small programs, and the conformance programs that check
themselves. Prints what matches, what is unsupported by operation, and what is wrong.

  interpreter_vs_xla.py [--lowtide build/lowtide] [--shared ../shared] [--seconds-each N] [--jobs N] [PATTERN...]
"""
import collections
import concurrent.futures
import glob
import json
import os
import sys

import checks


def judge(options, title, jobs):
    """Runs (name, arguments) pairs; prints and returns the counts."""
    run = lambda job: checks.run(options.lowtide, "--interpret", *job[1], seconds=options.seconds_each)
    counts, unsupported, wrong = collections.Counter(), collections.Counter(), []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for (name, _), (code, _, words) in zip(jobs, pool.map(run, jobs)):
            if code == 0:
                counts["match"] += 1
            elif code == 6:
                counts["unsupported"] += 1
                unsupported[checks.unsupported(words)] += 1
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
    options = checks.parser(__doc__, "lowtide", "shared", "seconds-each", "jobs", patterns=True).parse_args()
    absent = checks.missing(options.lowtide, os.path.join(options.shared, "corpus"))
    if absent:
        print(f"SKIP interpreter_vs_xla: {absent} isn't there")
        return 0

    wanted = lambda name: checks.wanted(name, options.patterns)
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
