#!/usr/bin/env python3
"""lowtide explain: cures are what planning gets, and the limit it proposes is met.

  explain.py build/lowtide
"""
import re
import sys

from command import SMALL, SORT, Lowtide, attention, require, verdict


def cures(report, rows="at_peak"):
    return [cure for row in report[rows] for cure in row["frees_it"]]


def main():
    with Lowtide(sys.argv[1]) as lowtide:
        at, call = lowtide.at, lowtide.call
        # Scores that the free plan doesn't store: said of the program as given, and no more than the free plan saves.
        scores = at("attention.hlo", attention(2048, 32))
        code, report, _ = call("explain", scores)
        require(code == 0, f"attention: exit {code}")
        gone = [c for c in cures(report, "input_at_peak") if "gone from the free plan" in c["what"]]
        saved = report["input_peak_bytes"] - report["peak_bytes"]
        require(gone and all(c["planned"] and 0 < c["bytes"] <= saved for c in gone), f"what the free plan saves isn't said: {gone}")
        planned = [c for c in cures(report) if c["planned"] and c["bytes"] > 0]
        room = report["peak_bytes"] - report["floor_any_bytes"]
        require(all(c["bytes"] <= room for c in planned), f"a cure frees more than any executor could: {planned}")

        # The limit proposed, where there is one, is met; `fit` otherwise finds nothing higher than the free plan.
        _, text, _ = lowtide.run("explain", scores)
        next_line = re.search(r"Next: lowtide (fit .*)", text)
        require(next_line is not None, "no next step is proposed")
        code, fitted, _ = call(*next_line[1].split())
        require(code == 0 and fitted["peak_bytes"] <= report["peak_bytes"], f"`{next_line[1]}`: exit {code}")

        # A donation frees what the donated program needs less.
        _, report, _ = call("explain", at("sort.hlo", SORT))
        donations = [c for c in cures(report) if c["what"].startswith("donate argument 0")]
        donated = at("donated.hlo", SORT.replace("HloModule sorts", "HloModule sorts, buffer_donor={ (0, {}) }"))
        _, after, _ = call("explain", donated)
        less = report["peak_bytes"] - after["peak_bytes"]
        require(less == 4 << 20 and len(donations) == 1 and donations[0]["planned"] and donations[0]["bytes"] == less,
                f"donating frees {less}, explain says {donations}")

        # Where nothing is to be freed nothing is promised.
        code, report, _ = call("explain", at("small.hlo", SMALL))
        require(code == 0 and report["temp_bytes"] == 0 and sum(c["bytes"] for c in cures(report)) <= 4000, "small")
    return verdict()


if __name__ == "__main__":
    sys.exit(main())
