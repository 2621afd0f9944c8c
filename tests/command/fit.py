#!/usr/bin/env python3
"""lowtide fit, and run within a limit: limits hold, peaks are monotone in them, plans replay, refusals say what would help.

  fit.py build/lowtide
"""
import sys

from command import SMALL, SORT, Lowtide, attention, read, require, results, verdict

KEYS = ("module instructions argument_bytes output_bytes alias_bytes temp_bytes peak_bytes load_bytes floor_order_bytes "
        "floor_any_bytes kernels plan_seconds rewrites certificate").split()


def main():
    with Lowtide(sys.argv[1]) as lowtide:
        at, call = lowtide.at, lowtide.call
        scores, sort, small = at("attention.hlo", attention(2048, 32)), at("sort.hlo", SORT), at("small.hlo", SMALL)

        # The tightest: less than the free plan, above every floor, with all keys.
        code, best, error = call("fit", scores)
        require(code == 0 and best, f"fit without a limit: exit {code} {error}")
        require(all(key in best for key in KEYS), f"keys are missing: {[k for k in KEYS if k not in best]}")
        require(best["temp_bytes"] < 4 << 20, f"16 MiB of scores should be streamed; temp is {best['temp_bytes']}")
        require(best["peak_bytes"] >= best["floor_any_bytes"], "the peak is below what any executor needs")
        saved = sum(r["bytes_saved"] for r in best["rewrites"])
        require(saved == best["input_peak_bytes"] - best["peak_bytes"], "what the rewrites saved isn't what the peak lost")
        require(any(r["rule"] == "stream" and r["bytes_saved"] > 0 for r in best["rewrites"]), "no stream is named with its bytes")

        # Limits: held, monotone, met up to the tightest and refused below it with the best found.
        free = call("fit", scores, "--limit", "1GiB")[1]
        require(free["peak_bytes"] > best["peak_bytes"], "a large limit should get a faster plan than the tightest")
        before = (0, float("inf"))
        for k in range(13):
            limit = best["peak_bytes"] + (free["peak_bytes"] - best["peak_bytes"]) * k // 12
            code, fitted, error = call("fit", scores, "--limit", limit)
            require(code == 0 and fitted["peak_bytes"] <= limit, f"limit {limit}: exit {code}, {error}")
            require(fitted["certificate"]["met"], f"limit {limit}: not said to be met")
            require(before[0] <= fitted["peak_bytes"], f"limit {limit}: the peak falls as the limit grows")
            require(before[1] >= fitted["modelled_seconds"], f"limit {limit}: the time grows with the limit")
            before = fitted["peak_bytes"], fitted["modelled_seconds"]
        code, refused, error = call("fit", scores, "--limit", best["peak_bytes"] - 1)
        require(code == 4 and refused and refused["peak_bytes"] == best["peak_bytes"], f"below the tightest: exit {code}")
        require(not refused["certificate"]["met"], "a limit that isn't met is said to be")
        require(refused["certificate"]["floor_any"]["reason"], "a floor without its reason")
        require(str(best["peak_bytes"]) in error, f"the refusal doesn't say what was found: {error}")

        # What is run: the same peak, the same results but for the order of sums; plans replay to the same bits.
        plain, tight, replayed, plan = at("plain"), at("tight"), at("replayed"), at("plan")
        code, ran, error = call("run", scores, "--outputs", plain)
        require(code == 0, f"run: {error}")
        code, ran, error = call("run", scores, "--limit", best["peak_bytes"], "--expect", plain, "--rtol", "1e-4",
                                "--atol-of-max", "1e-4", "--outputs", tight)
        require(code == 0 and ran["peak_bytes"] == best["peak_bytes"], f"run --limit: exit {code} {error}")
        require(call("run", scores, "--limit", "1")[0] == 4, "run --limit 1 isn't refused")
        require(call("fit", scores, "--plan", plan)[0] == 0, "fit --plan")
        code, ran, error = call("run", scores, "--plan", plan, "--outputs", replayed)
        require(code == 0 and ran["peak_bytes"] == best["peak_bytes"], f"run --plan: exit {code} {error}")
        require(results(tight) == results(replayed), "a plan that is replayed gives other bits")
        code, ran, error = call("run", small, "--plan", plan)
        require(code == 3 and "another module" in error, f"a plan of another module: exit {code} {error}")
        text = read(plan)
        for name, wrong, words in (("version", "lowtide-plan 0\n", "line 1"), ("word", text + "strem main s\n", "no decision"),
                                   ("value", text + "stream main nothing dimension=0 tile=8\n", "no such value"),
                                   ("tile", text + "stream main s dimension=0 tile=0\n", "tile")):
            code, ran, error = call("run", scores, "--plan", at(name, wrong))
            require(code == 3 and words in error, f"a plan with a wrong {name}: exit {code} {error}")
        code, ran, error = call("run", scores, "--plan", at("nowhere"))
        require(code == 3, f"a plan that isn't there: exit {code} {error}")

        # The module written is a program of its own, with the same results.
        rewritten = at("rewritten.hlo")
        require(call("fit", scores, "-o", rewritten)[0] == 0, "fit -o")
        code, ran, error = call("run", rewritten, "--expect", plain, "--rtol", "1e-4", "--atol-of-max", "1e-4")
        require(code == 0, f"the module that fit wrote: exit {code} {error}")

        # Checked: what was compared is said.
        code, checked, error = call("fit", scores, "--check")
        require(code == 0 and "agree" in checked.get("checked", ""), f"fit --check: exit {code} {error}")
        code, checked, error = call("fit", small, "--check")
        require(code == 0 and "definitions" in checked.get("checked", ""), f"fit --check of a small program: exit {code} {error}")
        require(checked["check"]["what"] == "whole program", f"fit --check of a small program compares {checked['check']}")

        # What no memory holds is compared as a small instantiation, decision by decision; a fault is seen and named.
        large = at("large.hlo", attention(131072, 32))
        for words in (("fit", large, "--check"), ("fit", scores, "--check-small")):
            code, checked, error = call(*words)
            check = checked.get("check", {})
            require(code == 0 and check.get("what") == "small instantiation", f"{words}: exit {code} {error} {check}")
            require(" -> " in check.get("extents", ""), f"{words}: doesn't say which extents changed: {check}")
            require(check.get("exercised", 0) == len(check["decisions"]) > 0, f"{words}: decisions aren't exercised: {check}")
        for words in (("fit", large), ("fit", scores), ("fit", scores, "--check-small")):
            code, checked, error = call(*words, "--check-control", "1")
            require(code == 5 and "`stream main" in error, f"{words}: a spoilt decision isn't named: exit {code} {error}")
        require(call("fit", small, "--check-control", "1")[0] == 3, "a decision is spoilt that there isn't")

        # Changes that the user could make, computed: the array once, not twice.
        code, refused, error = call("fit", sort, "--limit", "1")
        donated = [c for c in refused["could_change"] if "donate parameter 0 of" in c["what"]]
        require(code == 4 and len(donated) == 1 and donated[0]["bytes"] == 4 << 20, f"no donation is proposed: {refused['could_change']}")
        halved = [c for c in refused["could_change"] if "halve dimension 0 of x (4096)" in c["what"]]
        require(len(halved) == 1 and halved[0]["bytes"] > 0, f"no dimension is proposed: {refused['could_change']}")
        code, refused, error = call("fit", small, "--limit", "1")
        require(code == 4 and refused["temp_bytes"] == 0, f"small: exit {code}")

        # Options.
        require(call("fit", small, "--limit", "much")[0] == 2, "a size that is none")
        # For XLA: plain HLO in a loop that says how often it runs, honest sizes, refusals as for ourselves.
        handed = at("handed.hlo")
        code, report, error = call("fit", scores, "--for", "xla", "-o", handed)
        require(code == 0 and report["made_for"] == "xla" and "XLA" in report["note"], f"fit --for xla: exit {code} {error}")
        require(report["peak_bytes"] < report["input_peak_bytes"] / 4, "16 MiB of scores are not streamed for XLA")
        saved = sum(r["bytes_saved"] for r in report["rewrites"])
        require(saved == report["input_peak_bytes"] - report["peak_bytes"], "what the rewrites saved for XLA isn't what the peak lost")
        text = read(handed)
        require("known_trip_count" in text and "lowtide" not in text and " copy(" not in text, "the export isn't plain")
        code, ran, error = call("run", handed, "--expect", plain, "--rtol", "1e-4", "--atol-of-max", "1e-4")
        require(code == 0, f"the module handed to XLA: exit {code} {error}")
        code, tightest, error = call("fit", scores, "--for", "xla", "--limit", 1)
        require(code == 4 and tightest["peak_bytes"] <= report["peak_bytes"], f"--for xla with hardly any memory: exit {code}")
        require(call("fit", scores, "--for", "xla", "--limit", tightest["peak_bytes"])[0] == 0, "--for xla: the tightest is refused")
        code, refused, error = call("fit", scores, "--for", "xla", "--limit", tightest["peak_bytes"] - 1)
        require(code == 4 and refused["peak_bytes"] == tightest["peak_bytes"], f"--for xla below the tightest: exit {code}")
        require(call("fit", scores, "--for", "xla", "--plan", at("p"))[0] == 2, "a plan of what XLA runs")
        scheduled = at("scheduled.hlo", SMALL.replace("HloModule small", "HloModule small, is_scheduled=true"))
        require(call("fit", scheduled, "--for", "xla")[0] == 6, "a module that XLA has compiled already")
        require(call("run", small, "--limit", "1GiB", "--plan", plan)[0] == 2, "both a limit and a plan")

        # Shardings: XLA looks at none of them where the header has no partitions; a program that its partitioner has
        # still to divide gets rules alone; one whose parameters alone are sharded has been divided.
        rows = "sharding={devices=[4,1]<=[4]}"
        annotated = attention(2048, 32).replace("d = ", f's.1 = f32[2048,2048] custom-call(s), custom_call_target="Sharding", {rows}\n  d = ')
        annotated = annotated.replace("subtract(s,", "subtract(s.1,")
        given = attention(2048, 32).replace("parameter(0)", f"parameter(0), {rows}")
        divided = "HloModule attention, num_partitions=4"
        for name, text, streams in (("inert", annotated, True), ("undivided", annotated.replace("HloModule attention", divided), False),
                                    ("divided", given.replace("HloModule attention", divided), True)):
            code, ours, error = call("fit", at(f"{name}.hlo", text), "--for", "xla", "-o", handed)
            require(code == 0, f"--for xla of {name} shardings: exit {code} {error}")
            found = any(r["rule"] == "stream" for r in ours["rewrites"])
            require(found == streams, f"--for xla of {name} shardings: streamed is {found}")
            require(not streams or ours["peak_bytes"] == report["peak_bytes"], f"{name} shardings: another peak than without")
            require(("sharding=" in read(handed)) == (name != "inert"), f"{name} shardings: not handed on as they should be")
        max_batch(lowtide)
    return verdict()


