#!/usr/bin/env python3
"""lowtide fit, and run within a limit: limits hold, peaks are monotone in them, plans replay, refusals say what would help.

  fit.py build/lowtide
"""
import json
import os
import struct
import subprocess
import sys
import tempfile

# Pairwise scores, normalised, then folded: 16 MiB that nobody needs at once.
ATTENTION = """HloModule attention
max { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] maximum(a, b) }
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b) }
ENTRY main {
  q = f32[2048,32] parameter(0)
  k = f32[2048,32] parameter(1)
  v = f32[2048,32] parameter(2)
  s = f32[2048,2048] dot(q, k), lhs_contracting_dims={1}, rhs_contracting_dims={1}
  least = f32[] constant(-inf)
  m = f32[2048] reduce(s, least), dimensions={1}, to_apply=max
  mb = f32[2048,2048] broadcast(m), dimensions={0}
  d = f32[2048,2048] subtract(s, mb)
  e = f32[2048,2048] exponential(d)
  zero = f32[] constant(0)
  n = f32[2048] reduce(e, zero), dimensions={1}, to_apply=add
  nb = f32[2048,2048] broadcast(n), dimensions={0}
  p = f32[2048,2048] divide(e, nb)
  ROOT y = f32[2048,32] dot(p, v), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
"""
# A library sorts; its result could lie in its argument, were that donated.
SORT = """HloModule sorts
less { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = pred[] compare(a, b), direction=LT }
ENTRY main {
  x = f32[4096,256] parameter(0)
  ROOT s = f32[4096,256] sort(x), dimensions={1}, to_apply=less
}
"""
SMALL = """HloModule small
ENTRY main {
  x = f32[1000] parameter(0)
  ROOT s = f32[1000] sine(x)
}
"""
KEYS = ("module instructions argument_bytes output_bytes alias_bytes temp_bytes peak_bytes load_bytes floor_order_bytes "
        "floor_any_bytes kernels plan_seconds rewrites certificate").split()
faults = []


def require(holds, what):
    if not holds:
        faults.append(what)


