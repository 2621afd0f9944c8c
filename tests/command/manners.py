#!/usr/bin/env python3
"""The command's manners: what can't be run is said before, no input is overwritten, work in progress is shown and what it
found kept, mistakes are answered with what may have been meant, modules are chosen by name, and every answer is JSON where
JSON was asked for. --control: each check must notice a command without that manner (rude.py).

  manners.py build/lowtide [NAME...] [--control]
"""
import os
import pty
import re
import select
import signal
import sys
import time

from command import SMALL, attention, read, require, run_checks

# What one of other platforms calls, and what several devices do together; the last stands in a branch that isn't taken.
FOREIGN = """HloModule foreign
ENTRY main {
  x = f32[16] parameter(0)
  y = f32[16] custom-call(x), custom_call_target="te_norm"
  ROOT s = f32[16] sine(y)
}
"""
JOINT = """HloModule joint, num_partitions=4
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b) }
ENTRY main {
  x = f32[16] parameter(0)
  ROOT y = f32[16] all-reduce(x), channel_id=1, replica_groups={{0,1,2,3}}, use_global_device_ids=true, to_apply=add
}
"""
FED = """HloModule fed
ENTRY main {
  t = token[] after-all()
  i = (f32[16], token[]) infeed(t)
  ROOT x = f32[16] get-tuple-element(i), index=0
}
"""
UNBOUNDED = """func.func @main(%arg0: tensor<?xf32>) -> tensor<?xf32> {
  %0 = stablehlo.sine %arg0 : tensor<?xf32>
  return %0 : tensor<?xf32>
}
"""
QUANTIZED = """func.func @main(%arg0: tensor<4x!quant.uniform<i8:f32, 0.5>>) -> tensor<4x!quant.uniform<i8:f32, 0.5>> {
  return %arg0 : tensor<4x!quant.uniform<i8:f32, 0.5>>
}
"""
RESIZED = """HloModule resized
ENTRY main {
  x = f32[16] parameter(0)
  n = s32[] constant(3)
  y = f32[<=16] set-dimension-size(x, n), dimensions={0}
  ROOT s = f32[<=16] sine(y)
}
"""
BRANCH = """HloModule branch
a { x = f32[16] parameter(0)
  ROOT y = f32[16] custom-call(x), custom_call_target="te_norm" }
b { x = f32[16] parameter(0)
  ROOT y = f32[16] sine(x) }
ENTRY main {
  p = pred[] constant(false)
  x = f32[16] parameter(0)
  ROOT s = f32[16] conditional(p, x, x), true_computation=a, false_computation=b
}
"""


def many(blocks):
    """Attentions of different lengths beside each other: hundreds of plans, in which one after another is streamed."""
    head = attention(1, 32).split("ENTRY main {\n")[0]
    made, results, shapes = [], [], []
    for k in range(blocks):
        rows = 1024 + 8 * k
        lines = [line for line in attention(rows, 32).split("ENTRY main {\n")[1].split("\n") if " = " in line]
        names = [line.strip().removeprefix("ROOT ").split(" = ")[0] for line in lines]
        for line in lines:
            line = re.sub(r"\b(" + "|".join(names) + r")\b(?!=)", rf"\g<1>_{k}", line.replace("ROOT ", ""))
            made.append(re.sub(r"parameter\((\d)\)", lambda number: f"parameter({3 * k + int(number[1])})", line))
        results.append(f"y_{k}")
        shapes.append(f"f32[{rows},32]")
    made.append(f"  ROOT all = ({', '.join(shapes)}) tuple({', '.join(results)})")
    return head + "ENTRY main {\n" + "\n".join(made) + "\n}\n"


