#!/usr/bin/env python3
"""One program as HLO text and as StableHLO means the same.

peaks     corpus/cases/*.mlir, as JAX printed them, explain with the peak of their .hlo (1 %)
reads     every small case and conformance program, made StableHLO by jaxlib, pretty and generic: the published results
prints    the same programs printed by `opt -o X.mlir`: jaxlib reads them and makes HLO that gives the published results;
          printing what was read is a fixpoint
fits      what `fit -o X.mlir` writes of some of them gives the same results
controls  a changed operation and a changed expectation are noticed

usage: stablehlo_twins.py LOWTIDE [SHARED] [--every N]      every N-th conformance program (default 1); unless that is each, of
                                                            the peaks every second
"""
import argparse
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

import checks

try:
    import jaxlib._hlo as hlo
    import jaxlib._jax as _jax
    from jax._src.interpreters import mlir
    from jax._src.lib.mlir import ir
except ImportError:
    print("SKIP stablehlo_twins: no jaxlib")
    sys.exit(0)

options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
options.add_argument("lowtide")
options.add_argument("shared", nargs="?", default=checks.SHARED)
options.add_argument("--every", type=int, default=1)
options = options.parse_args()
LOWTIDE, SHARED, EVERY = options.lowtide, options.shared, options.every
NEAR, FAR, MOST_BEYOND_NEAR = 0.01, 0.05, 2  # the search for orders is no exact science: few may lie between the two
TIE = 0.02  # of the price of plans
faults = []


def call(*arguments):
    done = subprocess.run([LOWTIDE, *arguments], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr.strip()[:300]


def expect(what, name, arguments, code=0):
    got, out, err = call(*arguments)
    if got != code:
        faults.append(f"{what} {name}: exit {got}, not {code}: {err}")
    return out


def write(path, text):
    with open(path, "w") as f:
        f.write(text)
    return path


def read(path):
    with open(path) as f:
        return f.read()


def is_tie(*forms):
    """Are the free plans equally good, by the measure that chooses them: (peak + temp) x time^2? Then a little modelled time
    decides between a plan of little memory and a fast one."""
    prices = []
    for form in forms:
        plan = json.loads(expect("peaks", form, ["fit", form, "--json"]) or "{}")
        temp = plan["free_peak_bytes"] - plan["argument_bytes"] - plan["output_bytes"] + plan["alias_bytes"]
        prices.append((plan["free_peak_bytes"] + temp) * plan["free_modelled_seconds"] ** 2)
    return abs(prices[0] / prices[1] - 1) <= TIE


def peaks(directory):
    near, beyond = 0, []
    files = sorted(glob.glob(f"{SHARED}/corpus/cases/*.mlir"))[::1 if EVERY == 1 else 2]
    for path in files:
        partitions = re.search(r"num_partitions = (\d+)", read(path))[1]
        text = read(path[:-5] + ".hlo")
        if partitions != "1":  # JAX's HLO text doesn't say it
            text = re.sub(r"^(HloModule [^\n]*)", rf"\1, num_partitions={partitions}", text, count=1)
        twin = write(f"{directory}/twin.hlo", text)
        peak = [json.loads(expect("peaks", path, ["explain", p, "--json"]) or "{}").get("peak_bytes", 0) for p in (path, twin)]
        ratio = peak[0] / peak[1] if peak[1] else 0
        near += abs(ratio - 1) <= NEAR
        if abs(ratio - 1) > NEAR:
            beyond.append(f"{os.path.basename(path)} {ratio:.3f}")
        if not 0 < ratio <= 1 + FAR and not is_tie(path, twin):
            faults.append(f"peaks {path}: {peak[0]} against {peak[1]}")
    if len(beyond) > MOST_BEYOND_NEAR:
        faults.append(f"peaks: {beyond}")
    print(f"peaks: {near} of {len(files)} within {NEAR:.0%}; others: {beyond}")


def programs():
    """(name, text, what `run` needs to judge it)"""
    for path in sorted(glob.glob(f"{SHARED}/corpus/cases/*.small.hlo") + glob.glob(f"{SHARED}/corpus/kernels/*.small.hlo")):
        published = path[:-4] + ".safetensors"
        if "channel_id" not in read(path) and "xla.sdy.GlobalToLocalShape" not in read(path):
            yield os.path.basename(path), path, ["--inputs", published, "--expect", published]
    for path in sorted(glob.glob(f"{SHARED}/conformance/*.hlo"))[::EVERY]:
        yield os.path.basename(path), path, ["--interpret"]


def both_forms(text):
    proto = hlo.hlo_module_from_text(text).as_serialized_hlo_module_proto()
    with mlir.make_ir_context():
        module = ir.Module.parse(_jax.mlir.hlo_to_stablehlo(proto))
        return str(module), module.operation.get_asm(print_generic_op_form=True)


def back_to_hlo(text):
    with mlir.make_ir_context():
        computation = _jax.mlir.mlir_module_to_xla_computation(mlir.module_to_bytecode(ir.Module.parse(text)))
    return computation.as_hlo_text(True)


def main():
    if not os.path.isdir(f"{SHARED}/corpus"):
        print("SKIP stablehlo_twins: no corpus")
        return 0
    with tempfile.TemporaryDirectory() as directory:
        peaks(directory)
        total, controlled = 0, False
        for name, path, judge in programs():
            total += 1
            # One device alone doesn't run a program of many: its other forms must be refused too.
            many = "sdy.mesh<" in read(path)
            code = call("run", path, *judge)[0] if many else 0
            if code not in (0, 6):
                faults.append(f"reads {name}: exit {code}")
            for form, text in zip(("pretty", "generic"), both_forms(read(path))):
                expect("reads " + form, name, ["run", write(f"{directory}/{form}.mlir", text), *judge], code)
            printed = f"{directory}/printed.mlir"
            again, twice = f"{directory}/again.mlir", f"{directory}/twice.mlir"
            expect("prints", name, ["opt", path, "--passes", "", "-o", printed])
            expect("prints", name, ["opt", printed, "--passes", "", "-o", again])
            expect("prints", name, ["opt", again, "--passes", "", "-o", twice])
            if read(again) != read(twice):
                faults.append(f"prints {name}: no fixpoint")
            try:
                expect("prints", name, ["run", write(f"{directory}/back.hlo", back_to_hlo(read(printed))), *judge], code)
            except Exception as error:
                faults.append(f"prints {name}: jaxlib says {str(error)[:300]}")
            if "--inputs" in judge and total % 8 == 0:
                expect("fits", name, ["fit", path, "-o", printed], code)
                if code == 0:
                    expect("fits", name, ["run", printed, *judge])
            if not controlled and "--inputs" in judge and "while" not in read(again):  # whose end might never come
                changed = re.sub(r"stablehlo\.(add|multiply) ", "stablehlo.subtract ", read(again))
                controlled = call("run", write(f"{directory}/control.mlir", changed), *judge)[0] == 5
        if not controlled:
            faults.append("control: changed programs give the published results")
        print(f"reads, prints, fits: {total} programs")
        wrong = """func.func @main() {
          %0 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
          check.expect_eq_const %0, dense<[1.0, 2.5]> : tensor<2xf32>
          return
        }"""
        expect("control", "expectation", ["run", write(f"{directory}/wrong.mlir", wrong)], code=5)
        expect("control", "expectation", ["run", write(f"{directory}/right.mlir", wrong.replace("2.5", "2.0"))])
    for fault in faults[:20]:
        print(fault)
    print(f"{len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
