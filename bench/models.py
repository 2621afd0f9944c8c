#!/usr/bin/env python3
"""Lowtide and XLA:CPU side by side: time, memory, compile time and first call of programs, interleaved on one machine.

  bench/models.py [--at free|tightest|twice]... [--rounds 7] [--json OUT.json] [--lowtide build/lowtide] [--micro]
                  [PROGRAM.hlo...]

--micro: also the small programs in bench/micro: random numbers, reductions, products, convolutions, sorts, gathers, stencils.

--at: the free plan; the tightest that `fit` finds; the plan within a limit that leaves twice its temp. Several give several tables.

Each program gets a process of XLA's with each scheduler and runs of ours in turn; ratios are of medians, ours to the faster of XLA's.
Memory is what the resident set grows by beyond arguments, results included, in fresh processes: XLA's as seen, ours as
measured by `run` (arena, arguments and results as touched). Compile is all that is done once, planning included, with an
empty cache; first is that and the first run; cached, in the JSON alone, what planning and compiling take from then on. Worst
time first.
"""
import argparse
import glob
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
MIB = 1 << 20
COLUMNS = (("ours ms", 8), ("XLA ms", 8), ("time", 5), ("our MiB", 8), ("XLA MiB", 8), ("mem", 4), ("comp s", 6),
           ("XLA s", 6), ("first", 6), ("XLA", 6))


