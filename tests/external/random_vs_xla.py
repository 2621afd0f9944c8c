#!/usr/bin/env python3
"""Random programs on our interpreter and on XLA:CPU: equal integers, floats within the bounds that come with each program.

  random_vs_xla.py [--count N] [--seed S] [--batch N] [--program build/tests/random/lowtide_random] [--keep DIR]

Programs come from lowtide_random, which shrinks what disagrees; the smallest program is printed and kept. A control
changes one element of our results now and then and must always be noticed. Each batch is a process of its own, so that XLA
may crash.
"""
import argparse
import collections
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import checks

CONTROL_EVERY = 16
# XLA flushes denormals to zero, f16 excepted, whose denormals are ordinary numbers of the f32 it computes in.
TINY = {"f16": 2.0**-14, "bf16": 2.0**-126, "f32": 2.0**-126, "f64": 2.0**-1022, "c64": 2.0**-126, "c128": 2.0**-1022}
COMPLEX = ("c64", "c128")  # bounds are those of each part


def parts(array):
    """Numbers as f64; the parts of complex ones as two arrays of them."""
    import numpy as np
    if np.iscomplexobj(array):
        return np.stack([array.real, array.imag]).astype(np.float64)
    return array.astype(np.float64)


def difference(k, ours, theirs, kind, error):
    """None, or what differs between two results, in words."""
    import numpy as np
    if ours.shape != theirs.shape or ours.dtype != theirs.dtype:
        return f"out{k}: {ours.dtype}{ours.shape} here, {theirs.dtype}{theirs.shape} in XLA"
    if kind not in TINY:
        bad = ours != theirs
    else:
        x, y = parts(ours), parts(theirs)
        with np.errstate(invalid="ignore"):
            # Each side may be `error` away from the mathematical value.
            bad = ~((x == y) | (np.isnan(x) & np.isnan(y)) | (np.abs(x - y) <= 2 * error + TINY[kind]))
    if kind in COMPLEX:
        bad = bad.any(axis=0)
    if not bad.any():
        return None
    at = tuple(int(i) for i in np.argwhere(bad)[0])
    return f"out{k}{list(at)}: {ours[at]} here, {theirs[at]} in XLA, bound {error:.3g}; {int(bad.sum())} of {bad.size} differ"


def compare(ours, theirs, heads):
    if len(ours) != len(theirs):
        return f"{len(ours)} results here, {len(theirs)} in XLA"
    for k, (x, y, head) in enumerate(zip(ours, theirs, heads)):
        words = difference(k, x, y, head["dtype"], head["error"])
        if words:
            return words
    return None


def perturbed(ours, heads):
    """A copy with one element out of its bound, or None when no result has elements."""
    import numpy as np
    for k in sorted(range(len(ours)), key=lambda k: -ours[k].size):
        if ours[k].size == 0:
            continue
        changed = [r.copy() for r in ours]
        flat = changed[k].reshape(-1)
        middle = flat.size // 2
        if heads[k]["dtype"] in TINY:
            value = complex(flat[middle]) if heads[k]["dtype"] in COMPLEX else float(flat[middle])
            step = 4 * heads[k]["error"] + 1e-2 * max(1e-3, abs(value))
            flat[middle] = flat.dtype.type(value + (1j if heads[k]["dtype"] in COMPLEX else 1) * step)
        elif heads[k]["dtype"] == "pred":
            flat[middle] = not flat[middle]
        else:
            flat[middle] ^= 1
        return changed if changed[k].tobytes() != ours[k].tobytes() else None
    return None


