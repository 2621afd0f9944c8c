#!/usr/bin/env python3
"""--exact: every sum in its order. The same bits at every limit as with no rule and no stream that could move a sum.

  exact.py build/lowtide [--control]      --control: without the option, and other bits must be found
"""
import sys

from command import FOLDS, Lowtide, attention, faults, read, require, results, verdict

PROGRAMS = {
    # Rows are summed by themselves: streams along them are exact.
    "attention": attention(1024, 48),
    # Weights are summed along both dimensions of what is large: one of them makes partial sums.
    "pairs": f"HloModule pairs\n{FOLDS}" + """ENTRY main {
  x = f32[1000,40] parameter(0)
  y = f32[1000,40] parameter(1)
  s = f32[1000,1000] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={1}
  t = f32[1000,1000] tanh(s)
  along = f32[1000,40] dot(t, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  across = f32[1000,40] dot(t, x), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  zero = f32[] constant(0)
  rows = f32[1000] reduce(t, zero), dimensions={1}, to_apply=add
  columns = f32[1000] reduce(t, zero), dimensions={0}, to_apply=add
  ROOT r = (f32[1000,40], f32[1000,40], f32[1000], f32[1000]) tuple(along, across, rows, columns)
}
""",
    # One long sum, one of products of random-looking terms, and a running one.
    "sums": f"HloModule sums\n{FOLDS}" + """ENTRY main {
  x = f32[600000] parameter(0)
  y = f32[600000] parameter(1)
  zero = f32[] constant(0)
  sine = f32[600000] sine(x)
  product = f32[600000] multiply(sine, y)
  all = f32[] reduce(product, zero), dimensions={0}, to_apply=add
  m = f32[600,1000] reshape(product)
  rows = f32[600] reduce(m, zero), dimensions={1}, to_apply=add
  columns = f32[1000] reduce(m, zero), dimensions={0}, to_apply=add
  running = f32[600,1000] reduce-window(m, zero), window={size=1x1000 pad=0_0x999_0}, to_apply=add
  ROOT r = (f32[], f32[600], f32[1000], f32[600,1000]) tuple(all, rows, columns, running)
}
""",
    # The gradient of an embedding: rows are added where they belong, many to the same place.
    "embedding": f"HloModule embedding\n{FOLDS}" + """ENTRY main {
  ids = s32[3000] parameter(0)
  u = f32[3000,64] parameter(1)
  table = f32[500,64] parameter(2)
  wide = f32[3000,64,16] broadcast(u), dimensions={0,1}
  at = f32[3000,64,16] iota(), iota_dimension=2
  waves = f32[3000,64,16] multiply(wide, at)
  sines = f32[3000,64,16] sine(waves)
  zero = f32[] constant(0)
  rows = f32[3000,64] reduce(sines, zero), dimensions={2}, to_apply=add
  zeros = f32[500,64] broadcast(zero), dimensions={}
  g = f32[500,64] scatter(zeros, ids, rows), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add
  of = s32[3000,500] iota(), iota_dimension=1
  own = s32[3000,500] broadcast(ids), dimensions={0}
  hit = pred[3000,500] compare(own, of), direction=EQ
  hot = f32[3000,500] convert(hit)
  h = f32[500,64] dot(hot, rows), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  ROOT r = (f32[500,64], f32[500,64]) tuple(g, h)
}
""",
    # A batch goes through layers; the gradient of the weights sums over it.
    "layers": f"HloModule layers\n{FOLDS}" + """body { s = (s32[], f32[256,512], f32[4,512,512], f32[512,512]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[256,512] get-tuple-element(s), index=1
  w = f32[4,512,512] get-tuple-element(s), index=2
  g = f32[512,512] get-tuple-element(s), index=3
  nought = s32[] constant(0)
  one = s32[] constant(1)
  wi = f32[1,512,512] dynamic-slice(w, i, nought, nought), dynamic_slice_sizes={1,512,512}
  wr = f32[512,512] reshape(wi)
  y = f32[256,512] dot(x, wr), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  t = f32[256,512] tanh(y)
  part = f32[512,512] dot(x, t), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  gs = f32[512,512] add(g, part)
  next = s32[] add(i, one)
  ROOT n = (s32[], f32[256,512], f32[4,512,512], f32[512,512]) tuple(next, t, w, gs)
}
cond { s = (s32[], f32[256,512], f32[4,512,512], f32[512,512]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  four = s32[] constant(4)
  ROOT more = pred[] compare(i, four), direction=LT
}
ENTRY main {
  x = f32[256,512] parameter(0)
  w = f32[4,512,512] parameter(1)
  zero = f32[] constant(0)
  nought = s32[] constant(0)
  small = f32[] constant(0.01)
  scale = f32[4,512,512] broadcast(small), dimensions={}
  ws = f32[4,512,512] multiply(w, scale)
  zeros = f32[512,512] broadcast(zero), dimensions={}
  state = (s32[], f32[256,512], f32[4,512,512], f32[512,512]) tuple(nought, x, ws, zeros)
  end = (s32[], f32[256,512], f32[4,512,512], f32[512,512]) while(state), condition=cond, body=body
  y = f32[256,512] get-tuple-element(end), index=1
  g = f32[512,512] get-tuple-element(end), index=3
  ROOT r = (f32[256,512], f32[512,512]) tuple(y, g)
}
""",
}
MOVES_SUMS = {"stream", "stream-windows", "stream-slices"}  # and every row of class reassociated


