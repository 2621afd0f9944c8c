#!/usr/bin/env python3
"""One program for eight devices, as StableHLO and as HLO: every command counts one of them, and says so.

  sharded.py build/lowtide [--control]      --control: of a program with another sharding that must be noticed
"""
import json
import sys

from command import Lowtide, faults, require, verdict

ARGUMENTS, RESULTS = 1024 // 8 * 64 * 4 + 64 * 64 * 4, 1024 // 8 * 64 * 4
MLIR = """
#loc = loc(unknown)
module @step attributes {mhlo.num_partitions = 8 : i32} {
  sdy.mesh @mesh = <["x"=8]> {stablehlo.mesh = {axes = [{name = "x", size = 8 : i64}]}} loc(#loc)
  func.func public @main(%x: tensor<1024x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{ROWS}, {}]>}, %w: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) -> (tensor<1024x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
    %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<1024x64xf32>, tensor<64x64xf32>) -> tensor<1024x64xf32> loc(#loc)
    %1 = stablehlo.tanh %0 : tensor<1024x64xf32> loc("tanh")
    return %1 : tensor<1024x64xf32> loc(#loc)
  } loc(#loc)
} loc(#loc)
"""
HLO = """HloModule step, frontend_attributes={xla.sdy.meshes={mesh = #sdy.mesh<["x"=8]>}}
ENTRY main {
  x = f32[1024,64] parameter(0), sharding={devices=[TILES]<=[8]}
  w = f32[64,64] parameter(1), sharding={replicated}
  d = f32[1024,64] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  t = f32[1024,64] tanh(d)
  m = f32[1024,64] custom-call(t), custom_call_target="xla.sdy.FuncResultSharding", custom_call_has_side_effect=true, frontend_attributes={xla.sdy.sharding="#sdy.sharding_per_value<[<@mesh, [{\\"x\\"}, {}]>]>"}
  b = (f32[1024,64]) tuple(m)
  ROOT r = f32[1024,64] get-tuple-element(b), index=0, sharding={devices=[8,1]<=[8]}
}
"""


def said(lowtide, *words, code=0):
    got, out, error = lowtide.run(*words, "--json")
    require(got == code, f"{words[0]}: exit {got}, not {code}: {error}")
    return json.loads(out) if out else {}


def check(lowtide, path):
    report = said(lowtide, "explain", path)
    sizes = report.get("argument_bytes"), report.get("output_bytes")
    require(sizes == (ARGUMENTS, RESULTS), f"{path}: arguments and results {sizes}, not {(ARGUMENTS, RESULTS)}")
    require(report.get("before_partitioning") is True and report.get("devices") == 8, f"{path}: not labelled")
    require(report["warnings"][0].startswith("before partitioning over 8 devices"), f"{path}: {report['warnings']}")
    require(report["floor_order_bytes"] == report["floor_any_bytes"] == ARGUMENTS + RESULTS, f"{path}: floors")
    first = lowtide.run("explain", path)[1].splitlines()
    require("before partitioning" in first[0] and first[1].startswith("warning: before partitioning"), f"{path}: {first[:2]}")
    peak = report["input_peak_bytes"]
    require(peak <= ARGUMENTS + 2 * RESULTS + 4096, f"{path}: peak as it stands {peak}")
    said(lowtide, "check", path, "--max-peak", str(peak))
    said(lowtide, "check", path, "--max-peak", str(peak - 1), code=4)
    fitted = said(lowtide, "fit", path, "--limit", str(report["peak_bytes"]), code=6)
    require(fitted["argument_bytes"] == ARGUMENTS and fitted["certificate"]["met"], f"{path}: fit {fitted}")
    require(any(warning.startswith("before partitioning") for warning in fitted["warnings"]), f"{path}: fit doesn't say so")
    said(lowtide, "fit", path, "--limit", str(ARGUMENTS + RESULTS - 1), code=4)
    for kind in ("mlir", "hlo"):
        out = lowtide.at("out." + kind)
        require(lowtide.run("opt", path, "--passes", "", "-o", out)[0] == 0, f"{path}: opt -o {kind}")
        again = said(lowtide, "explain", out)
        require((again["argument_bytes"], again["output_bytes"]) == sizes, f"{path}: printed as .{kind} it has other sizes")
        lowtide.run("fit", path, "-o", out)
        again = said(lowtide, "explain", out)
        require((again["argument_bytes"], again["output_bytes"]) == sizes, f"{path}: fitted as .{kind} it has other sizes")


def control(lowtide):
    """Each of the two, with its argument whole, or in fewer parts along the other dimension."""
    missed = []
    for name, text in (("step.mlir", MLIR.replace("{ROWS}", "{}")), ("step.hlo", HLO.replace("TILES", "1,4,2").replace("<=[8]}", "<=[8] last_tile_dim_replicate}", 1))):
        check(lowtide, lowtide.at(name, text))
        if not faults:
            missed.append(name)
        faults.clear()
    print(f"not noticed: {missed}")
    return 1 if missed else 0


def main():
    with Lowtide(sys.argv[1]) as lowtide:
        if "--control" in sys.argv:
            return control(lowtide)
        mlir = lowtide.at("step.mlir", MLIR.replace("{ROWS}", '{"x"}'))
        check(lowtide, mlir)
        check(lowtide, lowtide.at("step.hlo", HLO.replace("TILES", "8,1")))
        code, _, error = lowtide.run("run", mlir)
        require(code == 6 and "8 devices" in error, f"run: exit {code}: {error}")
        require(lowtide.run("run", mlir, "--interpret")[0] == 6, "run --interpret doesn't refuse")
        alone = lowtide.at("alone.mlir", MLIR.replace("{ROWS}", "{}").replace('[{"x"}, {}]', "[{}, {}]"))
        require(lowtide.run("run", alone)[0] == 0, "a program that nothing divides isn't run")
    return verdict()


if __name__ == "__main__":
    sys.exit(main())
