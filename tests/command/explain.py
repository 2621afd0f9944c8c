#!/usr/bin/env python3
"""lowtide explain: cures are what planning gets, and the limit it proposes is met.

  explain.py build/lowtide
"""
import re
import sys

from command import FOLDS, SMALL, SORT, Lowtide, attention, read, require, verdict


# What was said of values by their looks, without a plan, or told by names.
NEVER = ("dot_product_attention", "over the vocabulary", "maxtext", "checkpoint policy", "(estimated)", "gone from the free plan", "blocks of queries",
         "donate_argnums=(")

# Rows of a SiLU after a product, normalised by their sums: an exponential and a reduction, and no softmax, no vocabulary.
SILU = FOLDS.join(["HloModule jit_train_step\n", """ENTRY main {
  x = f32[512,256] parameter(0), metadata={op_name="x"}
  w = f32[256,8192] parameter(1), metadata={op_name="params['w']"}
  y = f32[512,8192] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  n = f32[512,8192] negate(y)
  e = f32[512,8192] exponential(n)
  one = f32[] constant(1)
  ones = f32[512,8192] broadcast(one), dimensions={}
  d = f32[512,8192] add(e, ones)
  s = f32[512,8192] divide(y, d)
  zero = f32[] constant(0)
  r = f32[512] reduce(s, zero), dimensions={1}, to_apply=add
  rs = f32[512,8192] broadcast(r), dimensions={0}
  t = f32[512,8192] divide(s, rs)
  ROOT z = f32[512,256] dot(t, w), lhs_contracting_dims={1}, rhs_contracting_dims={1}
}
"""])



def look_up(rows="hot", product="dot(hot, table), lhs_contracting_dims={1}, rhs_contracting_dims={0}"):
    """One-hot rows of ids times a table, made by a called computation as jax.nn.one_hot makes them."""
    return f"""HloModule jit_look_up
one_hot {{
  i = s32[512] parameter(0)
  wide = s32[512,8192] broadcast(i), dimensions={{0}}
  classes = s32[512,8192] iota(), iota_dimension=1
  hit = pred[512,8192] compare(wide, classes), direction=EQ
  ROOT hot = f32[512,8192] convert(hit)
}}
ENTRY main {{
  ids = s32[512] parameter(0)
  gate = f32[512] parameter(1)
  table = f32[8192,64] parameter(2)
  hot = f32[512,8192] call(ids), to_apply=one_hot
  gates = f32[512,8192] broadcast(gate), dimensions={{0}}
  gated = f32[512,8192] multiply(hot, gates)
  ROOT y = f32[512,64] {product.replace("hot,", rows + ",")}
}}
"""


ROWS = """HloModule jit_look_up
ENTRY main {
  ids = s32[512] parameter(0)
  gate = f32[512] parameter(1)
  table = f32[8192,64] parameter(2)
  ROOT y = f32[512,64] gather(table, ids), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,64}
}
"""


def update(paths, name="jit_step", results=3):
    """Sorts state: results of the types of the first arguments, so that these could be donated."""
    arguments = "".join(f"  p{k} = f32[4096,256] parameter({k})" + (f', metadata={{op_name="{path}"}}\n' if path else "\n")
                        for k, path in enumerate(paths))
    sorts = "".join(f"  s{k} = f32[4096,256] sort(p{k}), dimensions={{1}}, to_apply=less\n" for k in range(results))
    tail = f"  t = f32[4096,256] add(p{len(paths) - 1}, s0)\n"
    whole = ", ".join(f"s{k}" for k in range(results))
    return f"HloModule {name}\n" + SORT.split("ENTRY")[0].split("\n", 1)[1] + "ENTRY main {\n" + arguments + sorts + tail + \
        "  ROOT r = (" + ", ".join(["f32[4096,256]"] * results) + f") tuple({whole})\n}}\n"


def cures(report, rows="at_peak"):
    return [cure for row in report[rows] for cure in row["frees_it"]]