def promises(lowtide):
    """What run refuses, fit refuses with the same sentence, and explain warns of."""
    at, call, run = lowtide.at, lowtide.call, lowtide.run
    for name, text in (("foreign.hlo", FOREIGN), ("joint.hlo", JOINT), ("fed.hlo", FED), ("unbounded.mlir", UNBOUNDED),
                       ("resized.hlo", RESIZED)):
        program = at(name, text)
        code, ran, sentence = call("run", program)
        require(code == 6, f"run {name}: exit {code} {sentence}")
        code, fitted, error = call("fit", program)
        require(code == 6 and error == sentence, f"fit {name}: exit {code}, {error!r} instead of {sentence!r}")
        require(fitted.get("runnable") is False and fitted["frontier"], f"fit {name} must say what it found all the same")
        require(fitted.get("refusal", "")[:40] in sentence, f"fit {name}: another refusal: {fitted.get('refusal')}")
        code, explained, error = call("explain", program)
        require(code == 0 and explained.get("runnable") is False, f"explain {name}: exit {code}, runnable {explained.get('runnable')}")
        require(any("can't be run here" in w for w in explained["warnings"]), f"explain {name}: no warning")
        page = at("page.html")
        code, said, error = run("explain", program, "--html", page)
        require("warning: this plan can't be run here" in said, f"explain {name}: no warning in its text")
        require("be run here" in read(page), f"explain {name}: no warning on its page")
    code, said, error = call("fit", at("quantized.mlir", QUANTIZED))
    require(code == 6, f"fit quantized.mlir: exit {code} {error}")
    # The plan is written all the same, for whoever has the operation; --for xla hands the program back.
    plan = at("foreign.plan")
    code, said, error = call("fit", at("foreign.hlo"), "--plan", plan)
    require(code == 6 and read(plan).startswith("lowtide-plan"), f"fit --plan of what can't be run: exit {code}")
    code, said, error = call("fit", at("foreign.hlo"), "--for", "xla")
    require(code == 0, f"fit --for xla of what can't be run here: exit {code} {error}")
    code, fitted, error = call("fit", at("branch.hlo", BRANCH))
    require(code == 0 and fitted["runnable"], f"what stands in a branch that isn't taken is refused: {error}")


def overwrites(lowtide):
    """An output that is an input, however it is spelt, or another output."""
    at, call = lowtide.at, lowtide.call
    program, csv = at("big.hlo", SMALL), at("buffers.csv", "id,lower,upper,size\na,0,2,4\n")
    os.symlink(program, at("link.hlo"))
    os.link(program, at("hard.hlo"))
    folder = at("dump")
    os.mkdir(folder)
    dumped = at("dump/module_0001.jit_f.before_optimizations.txt", SMALL)
    spellings = (program, at("link.hlo"), at("hard.hlo"), os.path.join(folder, "..", "big.hlo"))
    cases = [(words, program, SMALL) for spelling in spellings for words in (
        ("fit", program, "-o", spelling), ("fit", program, "--plan", spelling), ("opt", program, "-o", spelling),
        ("explain", program, "--html", spelling), ("explain", program, "--trace", spelling),
        ("fit", program, "--for", "xla", "-o", spelling), ("run", program, "--outputs", spelling),
        ("reduce", program, "-o", spelling, "--", "true"))]
    cases += [(("plan", csv, "-o", csv), csv, read(csv)), (("fit", folder, "-o", dumped), dumped, SMALL),
              (("opt", folder + "#small", "-o", dumped), dumped, SMALL)]
    for words, path, before in cases:
        code, _, error = lowtide.run(*words)
        require(code == 2, f"{words}: exit {code} {error}")
        require(read(path) == before, f"{words}: the input is overwritten")
        at(os.path.relpath(path, at("")), before)
    inputs = at("inputs")
    require(call("run", program, "--outputs", inputs)[0] == 0, "results can't be written")
    before = open(inputs, "rb").read()
    for words in (("--expect", inputs), ("--inputs", inputs)):
        code, _, error = call("run", program, *words, "--outputs", inputs)
        require(code == 2 and open(inputs, "rb").read() == before, f"run {words} --outputs: exit {code} {error}")
    for words in (("fit", program, "-o", at("one"), "--plan", at("one")),
                  ("explain", program, "--html", at("one"), "--trace", os.path.join(folder, "..", "one"))):
        code, _, error = lowtide.run(*words)
        require(code == 2 and not os.path.exists(at("one")), f"{words}: two outputs in one file: exit {code}")
        if os.path.exists(at("one")):
            os.remove(at("one"))
    require(lowtide.run("opt", program, "-o", "/dev/null")[0] == 0, "a device is no input")
    for _ in range(2):
        code, _, error = lowtide.run("explain", folder, "--html", at("dump/page.html"))
        require(code == 0, f"a page beside the modules of a dump is none of them: exit {code} {error}")


def on_terminal(lowtide, *words, until=None, signals=(), **knobs):
    """(exit code, stdout, what came to a terminal in the place of stderr). Once it has `until` in it, signals are sent."""
    master, terminal = pty.openpty()
    running = lowtide.start(*words, stderr=terminal, TERM="xterm", **knobs)
    os.close(terminal)
    said, left = b"", list(signals)
    while True:
        ready = select.select([master], [], [], 0.1)[0]
        if ready:
            try:
                more = os.read(master, 65536)
            except OSError:
                break
            if not more:
                break
            said += more
        if left and until and until in said:
            running.send_signal(left.pop(0))
            until = until if not left else b""
        if not ready and running.poll() is not None:
            break
    out = running.communicate()[0]
    os.close(master)
    return running.returncode, out, said.decode(errors="replace")