def main():
    program = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "LOWTIDE_CACHE": os.path.join(folder, "cache")}

        def at(name, text=None):
            path = os.path.join(folder, name)
            if text is not None:
                with open(path, "w", encoding="utf-8") as f:
                    f.write(text)
            return path

        def call(*words):
            done = subprocess.run([program, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)
            try:
                answer = json.loads(done.stdout)
            except ValueError:
                answer = None
            return done.returncode, answer, done.stderr.decode(errors="replace")

        def results(path):
            with open(path, "rb") as f:
                raw = f.read()
            n = struct.unpack("<Q", raw[:8])[0]
            return raw[8 + n:]

        attention, sort, small = at("attention.hlo", ATTENTION), at("sort.hlo", SORT), at("small.hlo", SMALL)

        # The tightest: less than the free plan, above every floor, with all keys.
        code, best, error = call("fit", attention, "--json")
        require(code == 0 and best, f"fit without a limit: exit {code} {error}")
        require(all(key in best for key in KEYS), f"keys are missing: {[k for k in KEYS if k not in best]}")
        require(best["temp_bytes"] < 4 << 20, f"16 MiB of scores should be streamed; temp is {best['temp_bytes']}")
        require(best["peak_bytes"] >= best["floor_any_bytes"], "the peak is below what any executor needs")
        saved = sum(r["bytes_saved"] for r in best["rewrites"])
        require(saved == best["input_peak_bytes"] - best["peak_bytes"], "what the rewrites saved isn't what the peak lost")
        require(any(r["rule"] == "stream" and r["bytes_saved"] > 0 for r in best["rewrites"]), "no stream is named with its bytes")

        # Limits: held, monotone, met up to the tightest and refused below it with the best found.
        free = call("fit", attention, "--limit", "1GiB", "--json")[1]
        require(free["peak_bytes"] > best["peak_bytes"], "a large limit should get a faster plan than the tightest")
        before = (0, float("inf"))
        for k in range(13):
            limit = best["peak_bytes"] + (free["peak_bytes"] - best["peak_bytes"]) * k // 12
            code, fitted, error = call("fit", attention, "--limit", limit, "--json")
            require(code == 0 and fitted["peak_bytes"] <= limit, f"limit {limit}: exit {code}, {error}")
            require(fitted["certificate"]["met"], f"limit {limit}: not said to be met")
            require(before[0] <= fitted["peak_bytes"], f"limit {limit}: the peak falls as the limit grows")
            require(before[1] >= fitted["modelled_seconds"], f"limit {limit}: the time grows with the limit")
            before = fitted["peak_bytes"], fitted["modelled_seconds"]
        code, refused, error = call("fit", attention, "--limit", best["peak_bytes"] - 1, "--json")
        require(code == 4 and refused and refused["peak_bytes"] == best["peak_bytes"], f"below the tightest: exit {code}")
        require(not refused["certificate"]["met"], "a limit that isn't met is said to be")
        require(refused["certificate"]["floor_any"]["reason"], "a floor without its reason")
        require(str(best["peak_bytes"]) in error, f"the refusal doesn't say what was found: {error}")

        # What is run: the same peak, the same results but for the order of sums; plans replay to the same bits.
        plain, tight, replayed, plan = at("plain"), at("tight"), at("replayed"), at("plan")
        code, ran, error = call("run", attention, "--outputs", plain, "--json")
        require(code == 0, f"run: {error}")
        code, ran, error = call("run", attention, "--limit", best["peak_bytes"], "--expect", plain, "--rtol", "1e-4",
                                "--atol-of-max", "1e-4", "--outputs", tight, "--json")
        require(code == 0 and ran["peak_bytes"] == best["peak_bytes"], f"run --limit: exit {code} {error}")
        require(call("run", attention, "--limit", "1", "--json")[0] == 4, "run --limit 1 isn't refused")
        require(call("fit", attention, "--plan", plan, "--json")[0] == 0, "fit --plan")
        code, ran, error = call("run", attention, "--plan", plan, "--outputs", replayed, "--json")
        require(code == 0 and ran["peak_bytes"] == best["peak_bytes"], f"run --plan: exit {code} {error}")
        require(results(tight) == results(replayed), "a plan that is replayed gives other bits")
        code, ran, error = call("run", small, "--plan", plan, "--json")
        require(code == 3 and "another module" in error, f"a plan of another module: exit {code} {error}")
        with open(plan, encoding="utf-8") as f:
            text = f.read()
        for name, wrong, words in (("version", "lowtide-plan 0\n", "line 1"), ("word", text + "strem main s\n", "no decision"),
                                   ("value", text + "stream main nothing dimension=0 tile=8\n", "no such value"),
                                   ("tile", text + "stream main s dimension=0 tile=0\n", "tile")):
            code, ran, error = call("run", attention, "--plan", at(name, wrong), "--json")
            require(code == 3 and words in error, f"a plan with a wrong {name}: exit {code} {error}")
        code, ran, error = call("run", attention, "--plan", at("nowhere"), "--json")
        require(code == 3, f"a plan that isn't there: exit {code} {error}")

        # The module written is a program of its own, with the same results.
        rewritten = at("rewritten.hlo")
        require(call("fit", attention, "-o", rewritten, "--json")[0] == 0, "fit -o")
        code, ran, error = call("run", rewritten, "--expect", plain, "--rtol", "1e-4", "--atol-of-max", "1e-4", "--json")
        require(code == 0, f"the module that fit wrote: exit {code} {error}")

        # Checked: what was compared is said.
        code, checked, error = call("fit", attention, "--check", "--json")
        require(code == 0 and "agree" in checked.get("checked", ""), f"fit --check: exit {code} {error}")
        code, checked, error = call("fit", small, "--check", "--json")
        require(code == 0 and "definitions" in checked.get("checked", ""), f"fit --check of a small program: exit {code} {error}")
        require(checked["check"]["what"] == "whole program", f"fit --check of a small program compares {checked['check']}")

        # What no memory holds is compared as a small instantiation, decision by decision; a fault is seen and named.
        large = at("large.hlo", ATTENTION.replace("2048", "131072"))
        for words in (("fit", large, "--check"), ("fit", attention, "--check-small")):
            code, checked, error = call(*words, "--json")
            check = checked.get("check", {}) if checked else {}
            require(code == 0 and check.get("what") == "small instantiation", f"{words}: exit {code} {error} {check}")
            require(" -> " in check.get("extents", ""), f"{words}: doesn't say which extents changed: {check}")
            require(check.get("exercised", 0) == len(check["decisions"]) > 0, f"{words}: decisions aren't exercised: {check}")
        for words in (("fit", large), ("fit", attention), ("fit", attention, "--check-small")):
            code, checked, error = call(*words, "--check-control", "1", "--json")
            require(code == 5 and "`stream main" in error, f"{words}: a spoilt decision isn't named: exit {code} {error}")
        require(call("fit", small, "--check-control", "1")[0] == 3, "a decision is spoilt that there isn't")

        # Changes that the user could make, computed: the array once, not twice.
        code, refused, error = call("fit", sort, "--limit", "1", "--json")
        donated = [c for c in refused["could_change"] if "donate argument 0" in c["what"]]
        require(code == 4 and len(donated) == 1 and donated[0]["bytes"] == 4 << 20, f"no donation is proposed: {refused['could_change']}")
        halved = [c for c in refused["could_change"] if "halve dimension 0 of x (4096)" in c["what"]]
        require(len(halved) == 1 and halved[0]["bytes"] > 0, f"no dimension is proposed: {refused['could_change']}")
        code, refused, error = call("fit", small, "--limit", "1", "--json")
        require(code == 4 and refused["temp_bytes"] == 0, f"small: exit {code}")

        # Options.
        require(call("fit", small, "--limit", "much")[0] == 2, "a size that is none")
        # For XLA: plain HLO in a loop that says how often it runs, honest sizes, refusals as for ourselves.
        handed = at("handed.hlo")
        code, report, error = call("fit", attention, "--for", "xla", "-o", handed, "--json")
        require(code == 0 and report["made_for"] == "xla" and "XLA" in report["note"], f"fit --for xla: exit {code} {error}")
        require(report["peak_bytes"] < report["input_peak_bytes"] / 4, "16 MiB of scores are not streamed for XLA")
        saved = sum(r["bytes_saved"] for r in report["rewrites"])
        require(saved == report["input_peak_bytes"] - report["peak_bytes"], "what the rewrites saved for XLA isn't what the peak lost")
        with open(handed, encoding="utf-8") as f:
            text = f.read()
        require("known_trip_count" in text and "lowtide" not in text and " copy(" not in text, "the export isn't plain")
        code, ran, error = call("run", handed, "--expect", plain, "--rtol", "1e-4", "--atol-of-max", "1e-4", "--json")
        require(code == 0, f"the module handed to XLA: exit {code} {error}")
        code, refused, error = call("fit", attention, "--for", "xla", "--limit", report["peak_bytes"] - 1, "--json")
        require(code == 4 and refused["peak_bytes"] == report["peak_bytes"], f"--for xla below the tightest: exit {code}")
        require(call("fit", attention, "--for", "xla", "--plan", at("p"))[0] == 2, "a plan of what XLA runs")
        scheduled = at("scheduled.hlo", SMALL.replace("HloModule small", "HloModule small, is_scheduled=true"))
        require(call("fit", scheduled, "--for", "xla")[0] == 6, "a module that XLA has compiled already")
        require(call("run", small, "--limit", "1GiB", "--plan", plan)[0] == 2, "both a limit and a plan")
    for fault in faults:
        print(fault)
    print(f"{len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
