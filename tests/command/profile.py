#!/usr/bin/env python3
"""Where time goes: a profile names the steps that ran, as often as they ran, with times that add up to the run's, and a trace
has each of their runs in order. --control: each check must notice an answer that was falsified.

  profile.py build/lowtide [--control]
"""
import json
import sys

from command import SMALL, Lowtide, faults, read, require, verdict

TRIPS = 50
LOOP = f"""HloModule layers
body {{ s = (s32[], f32[256,256]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[256,256] get-tuple-element(s), index=1
  one = s32[] constant(1)
  y = f32[256,256] dot(x, x), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}, metadata={{op_name="jit(f)/while/body/square/dot_general" source_file="/home/me/model.py" source_line=12}}
  t = f32[256,256] tanh(y)
  next = s32[] add(i, one)
  ROOT n = (s32[], f32[256,256]) tuple(next, t)
}}
cond {{ s = (s32[], f32[256,256]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  all = s32[] constant({TRIPS})
  ROOT more = pred[] compare(i, all), direction=LT
}}
ENTRY main {{
  x = f32[256,256] parameter(0)
  zero = s32[] constant(0)
  state = (s32[], f32[256,256]) tuple(zero, x)
  end = (s32[], f32[256,256]) while(state), condition=cond, body=body
  ROOT y = f32[256,256] get-tuple-element(end), index=1
}}
"""
RUNS = 3


def check_profile(profile):
    """The figures of LOOP, run RUNS times."""
    steps = profile["steps"]
    dots = [step for step in steps if step["kind"] == "dot"]
    require(len(dots) == 1, f"one product, not {len(dots)}")
    for dot in dots:
        require(dot["runs"] == RUNS * TRIPS, f"the product ran {dot['runs']} times")
        require(dot["operations"] == RUNS * TRIPS * 2 * 256**3, f"its operations: {dot['operations']}")
        require(dot["bytes"] == RUNS * TRIPS * 3 * 4 * 256**2, f"its bytes: {dot['bytes']}")
        require(dot["source"] == "model.py:12" and dot["scope"] == "square", f"it is from {dot['source']}, {dot['scope']}")
    require(profile["runs"] == RUNS and sum(step["runs"] for step in steps if step["kind"] == "while") == RUNS, "the loop's runs")
    inside = sum(step["seconds"] for step in steps)
    require(0 < inside <= profile["seconds"] * (1 + 1e-6), f"steps take {inside} of {profile['seconds']} seconds")
    require(all(0 <= step["waiting"] <= 1 and step["seconds"] >= 0 for step in steps), "waiting is a part, times aren't negative")
    require([step["seconds"] for step in steps] == sorted((step["seconds"] for step in steps), reverse=True), "the longest first")


def check_trace(events, steps):
    """Spans of one run of LOOP: as many as steps ran, inside of those that run them."""
    spans = [e for e in events if e["ph"] == "X"]
    require(len(spans) == sum(step["runs"] for step in steps) // RUNS, f"{len(spans)} spans")
    loops = [e for e in spans if e["cat"] == "while"]
    require(len(loops) == 1, f"{len(loops)} loops")
    for loop in loops:
        end = loop["ts"] + loop["dur"]
        require(all(loop["ts"] <= e["ts"] and e["ts"] + e["dur"] <= end + 1 for e in spans if e["cat"] == "dot"), "products are in the loop")


def falsified(profile, events):
    """Name -> (profile, events) with one thing wrong."""
    def but(change):
        one, spans = json.loads(json.dumps([profile, events]))
        change(one, spans)
        return one, spans
    return {"a run left out": but(lambda p, e: p["steps"][0].update(runs=1)),
            "time that nobody took": but(lambda p, e: p["steps"][0].update(seconds=2 * p["seconds"])),
            "another line": but(lambda p, e: [s.update(source="other.py:1") for s in p["steps"]]),
            "a span lost": but(lambda p, e: e.pop()),
            "spans out of the loop": but(lambda p, e: [s.update(ts=0) for s in e if s.get("cat") == "dot"])}


def main():
    with Lowtide(sys.argv[1]) as lowtide:
        loop, trace = lowtide.at("loop.hlo", LOOP), lowtide.at("trace.json")
        code, ran, error = lowtide.call("run", loop, "--repeat", RUNS, "--profile", "--trace", trace)
        require(code == 0, f"exit {code}: {error}")
        events = json.loads(read(trace))["traceEvents"]
        if "--control" in sys.argv:
            unnoticed = []
            for name, (profile, spans) in falsified(ran["profile"], events).items():
                faults.clear()
                check_profile(profile)
                check_trace(spans, profile["steps"])
                if not faults:
                    unnoticed.append(name)
            print("unnoticed: " + (", ".join(unnoticed) or "nothing"))
            return 1 if unnoticed else 0
        check_profile(ran["profile"])
        check_trace(events, ran["profile"]["steps"])
        code, said, error = lowtide.run("run", loop, "--profile")
        lines = said.splitlines()
        require(code == 0 and any("dot" in line and "%" in line for line in lines), f"the table: exit {code}, {said}{error}")
        require(all(len(line) <= 100 for line in lines), "lines of more than 100 columns")
        require("profile" not in lowtide.call("run", loop)[1], "a profile that nobody asked for")
        code, _, error = lowtide.run("run", lowtide.at("small.hlo", SMALL), "--profile", "--interpret")
        require(code == 2, f"--profile with --interpret: exit {code}")
    return verdict()


if __name__ == "__main__":
    sys.exit(main())
