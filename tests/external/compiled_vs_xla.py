#!/usr/bin/env python3
"""Compiled runs of the corpus's small programs against results that XLA computed, and against themselves: with 1, 2 and 3
threads the same bits, with dead bytes poisoned the same bits, and plain AVX2 as right as the machine's own instructions.
A control changes one element of the expected results now and then and must always be noticed.

  compiled_vs_xla.py [--lowtide build/lowtide] [--shared ../shared] [--seconds-each N] [--jobs N] [PATTERN...]
"""
import collections
import concurrent.futures
import glob
import json
import os
import struct
import sys
import tempfile

import checks

WAYS = [("1 thread", {"LOWTIDE_THREADS": "1"}), ("2 threads", {"LOWTIDE_THREADS": "2"}), ("3 threads", {"LOWTIDE_THREADS": "3"}),
        ("poison", {"LOWTIDE_THREADS": "1", "LOWTIDE_POISON": "1"}), ("AVX2", {"LOWTIDE_THREADS": "2", "LOWTIDE_ISA": "avx2"})]
SAME_BITS = {"1 thread", "2 threads", "3 threads", "poison"}


def perturbed(path, to):
    """A copy with another first element in its last result; False where there is none to change."""
    raw = bytearray(open(path, "rb").read())
    length = struct.unpack("<Q", raw[:8])[0]
    head = json.loads(raw[8:8 + length])
    results = [k for k in head if k.startswith("out") and head[k]["data_offsets"][0] < head[k]["data_offsets"][1]]
    if not results:
        return False
    begin, end = head[results[-1]]["data_offsets"]
    top = 8 + length + begin + (end - begin) // max(1, len_of(head[results[-1]])) - 1  # the highest byte: sign and exponent
    raw[top] ^= 0x41 if head[results[-1]]["dtype"] != "BOOL" else 1
    open(to, "wb").write(raw)
    return True


def len_of(entry):
    count = 1
    for extent in entry["shape"]:
        count *= extent
    return count


def judge(options, number, program):
    tensors = program[:-4] + ".safetensors"
    run = lambda *words, **knobs: checks.run(options.lowtide, program, "--inputs", tensors, *words, seconds=options.seconds_each, **knobs)
    found = []
    with tempfile.TemporaryDirectory() as folder:
        first = None
        for way, knobs in WAYS:
            out = os.path.join(folder, "out.safetensors")
            code, _, words = run("--expect", tensors, "--outputs", out, **knobs)
            if code == 6:
                return "unsupported", [words]
            if code != 0:
                found.append(f"{way}: {code} {words[:200]}")
                continue
            bits = open(out, "rb").read()
            if first is not None and way in SAME_BITS and bits != first:
                found.append(f"{way}: other bits than with {WAYS[0][0]}")
            first = first if first is not None or way not in SAME_BITS else bits
        if number % 8 == 0 and not found:
            other = os.path.join(folder, "control.safetensors")
            if perturbed(tensors, other):
                code, _, _ = run("--expect", other)
                if code != 5:
                    return "blind", [f"a changed expectation gave exit code {code}"]
    return ("wrong", found) if found else ("match", [])


def main():
    p = checks.parser(__doc__, "lowtide", "shared", "seconds-each", "jobs", patterns=True)
    p.set_defaults(seconds_each=60)
    options = p.parse_args()
    absent = checks.missing(options.lowtide, os.path.join(options.shared, "corpus"))
    if absent:
        print(f"SKIP compiled_vs_xla: {absent} isn't there")
        return 0
    programs = sorted(f for part in ("cases", "kernels") for f in glob.glob(os.path.join(options.shared, "corpus", part, "*.small.hlo"))
                      if os.path.exists(f[:-4] + ".safetensors") and checks.wanted(os.path.basename(f), options.patterns))
    counts, unsupported, bad = collections.Counter(), collections.Counter(), []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        verdicts = pool.map(lambda job: judge(options, *job), enumerate(programs))
        for program, (verdict, words) in zip(programs, verdicts):
            counts[verdict] += 1
            if verdict == "unsupported":
                unsupported[checks.unsupported(words[0])] += 1
            elif verdict != "match":
                bad.append((os.path.basename(program), verdict, words))
    print(f"{len(programs)} programs in {len(WAYS)} ways: {dict(counts)}")
    for words, count in unsupported.most_common(15):
        print(f"  unsupported {count} x {words}")
    for name, verdict, words in bad[:40]:
        print(f"  {verdict} {name}: " + "; ".join(words))
    return 1 if bad or not counts["match"] else 0


if __name__ == "__main__":
    sys.exit(main())
