#!/usr/bin/env python3
"""What planning decides for every program of the corpus, so that two builds can be compared line by line.

  nice plans.py build/tests/plan_table [--all] [--jobs 1] [--seconds 120] [-o plans.txt]     writes a line per plan
  plans.py --compare before.txt after.txt [--bytes | --peaks]                            compares two such files

A line: program, plan (free, tight, xla), peak, modelled nanoseconds, kernels, and a hash of the decisions, the rewritten
module and the whole program. --bytes (the default): every line is the same, or the exit code is 1. --peaks: plans may
differ, but no tightest peak is more than 2 % above, and their geometric mean isn't above.

Without --all: what is planned within seconds. Programs that take longer than --seconds are written as `late`, and are
compared only where both builds were in time; the search itself is bounded in steps, so that a plan that is there depends
on no clock.
"""
import argparse
import math
import os
import pathlib
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

CORPUS = pathlib.Path(__file__).resolve().parent.parent.parent / "shared" / "corpus"
QUICK_BYTES = 60_000  # of text: larger programs are left to --all
MOST_LATE = 0.1  # of the programs that both files name: beyond it the comparison says too little


def programs(every):
    found = []
    for folder in ("cases", "kernels", "reports", "reports/variants", "real"):
        files = sorted((CORPUS / folder).glob("*.hlo"))
        if not every:
            files = [f for f in files if f.stat().st_size <= QUICK_BYTES and folder != "real"]
            if folder == "cases":
                files = files[::3] + [f for f in files[1::3] if ".small." in f.name]
        found += files
    return found


def plan(tool, path, seconds):
    name = path.relative_to(CORPUS).as_posix()
    environment = {**os.environ, "LOWTIDE_CACHE": "off"}
    try:
        done = subprocess.run([tool, str(path)], capture_output=True, text=True, timeout=seconds, env=environment)
    except subprocess.TimeoutExpired:
        return [f"{name} late"]
    lines = [line.replace(str(path), name) for line in done.stdout.splitlines()]
    if done.returncode not in (0, 1):
        lines.append(f"{name} ends with {done.returncode}")
    return lines


def write(options):
    todo = programs(options.all)
    if not todo:
        sys.exit(f"no programs under {CORPUS}")
    with ThreadPoolExecutor(options.jobs) as pool, open(options.output, "w") if options.output else sys.stdout as out:
        for lines in pool.map(lambda path: plan(options.tool, path, options.seconds), todo):
            print("\n".join(lines), file=out, flush=True)
    return 0


def read(path):
    """{(program, plan): rest of the line}"""
    rows, late = {}, set()
    for line in open(path):
        words = line.split(None, 2)
        if len(words) < 2:
            continue
        if words[1] == "late":
            late.add(words[0])
        else:
            rows[words[0], words[1]] = words[2].strip() if len(words) > 2 else ""
    return rows, late


def peak_of(row):
    words = row.split()
    return int(words[1]) if len(words) > 1 and words[0] == "peak" else None


def compare(before_path, after_path, peaks):
    (before, late_before), (after, late_after) = read(before_path), read(after_path)
    late = late_before | late_after
    common = {key for key in before.keys() | after.keys() if key[0] not in late}
    names = {key[0] for key in common}
    if not names or len(late) > MOST_LATE * len(names | late):
        print(f"{len(names)} programs in both, {len(late)} late: too little to compare")
        return 1
    faults, ratios, different = [], [], 0
    for key in sorted(common):
        if before.get(key) == after.get(key):
            continue
        different += 1
        if not peaks:
            faults.append(f"{' '.join(key)}:\n  - {before.get(key)}\n  + {after.get(key)}")
    for key in sorted(common) if peaks else []:
        old, new = peak_of(before.get(key, "")), peak_of(after.get(key, ""))
        if (old is None) != (new is None):
            faults.append(f"{' '.join(key)}: {before.get(key)} -> {after.get(key)}")
        if old is None or new is None or key[1] == "free":
            continue
        ratios.append(math.log(new / old))
        if new > 1.02 * old:
            faults.append(f"{' '.join(key)}: peak {old} -> {new}, {100 * (new / old - 1):.1f} % more")
    mean = math.exp(sum(ratios) / len(ratios)) if ratios else 1
    if mean > 1 + 1e-9:
        faults.append(f"tightest peaks are {mean:.5f} of what they were, in geometric mean")
    print("\n".join(faults + [f"{len(names)} programs, {len(common)} plans, {different} differ, {len(late)} programs late"]
                    + ([f"tightest peaks: {mean:.5f} in geometric mean"] if peaks else [])))
    return 1 if faults else 0


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("tool", nargs="?", default="build/tests/plan_table")
    options.add_argument("--all", action="store_true", help="every program, those of minutes as well")
    options.add_argument("--jobs", type=int, default=1)
    options.add_argument("--seconds", type=float, default=120, help="for one program")
    options.add_argument("-o", "--output")
    options.add_argument("--compare", nargs=2, metavar=("BEFORE", "AFTER"))
    kind = options.add_mutually_exclusive_group()
    kind.add_argument("--bytes", action="store_true", help="plans must be the same (default)")
    kind.add_argument("--peaks", action="store_true", help="tightest peaks must be as low")
    options = options.parse_args()
    return compare(*options.compare, options.peaks) if options.compare else write(options)


if __name__ == "__main__":
    sys.exit(main())