def pairs(rows):
    return f"""HloModule pairs
ENTRY main {{
  x = f32[{rows},64] parameter(0)
  y = f32[512,64] parameter(1)
  s = f32[{rows},512] dot(x, y), lhs_contracting_dims={{1}}, rhs_contracting_dims={{1}}
  e = f32[{rows},512] exponential(s)
  ROOT z = f32[{rows},64] dot(e, y), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
}}
"""


def max_batch(lowtide):
    """The largest extent within a limit: it fits where the program is written with it, its neighbour doesn't."""
    at, call = lowtide.at, lowtide.call
    scores, limit = at("batch.hlo", pairs(256)), 1 << 20
    for form in ("lowtide", "xla"):
        code, found, error = call("fit", scores, "--max-batch", "0:0", "--limit", limit, "--for", form)
        require(code == 0, f"--max-batch --for {form}: exit {code} {error}")
        largest, following = found["largest_extent"], found["next_extent"]
        require(following == largest + 1 and found["next_peak_bytes"] > limit >= found["peak_bytes"], f"not the border: {found}")
        for extent, fits in ((largest, True), (following, False)):
            code, again, error = call("fit", at(f"{extent}.hlo", pairs(extent)), "--limit", limit, "--for", form)
            require((code == 0) == fits, f"{extent} rows written out: exit {code}, {again['peak_bytes']} bytes {error}")
    code, found, error = call("fit", scores, "--max-batch", "0:0", "--limit", limit, "--multiple-of", "24")
    require(code == 0 and found["largest_extent"] % 24 == 0 and found["next_extent"] == found["largest_extent"] + 24, f"--multiple-of: {found}")
    code, found, error = call("fit", scores, "--max-batch", "0:0", "--limit", "1")
    require(code == 4 and "largest_extent" not in found and found["next_extent"] == 1, f"nothing fits: exit {code} {found}")
    unknown = at("unknown.hlo", SMALL.replace("sine(x)", 'custom-call(x), custom_call_target="te_norm"'))
    require(call("fit", unknown, "--max-batch", "0:0", "--limit", limit)[0] == 6, "the extent of a call that nobody knows")
    for words in (("--max-batch", "0:0"), ("--max-batch", "nobody:0", "--limit", limit), ("--max-batch", "0", "--limit", limit),
                  ("--max-batch", "0:0", "--limit", limit, "--plan", at("p")), ("--max-batch", "0:0", "--limit", limit, "--multiple-of", "0")):
        require(call("fit", scores, *words)[0] == 2, f"{words}: not refused")


if __name__ == "__main__":
    sys.exit(main())