def silent(lowtide):
    """Share done and time left on a terminal, of whatever takes long; nothing elsewhere, and nothing stays."""
    at = lowtide.at
    program, small = at("many.hlo", many(10)), at("small.hlo", SMALL.replace("1000", "8192"))
    large, huge = at("large.hlo", many(350)), at("huge.hlo", many(6000))
    searching = "searching for plans"
    for words, stage in ((("fit", program), searching), (("explain", large), searching),
                         (("check", large, "--max-peak", "1000GiB"), searching), (("opt", huge, "-o", "/dev/null"), "reading"),
                         (("run", small, "--repeat", 100000), "running"),
                         (("reduce", program, "--tries", 12, "--", "sh", "-c", "sleep 0.5; true"), "shrinking")):
        code, _, said = on_terminal(lowtide, *words, LOWTIDE_PROGRESS="0")
        require(code == 0, f"{words}: exit {code} {said[-300:]}")
        require(stage + "\x1b[0m: " in said and " %" in said and " left" in said, f"{words}: no progress on a terminal: {said[:300]!r}")
        require(said.endswith("\r\x1b[K"), f"{words}: the line stays: {said[-80:]!r}")
    code, _, said = on_terminal(lowtide, "run", small, "--repeat", 100000, NO_COLOR="1", LOWTIDE_PROGRESS="0")
    require("running: " in said and "\x1b" not in said, f"NO_COLOR: {said[:300]!r}")
    require(said.rstrip(" \r") == said[:len(said.rstrip(" \r"))] and said.endswith(" \r"), "NO_COLOR: the line stays")
    code, _, error = lowtide.run("run", small, "--repeat", 100000, LOWTIDE_PROGRESS="0")
    require(code == 0 and error == "", f"progress where there is no terminal: {error[:200]!r}")


def dies(lowtide):
    """Ctrl-C keeps the best plan found; a second one ends at once."""
    at = lowtide.at
    program, plan = at("many.hlo", many(24)), at("kept.plan")
    for number in (signal.SIGINT, signal.SIGTERM):
        if os.path.exists(plan):
            os.remove(plan)
        start = time.time()
        code, out, said = on_terminal(lowtide, "fit", program, "--json", "--plan", plan, until=b"lowest peak",
                                      signals=[number], LOWTIDE_PROGRESS="0")
        require(code == 130, f"signal {number}: exit {code} after {time.time() - start:.0f} s")
        require('"interrupted": true' in out and '"exit_code": 130' in out, f"signal {number}: no report of what was found: {out[:200]}")
        require(os.path.exists(plan), f"signal {number}: no plan was written: {said[-300:]}")
        if not os.path.exists(plan):
            continue
        code, ran, error = lowtide.call("run", program, "--plan", plan)
        require(code == 0 and f'"peak_bytes": {ran["peak_bytes"]}' in out, f"the plan that was kept doesn't replay: {code} {error}")
    code, out, said = on_terminal(lowtide, "fit", at("large.hlo", many(500)), "-o", at("kept.hlo"), "--for", "xla",
                                  until=b"lowest peak", signals=[signal.SIGINT], LOWTIDE_PROGRESS="0")
    require(code == 130 and os.path.exists(at("kept.hlo")), f"fit --for xla interrupted: exit {code} {said[-200:]}")
    twice = [signal.SIGINT, signal.SIGINT]
    code, out, said = on_terminal(lowtide, "fit", program, "--plan", at("twice.plan"), until=b"lowest peak",
                                  signals=twice, LOWTIDE_PROGRESS="0")
    require(code == 130, f"a second Ctrl-C: exit {code}")


def curt(lowtide):
    """What may have been meant."""
    program = lowtide.at("small.hlo", SMALL)
    for words, meant in ((("fti", program), "fit"), (("explian", program), "explain"), (("--versoin",), "--version"),
                         (("fit", program, "--limt", "1GiB"), "--limit"), (("check", program, "--max-peka=1G"), "--max-peak"),
                         (("run", program, "--output", "x"), "--outputs"), (("explain", program, "--jsn"), "--json"),
                         (("fit", program, "--for", "xal"), "xla"),
                         (("opt", program, "--passes", "remove-dead-cod"), "remove-dead-code")):
        code, _, error = lowtide.run(*words)
        require(code == 2 and "did you mean" in error and meant in error.split("did you mean")[-1], f"{words}: exit {code} {error}")
    code, _, error = lowtide.run("fit", program, "--zzzzzz")
    require(code == 2 and "did you mean" not in error, f"nothing is near --zzzzzz: {error}")