def main():
    control = "--control" in sys.argv[2:]
    exact = [] if control else ["--exact"]
    with Lowtide(sys.argv[1]) as lowtide:
        at, run, call = lowtide.at, lowtide.run, lowtide.call
        rows = [line.split() for line in run("passes")[1].splitlines()]
        moves_sums = MOVES_SUMS | {row[1] for row in rows if len(row) > 2 and row[2] == "reassociated"}
        require(len(moves_sums) > 6, f"no rows of class reassociated are listed: {moves_sums}")
        without = ",".join(sorted(moves_sums))

        paths = {name: at(name + ".hlo", text) for name, text in PROGRAMS.items()}
        others, streams, saved = [], 0, 0
        for name, path in paths.items():
            plain = at(name + ".plain")
            code, ran, error = call("run", path, *exact, "--outputs", plain, LOWTIDE_DISABLE=without)
            require(code == 0 and ran["exact"] == bool(exact), f"{name}: run without rules: exit {code} {error}")
            code, fitted, error = call("fit", path, *exact)
            require(code == 0 and fitted["certificate"]["exact"] == bool(exact), f"{name}: fit: exit {code} {error}")
            classes = {row["numerics"] for row in fitted["rewrites"]}
            require(classes <= {"exact", "value-exact"}, f"{name}: rewrites of classes {classes}")
            streams += sum(row["rule"] == "stream" for row in fitted["rewrites"])
            saved += ran["peak_bytes"] - fitted["peak_bytes"]
            # The tightest, one between, and the free plan: the same bits as without rules.
            for limit in (fitted["peak_bytes"], (fitted["peak_bytes"] + ran["peak_bytes"]) // 2, None):
                tight = at(name + ".tight")
                words = [] if limit is None else ["--limit", limit]
                code, tightest, error = call("run", path, *exact, *words, "--outputs", tight)
                require(code == 0 and (limit is None or tightest["peak_bytes"] <= limit), f"{name}: exit {code} {error}")
                require(results(tight) == results(plain), f"{name}: other bits within {limit}")
            # What may move sums does so somewhere: else nothing is shown here.
            code, loose, error = call("fit", path)
            loosely = at(name + ".loose")
            require(call("run", path, "--limit", loose["peak_bytes"], "--outputs", loosely)[0] == 0, f"{name}: loosely")
            if results(loosely) != results(plain) and any(r["numerics"] == "reassociated" for r in loose["rewrites"]):
                others.append(name)
            # A refusal says what sums in another order would bring, planned.
            code, refused, error = call("fit", path, *exact, "--limit", 1)
            lines = [c for c in refused["could_change"] if c["what"] == "allow sums in another order"]
            lower = loose["peak_bytes"] < fitted["peak_bytes"]
            require(code == 4 and len(lines) == (1 if lower else 0), f"{name}: exit {code}, {refused['could_change']}")
            if lines:
                require(lines[0]["peak_bytes"] == loose["peak_bytes"] and
                        lines[0]["bytes"] == fitted["peak_bytes"] - loose["peak_bytes"], f"{name}: {lines}")
                said = run("fit", path, *exact, "--limit", 1)[1]
                require("allow sums in another order" in said, f"{name}: not in the text of the refusal")
            refused = call("fit", path, "--limit", 1)[1]
            require(not any("order" in c["what"] for c in refused["could_change"]), f"{name}: without --exact")
        if control:
            found = [fault for fault in faults if "other bits" in fault]
            print("\n".join(found))
            return 0 if found else 1
        require(streams > 0 and saved > 0, f"{streams} exact streams, which saved {saved} bytes")
        require("attention" in others and "pairs" in others, f"only {others} have other bits without --exact")

        # A plan says that it is exact, and is so when it is replayed; one that isn't is refused.
        scores, plan, loose_plan, out = paths["attention"], at("plan"), at("loose"), at("replayed")
        require(call("fit", scores, *exact, "--plan", plan)[0] == 0, "fit --plan")
        require("\nexact\n" in read(plan), "the plan doesn't say that it is exact")
        for more in ([], exact):
            code, ran, error = call("run", scores, "--plan", plan, *more, "--outputs", out)
            require(code == 0 and ran["exact"], f"a plan that is replayed: exit {code} {error}")
            require(results(out) == results(at("attention.plain")), "a plan that is replayed gives other bits")
        require(call("fit", scores, "--plan", loose_plan)[0] == 0, "fit --plan without --exact")
        code, ran, error = call("run", scores, "--plan", loose_plan, "--exact")
        require(code == 3 and "another order" in error, f"a plan that isn't exact, --exact: exit {code} {error}")
        head = read(loose_plan).splitlines()[:2]
        partial = "stream main s dimension=1 tile=128"
        loose = at("partial", "\n".join([*head, "without stream-slices", partial, ""]))
        require(call("run", scores, "--plan", loose)[0] == 0, "partial sums, where they are allowed")
        refused = at("refused", "\n".join([*head, "exact", "without stream-slices", "stream main p dimension=0 tile=2", ""]))
        code, ran, error = call("run", scores, "--plan", refused)
        require(code == 3 and "otherwise" in error, f"tiles that change products: exit {code} {error}")

        # Elsewhere.
        code, explained, error = call("explain", scores, "--exact")
        require(code == 0 and explained["exact"], f"explain --exact: exit {code} {error}")
        require("every sum in its order" in run("explain", scores, "--exact")[1], "explain's text")
        code, handed, error = call("fit", paths["pairs"], "--for", "xla", "--exact")
        require(code == 0 and handed["certificate"]["exact"], f"fit --for xla --exact: exit {code} {error}")
        require(all(r["numerics"] != "reassociated" for r in handed["rewrites"]), "--for xla --exact moves sums")
        require(run("run", scores, "--exact", "--interpret")[0] == 2, "--exact --interpret")
    return verdict()


if __name__ == "__main__":
    sys.exit(main())