def main():
    with Lowtide(sys.argv[1]) as lowtide:
        at, call = lowtide.at, lowtide.call
        # Scores that the free plan doesn't store: said of the program as given, and no more than the free plan saves.
        scores = at("attention.hlo", attention(2048, 32))
        code, report, _ = call("explain", scores)
        require(code == 0, f"attention: exit {code}")
        rows = [r for r in report["input_at_peak"] if r["shape"] == "f32[2048,2048]"]
        require(rows and all(r["in_free_plan"] == "nothing of its extents at the free plan's peak" for r in rows), f"scores: {rows}")
        planned = [c for c in cures(report) if c["bytes"] > 0]
        room = report["peak_bytes"] - report["floor_any_bytes"]
        require(all(c["bytes"] <= room for c in planned), f"a cure frees more than any executor could: {planned}")

        # The limit proposed, where there is one, is met; `fit` otherwise finds nothing higher than the free plan.
        _, text, _ = lowtide.run("explain", scores)
        next_line = re.search(r"Next: lowtide (fit .*)", text)
        require(next_line is not None, "no next step is proposed")
        code, fitted, _ = call(*next_line[1].split())
        require(code == 0 and fitted["peak_bytes"] <= report["peak_bytes"], f"`{next_line[1]}`: exit {code}")

        # A donation frees what the donated program needs less, by Lowtide's plan and by XLA's account.
        _, report, _ = call("explain", at("sort.hlo", SORT))
        donations = [c for c in cures(report) if c["what"].startswith("donate parameter 0 of the module (%x,")]
        donated = at("donated.hlo", SORT.replace("HloModule sorts", "HloModule sorts, input_output_alias={ {}: (0, {}, may-alias) }"))
        _, after, _ = call("explain", donated)
        less = report["peak_bytes"] - after["peak_bytes"]
        require(less == 4 << 20 and len(donations) == 1 and donations[0]["bytes"] == less,
                f"donating frees {less}, explain says {donations}")
        require(donations[0]["under_xla"]["peak_bytes"] == after["input_peak_bytes"], f"under XLA: {donations}")

        # Which argument: by the paths of its leaves, never by the number of a parameter; and where they don't tell, not at all.
        named = update(["state.w", "state.m['a']", "state.step", "x"])
        _, report, _ = call("explain", at("named.hlo", named))
        told = [c for c in cures(report, "input_at_peak") if c["what"].startswith("donate state (state.w ...): results live in 3 of its 3")]
        require(len(told) == 1 and 'donate_argnames=("state",)' in told[0]["in_your_source"], f"state isn't named: {cures(report)}")
        aliases = ", ".join(f"{{{k}}}: ({k}, {{}}, may-alias)" for k in range(3))
        _, after, _ = call("explain", at("named-donated.hlo", named.replace("HloModule jit_step", f"HloModule jit_step, input_output_alias={{ {aliases} }}")))
        require(told and told[0]["bytes"] == report["peak_bytes"] - after["peak_bytes"] > 0, f"donating state: {told}")
        require(told and told[0]["under_xla"]["peak_bytes"] == after["input_peak_bytes"], f"donating state under XLA: {told}")
        _, text, _ = lowtide.run("explain", at("indexed.hlo", update(["a[0]", "a[1]", "a[2]", "a[3]"])), "--top", "0")
        require("a is one argument, not *a" in text, f"a[0] may be of *a: {text}")
        for paths, name in ((["", "", "", ""], "jit_step"),
                            (["data", "data", "data", "data"], "jit_step"), (["state.w", "state.m", "state.s", "x"], "IrToHlo.7")):
            _, text, _ = lowtide.run("explain", at("unnamed.hlo", update(paths, name)), "--top", "0")
            require("donate parameter 0 of the module" in text and "donate_argnames" not in text, f"{paths} of {name}: {text}")

        # One-hot rows of a table: as the gather needs; not where the rows have factors, which table[ids] hasn't.
        _, report, _ = call("explain", at("look_up.hlo", look_up()))
        told = [c for c in cures(report, "input_at_peak") if "table[ids]" in c.get("in_your_source", "")]
        _, rows, _ = call("explain", at("rows.hlo", ROWS))
        require(len(told) == 1 and abs(told[0]["under_xla"]["peak_bytes"] / rows["input_peak_bytes"] - 1) < 0.01, f"one-hot rows: {told}")
        _, report, _ = call("explain", at("gated.hlo", look_up("gated")))
        require(not any("in_your_source" in c for c in cures(report, "input_at_peak")), f"gated rows: {cures(report, 'input_at_peak')}")

        # Nothing that wasn't planned is said, as text, JSON or page.
        for file, program in (("silu", SILU), ("scores", attention(2048, 32)), ("train", SILU.replace("exponential(n)", "sine(n)")),
                              ("named", named), ("sorts", SORT), ("rows", look_up())):
            page = at(file + ".html")
            path = at(file + ".hlo", program)
            _, text, _ = lowtide.run("explain", path, "--top", "0", "--html", page)
            _, json, _ = lowtide.run("explain", path, "--json")
            _, refused, _ = lowtide.run("fit", path, "--limit", "1")
            for phrase in NEVER:
                require(not any(phrase in said for said in (text, json, refused, read(page))), f"{file}: says {phrase!r}")

        # The rows of SiLU: streams that were planned, and met.
        _, report, _ = call("explain", at("silu.hlo", SILU))
        streams = [c for c in cures(report) if c["what"].startswith("stream over dimension 0 of") and c["bytes"] > 0]
        require(streams and all(c["decision"].startswith("stream ") for c in streams), f"SiLU isn't streamed: {cures(report)}")
        for stream in streams[:1]:
            code, fitted, _ = call("fit", at("silu.hlo"), "--limit", str(report["peak_bytes"] - stream["bytes"]))
            require(code == 0, f"`{stream['decision']}`: no plan within {report['peak_bytes']} - {stream['bytes']}")

        # Where nothing is to be freed nothing is promised.
        code, report, _ = call("explain", at("small.hlo", SMALL))
        require(code == 0 and report["temp_bytes"] == 0 and sum(c["bytes"] for c in cures(report)) <= 4000, "small")
    return verdict()


if __name__ == "__main__":
    sys.exit(main())