def dump_of(lowtide, folder):
    os.makedirs(lowtide.at(folder), exist_ok=True)
    big, small = attention(256, 32), SMALL.replace("small", "jit_sim")
    for number, name, text in ((1, "jit_step", big.replace("attention", "jit_step")), (2, "jit_sim", small),
                               (3, "jit_twin", SMALL.replace("small", "jit_twin")), (4, "jit_twin", SMALL.replace("small", "jit_twin"))):
        start = f"{folder}/module_{number:04}.{name}"
        lowtide.at(start + ".cpu_after_optimizations.txt", text.replace(f"HloModule {name}", f"HloModule {name}, is_scheduled=true"))
        if name != "jit_sim":
            lowtide.at(start + ".before_optimizations.txt", text)
    return lowtide.at(folder)


def largest(lowtide):
    """dump#module."""
    call, folder = lowtide.call, dump_of(lowtide, "dumps")
    require(call("explain", folder)[1].get("module") == "jit_step", "the largest isn't taken where none is named")
    for name in ("jit_sim", "sim", "module_0002.jit_sim"):
        code, report, error = call("explain", f"{folder}#{name}")
        require(code == 0 and report.get("module") == "jit_sim", f"#{name}: exit {code} {report.get('module')} {error}")
    code, report, error = call("run", f"{folder}#jit_sim")
    require(code == 0 and report["module"] == "jit_sim", f"run #jit_sim: {error}")
    code, _, error = call("explain", f"{folder}#jit_twin")
    require(code == 3 and "#module_0003.jit_twin" in error and "#module_0004.jit_twin" in error, f"two of one name: exit {code} {error}")
    require(call("explain", f"{folder}#module_0004")[0] == 0, "by number")
    code, _, error = call("explain", f"{folder}#jit_stpe")
    require(code == 3 and "did you mean jit_step" in error, f"a mistyped module: exit {code} {error}")


def latest(lowtide):
    """fit DIR --for xla takes what XLA takes."""
    call, folder = lowtide.call, dump_of(lowtide, "stages")
    code, report, error = call("fit", folder, "--for", "xla")
    require(code == 0 and report["made_for"] == "xla" and report["module"] == "jit_step", f"fit DIR --for xla: exit {code} {error}")
    code, _, error = call("fit", f"{folder}#jit_sim", "--for", "xla")
    require(code == 3 and "before_optimizations" in error and "compiled already" in error, f"only the optimised one is there: {code} {error}")
    code, report, error = call("explain", folder)
    require(code == 0 and report["scheduled"], "explain DIR takes the latest stage")


def matchmaker(lowtide):
    """Values of one scope that aren't alike appear and go."""
    def program(name, shape, primitive):
        meta = f'metadata={{op_name="jit(f)/layer/{primitive}"}}'
        return f"""HloModule {name}
ENTRY main {{
  x = {shape} parameter(0), metadata={{op_name="x"}}
  a = {shape} {"sine" if primitive == "sin" else "exponential"}(x), {meta}
  ROOT all = ({shape}, {shape}) tuple(a, x)
}}
"""
    first = lowtide.at("first.hlo", program("m", "f32[64,64]", "sin"))
    for name, shape, primitive, pairs in (("primitive", "f32[64,128]", "exp", False), ("rank", "f32[64,4,64]", "sin", False),
                                          ("kind", "c64[64,64]", "sin", False), ("extent", "f32[64,128]", "sin", True),
                                          ("precision", "bf16[64,64]", "sin", True)):
        code, report, error = lowtide.call("diff", first, lowtide.at(name + ".hlo", program("m", shape, primitive)))
        rows = [d for d in report.get("differences", []) if "layer" in d["op_name"]]
        changes = sorted(d["change"] for d in rows)
        wanted = [["grew"], ["shrank"]] if pairs else [["appeared", "gone"]]
        require(code == 0 and changes in wanted, f"diff, other {name}: {changes} {error}")


CHECKS = [promises, overwrites, silent, dies, curt, largest, latest, matchmaker]


if __name__ == "__main__":
    sys.exit(run_checks(CHECKS))
