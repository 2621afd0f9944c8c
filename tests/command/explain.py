#!/usr/bin/env python3
"""lowtide explain: cures are what planning gets, and the limit it proposes is met.

  explain.py build/lowtide
"""
import json
import os
import re
import subprocess
import sys
import tempfile

from fit import ATTENTION, SMALL, SORT

faults = []


def require(holds, what):
    if not holds:
        faults.append(what)


def main():
    program = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:

        def at(name, text):
            path = os.path.join(folder, name)
            with open(path, "w", encoding="utf-8") as f:
                f.write(text)
            return path

        def call(*words):
            done = subprocess.run([program, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            text = done.stdout.decode(errors="replace")
            try:
                return done.returncode, json.loads(text)
            except ValueError:
                return done.returncode, text

        def cures(report, rows="at_peak"):
            return [cure for row in report[rows] for cure in row["frees_it"]]

        # Scores that the free plan doesn't store: said of the program as given, and no more than the free plan saves.
        attention = at("attention.hlo", ATTENTION)
        code, report = call("explain", attention, "--json")
        require(code == 0, f"attention: exit {code}")
        gone = [c for c in cures(report, "input_at_peak") if "gone from the free plan" in c["what"]]
        saved = report["input_peak_bytes"] - report["peak_bytes"]
        require(gone and all(c["planned"] and 0 < c["bytes"] <= saved for c in gone), f"what the free plan saves isn't said: {gone}")
        planned = [c for c in cures(report) if c["planned"] and c["bytes"] > 0]
        room = report["peak_bytes"] - report["floor_any_bytes"]
        require(all(c["bytes"] <= room for c in planned), f"a cure frees more than any executor could: {planned}")

        # The limit proposed, where there is one, is met; `fit` otherwise finds nothing higher than the free plan.
        code, text = call("explain", attention)
        next_line = re.search(r"Next: lowtide (fit .*)", text)
        require(next_line is not None, "no next step is proposed")
        code, fitted = call(*next_line[1].split(), "--json")
        require(code == 0 and fitted["peak_bytes"] <= report["peak_bytes"], f"`{next_line[1]}`: exit {code}")

        # A donation frees what the donated program needs less.
        code, report = call("explain", at("sort.hlo", SORT), "--json")
        donations = [c for c in cures(report) if c["what"].startswith("donate argument 0")]
        donated = at("donated.hlo", SORT.replace("HloModule sorts", "HloModule sorts, buffer_donor={ (0, {}) }"))
        code, after = call("explain", donated, "--json")
        less = report["peak_bytes"] - after["peak_bytes"]
        require(less == 4 << 20 and len(donations) == 1 and donations[0]["planned"] and donations[0]["bytes"] == less,
                f"donating frees {less}, explain says {donations}")

        # Where nothing is to be freed nothing is promised.
        code, report = call("explain", at("small.hlo", SMALL), "--json")
        require(code == 0 and report["temp_bytes"] == 0 and sum(c["bytes"] for c in cures(report)) <= 4000, "small")
    for fault in faults:
        print(fault)
    print(f"{len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