class Xla:
    def __init__(self, program, least):
        more = ["--min"] if least else []
        self.process = subprocess.Popen([sys.executable, os.path.join(HERE, "xla_worker.py"), program, *more], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        line = self.process.stdout.readline()
        self.made = json.loads(line) if line else {"absent": "it stopped while compiling"}
        self.growth = None

    def run(self, times):
        if "absent" in self.made:
            return []
        try:
            self.process.stdin.write(f"{times}\n")
            self.process.stdin.flush()
            answer = json.loads(self.process.stdout.readline())
        except (OSError, ValueError):
            self.made = {"absent": "it stopped while running"}
            return []
        self.growth = answer["resident_growth"] or self.growth
        return answer["seconds"]

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def ours(lowtide, program, times, cache, plan=None):
    more = ["--plan", plan] if plan else []
    done = subprocess.run([lowtide, "run", program, "--repeat", str(times), "--json", *more], capture_output=True, text=True,
                          env={**os.environ, "LOWTIDE_CACHE": cache})
    if done.returncode != 0:
        return {"fault": done.stderr.strip().split("\n")[-1][-70:]}
    return json.loads(done.stdout)


def plan_within(lowtide, program, limit, path):
    """Writes the plan for a limit, the tightest where it is 1; what fit says of it."""
    done = subprocess.run([lowtide, "fit", program, "--limit", str(limit), "--plan", path, "--json"], capture_output=True, text=True)
    return json.loads(done.stdout) if done.stdout else None


def plans_of(options, program, folder):
    """where -> plan's file, of the places asked for; the free plan has none"""
    plans = {"free": None}
    if {"tightest", "twice"} & set(options.at):
        plans["tightest"] = os.path.join(folder, "tightest")
        best = plan_within(options.lowtide, program, 1, plans["tightest"])
        if best is None:
            return dict.fromkeys(options.at)
        plans["twice"] = os.path.join(folder, "twice")
        plan_within(options.lowtide, program, best["peak_bytes"] + best["temp_bytes"], plans["twice"])
    return {where: plans[where] for where in options.at}


def measure(options, program):
    """where -> record"""
    with tempfile.TemporaryDirectory() as folder:
        plans = plans_of(options, program, folder)
        cold = {where: ours(options.lowtide, program, 1, folder, plan) for where, plan in plans.items()}
        faults = {where: {"program": program, "fault": c["fault"]} for where, c in cold.items() if "fault" in c}
        if faults:
            return {where: faults.get(where, next(iter(faults.values()))) for where in plans}
        peers = [Xla(program, least) for least in (False, True)]
        mine, theirs = {where: [] for where in plans}, [[], []]
        first = [peer.run(1) for peer in peers]
        for _ in range(options.rounds):
            for where, plan in plans.items():
                again = ours(options.lowtide, program, 3, folder, plan)
                mine[where] += again["run_seconds"][1:]
                cold[where]["cached_seconds"] = again["plan_seconds"] + again["compile_seconds"]
            for k, peer in enumerate(peers):
                theirs[k] += peer.run(2)
        for peer in peers:
            peer.close()
    return {where: record_of(program, cold[where], mine[where], theirs, first, peers) for where in plans}


def record_of(program, cold, mine, theirs, first, peers):
    made = cold["plan_seconds"] + cold["compile_seconds"]
    record = {"program": program, "ours_ms": 1e3 * statistics.median(mine), "ours_compile_s": made,
              "ours_first_s": made + cold["run_seconds"][0], "ours_cached_s": cold["cached_seconds"],
              "ours_bytes": cold["measured_peak_bytes"] - cold["argument_bytes"], "ours_temp": cold["temp_bytes"],
              "kernels": cold["kernels"]}
    medians = [statistics.median(t) for t in theirs if t]
    if medians:
        record["xla_ms"] = 1e3 * min(medians)
        compiled = [p.made.get("compile_seconds") for p in peers]
        record["xla_compile_s"] = min(s for s in compiled if s is not None)
        record["xla_first_s"] = min(s + f[0] for s, f in zip(compiled, first) if f)
        grown = [p.growth for p in peers if p.growth is not None]
        record["xla_bytes"] = min(grown) if grown else None
        record["time_ratio"] = record["ours_ms"] / record["xla_ms"]
        slack = MIB + 0.02 * (cold["argument_bytes"] + cold["output_bytes"])
        if record["xla_bytes"]:
            record["memory_ratio"] = (max(0, record["ours_bytes"]) + slack) / (record["xla_bytes"] + slack)
    return record


def geometric_mean(numbers):
    return math.exp(sum(math.log(max(n, 1e-9)) for n in numbers) / len(numbers)) if numbers else float("nan")


def print_table(where, records):
    head = " ".join(f"{title:>{width}}" for title, width in COLUMNS)
    print(f"{'at ' + where:27} {head}")
    for r in sorted(records, key=lambda r: -r.get("time_ratio", 1e9)):
        name = os.path.basename(r["program"]).removesuffix(".hlo")[:27]
        if "fault" in r:
            print(f"{name:27} {r['fault'][:70]}")
            continue
        numbers = [r["ours_ms"], r.get("xla_ms"), r.get("time_ratio"), r["ours_bytes"] / MIB,
                   (r.get("xla_bytes") or 0) / MIB, r.get("memory_ratio"), r["ours_compile_s"], r.get("xla_compile_s"),
                   r["ours_first_s"], r.get("xla_first_s")]
        cells = [f"{'-' if x is None else format(x, '.2f' if x < 1000 else '.0f'):>{width}}"
                 for x, (_, width) in zip(numbers, COLUMNS)]
        print(f"{name:27} {' '.join(cells)}")
    means = {title: geometric_mean([r[ours] / r[theirs] if theirs else r[ours] for r in records if r.get(theirs or ours)])
             for title, ours, theirs in (("time", "time_ratio", None), ("memory", "memory_ratio", None),
                                         ("compile", "ours_compile_s", "xla_compile_s"),
                                         ("first call", "ours_first_s", "xla_first_s"))}
    print(f"geometric means over {len(records)}: " + ", ".join(f"{title} {mean:.2f}" for title, mean in means.items()))
    cached = sorted(r["ours_cached_s"] for r in records if "ours_cached_s" in r)
    if cached:
        print(f"from the cache: {1e3 * statistics.median(cached):.1f} ms in the median, {1e3 * cached[-1]:.0f} at most")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="*")
    parser.add_argument("--micro", action="store_true")
    parser.add_argument("--at", action="append", choices=["free", "tightest", "twice"])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--json")
    parser.add_argument("--lowtide", default="build/lowtide")
    options = parser.parse_args()
    options.at = options.at or ["free"]
    if options.micro:
        options.programs += sorted(glob.glob(os.path.join(HERE, "micro", "*.hlo")))
    if not options.programs:
        parser.error("no programs: name some, or --micro")
    records = {where: [] for where in options.at}
    for n, program in enumerate(options.programs):
        print(f"\r{n + 1}/{len(options.programs)} {os.path.basename(program)[:60]:60}", end="", file=sys.stderr, flush=True)
        for where, record in measure(options, program).items():
            records[where].append(record)
    print("\r" + " " * 75 + "\r", end="", file=sys.stderr)
    for where in options.at:
        print_table(where, records[where])
    if options.json:
        with open(options.json, "w") as out:
            json.dump(records, out, indent=1)


main()