def judge(options):
    """One batch, in this process: verdicts for the programs of one lowtide_random."""
    import numpy as np
    import xla
    counts = collections.Counter()
    rejected, unsupported = collections.Counter(), collections.Counter()
    maker = subprocess.Popen([options.program, "judge", "--count", str(options.count), "--seed", str(options.seed)],
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def say(verdict):
        maker.stdin.write((verdict.replace("\n", " ") + "\n").encode())
        maker.stdin.flush()

    def save(failure=""):
        with open(options.report + ".new", "w") as f:
            json.dump({"counts": counts, "rejected": rejected, "unsupported": unsupported, "failure": failure}, f)
        os.replace(options.report + ".new", options.report)

    while line := maker.stdout.readline():
        save()  # for the case that XLA doesn't survive the next one
        head = json.loads(line)
        text = maker.stdout.read(head["text_bytes"]).decode()
        ours = []
        for r in head["results"]:
            dtype = np.dtype(xla.DTYPES[r["dtype"]])
            raw = maker.stdout.read(dtype.itemsize * int(np.prod(r["shape"])))
            ours.append(np.frombuffer(raw, dtype).reshape(r["shape"]))
        with open(options.last, "w") as f:
            f.write(text)
        counts["programs"] += 1
        if head["status"] != "ok":
            if head["fault"] == 6:
                unsupported[head["status"][:60]] += 1
                counts["unsupported here"] += 1
                say("agree")
            else:
                say(head["status"])
            continue
        try:
            theirs = xla.run(text)
        except xla.Rejected as error:
            rejected[str(error).strip().split("\n")[0][:110]] += 1
            counts["rejected by XLA"] += 1
            say("agree")
            continue
        words = compare(ours, theirs, head["results"])
        if words is None and counts["programs"] % CONTROL_EVERY == 0:
            changed = perturbed(ours, head["results"])
            if changed:
                counts["controls"] += 1
                if compare(changed, theirs, head["results"]) is None:
                    counts["controls unnoticed"] += 1
        counts["compared"] += 1
        counts["elements"] += sum(r.size for r in ours)
        say(words or "agree")
    maker.stdin.close()
    found = maker.wait()
    words = maker.stderr.read().decode()
    save(words if found else "")
    return 0


def main():
    p = checks.parser(__doc__)
    p.add_argument("--count", type=int, default=10000)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--batch", type=int, default=500)
    p.add_argument("--program", default=os.path.join(checks.ROOT, "build", "tests", "random", "lowtide_random"))
    p.add_argument("--keep", default=tempfile.gettempdir())
    p.add_argument("--report", help=argparse.SUPPRESS)
    p.add_argument("--last", help=argparse.SUPPRESS)
    options = p.parse_args()
    if not os.path.exists(options.program):
        print(f"SKIP random_vs_xla: {options.program} isn't there")
        return 0
    import xla
    if xla.absent():
        print(f"SKIP random_vs_xla: {xla.absent()}")
        return 0
    if options.report:
        return judge(options)

    start = time.time()
    total, rejected, unsupported = collections.Counter(), collections.Counter(), collections.Counter()
    failures, seed = [], options.seed
    with tempfile.TemporaryDirectory() as folder:
        while total["programs"] < options.count:
            report, last = os.path.join(folder, "report.json"), os.path.join(folder, "last.hlo")
            if os.path.exists(report):
                os.remove(report)
            batch = min(options.batch, options.count - total["programs"])
            worker = subprocess.run([sys.executable, os.path.abspath(__file__), "--count", str(batch), "--seed", str(seed),
                                     "--program", options.program, "--report", report, "--last", last],
                                    stderr=subprocess.PIPE)
            if worker.returncode:
                kept = os.path.join(options.keep, f"random_crash_{seed}.hlo")
                if os.path.exists(last):
                    os.replace(last, kept)
                name = signal.Signals(-worker.returncode).name if worker.returncode < 0 else f"exit {worker.returncode}"
                print(f"seed {seed}: XLA's process ended with {name}; the program: {kept}\n{worker.stderr.decode()[-600:]}")
                total["XLA crashes"] += 1
            if os.path.exists(report):
                result = json.load(open(report))
                total.update(result["counts"])
                rejected.update(result["rejected"])
                unsupported.update(result["unsupported"])
                if result["failure"]:
                    kept = os.path.join(options.keep, f"random_{seed}.txt")
                    with open(kept, "w") as f:
                        f.write(result["failure"])
                    failures.append(seed)
                    print(f"seed {seed}: {kept}\n{result['failure'][-6000:]}")
            elif worker.returncode:
                print("no program was judged")
                return 1
            seed += 1
            print(f"  {total['programs']} programs, {len(failures)} batches with a mismatch, {time.time() - start:.0f} s", flush=True)
    for title, counter in (("rejected by XLA", rejected), ("unsupported here", unsupported)):
        for words, count in counter.most_common(8):
            print(f"  {title}: {count} x {words}")
    print(f"{dict(total)}; {time.time() - start:.0f} s")
    bad = failures or total["controls unnoticed"] or total["compared"] < 0.9 * total["programs"]
    print("MISMATCH in seeds " + str(failures) if failures else "controls unnoticed, or too few compared" if bad else "all agree")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
