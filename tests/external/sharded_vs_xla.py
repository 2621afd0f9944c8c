#!/usr/bin/env python3
"""Programs for eight devices, as JAX lowers them: what is said of one device is what XLA says after it partitioned them.

sizes     explain of each form: bytes of arguments and results are XLA's; but for at most two programs, whose results XLA may
          divide as it likes, and a warning says so. A form that says less than the others fails
floors    none above arguments + results - shared + temporaries in XLA
gates     check passes at the peak that explain has and fails below; fit has the same sizes, meets that limit and none below the floor
outputs   what opt and fit write, HLO and StableHLO, jaxlib reads and XLA compiles (in a process of its own), as far as it does the
          same form from JAX; and so do we: with the same sizes
refusals  run doesn't run what is one for several devices
controls  another sharding has other bytes; a program that jaxlib crashes on is noticed

usage: sharded_vs_xla.py --lowtide COMMAND [--keep FOLDER]
"""
import json
import os
import re
import subprocess
import sys
import tempfile

import checks

READER = """
import os, sys
# Nothing runs, and sizes are known before code is optimised.
os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=8 --xla_backend_optimization_level=0"
import jax, numpy
import jaxlib._hlo as hlo
import jaxlib._jax as _jax
from jax._src import compiler
from jax._src.interpreters import mlir
from jax._src.lib import xla_client
from jax._src.lib.mlir import ir
devices = tuple(jax.devices()[:8])
for path in sys.argv[1:]:
    print("reads", path, flush=True)
    with open(path) as f:
        text = f.read()
    try:
        with mlir.make_ir_context():
            if path.endswith(".hlo"):
                computation = hlo.XlaComputation(hlo.hlo_module_from_text(text).as_serialized_hlo_module_proto())
                module = ir.Module.parse(_jax.mlir.xla_computation_to_mlir_module(computation))
            else:
                module = ir.Module.parse(text)
            print("parsed", path, flush=True)
            options = compiler.get_compile_options(1, 8, device_assignment=numpy.arange(8).reshape(1, 8))
            executable = compiler.backend_compile_and_load(devices[0].client, module, xla_client.DeviceList(devices), options, [])
            memory = executable.get_compiled_memory_stats()
        print("took", path, memory.argument_size_in_bytes, flush=True)
    except Exception as error:
        print("refused", path, " ".join(str(error).split())[:200], flush=True)
"""
CHOSEN = re.compile(r"\d+ (results?|arguments?) without a sharding")
MOST_CHOSEN = 2
REFUSED = 6  # of what is met but can't be run here
faults = []


def call(lowtide, *arguments, seconds=120):
    try:
        done = subprocess.run([lowtide, *arguments], capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        return "timeout", "", ""
    return done.returncode, done.stdout, done.stderr.strip()[:300]


def explained(lowtide, path):
    code, out, err = call(lowtide, "explain", path, "--json")
    if code != 0:
        faults.append(f"explain {os.path.basename(path)}: exit {code}: {err}")
        return None
    return json.loads(out)


def compiled(paths):
    """By path what XLA makes of it for eight devices: bytes of arguments on one, or ("parsed" or "", why it doesn't). In a process
    of its own: a crash is that of the path it was at."""
    known, left = {}, list(paths)
    while left:
        done = subprocess.run([sys.executable, "-c", READER, *left], capture_output=True, text=True)
        parsed, at = set(), None
        for word, path, *rest in (line.split(" ", 2) for line in done.stdout.splitlines() if line.startswith(("reads ", "parsed ", "took ", "refused "))):
            at = path
            if word == "parsed":
                parsed.add(path)
            elif word == "took":
                known[path] = int(rest[0])
            elif word == "refused":
                known[path] = ("parsed" if path in parsed else "", rest[0] if rest else "")
        if done.returncode == 0:
            break
        at = at or left[0]
        known[at] = ("crashed", f"exit {done.returncode}: {done.stderr[-200:]}")
        left = left[left.index(at) + 1:]
    return known


def check_outputs(made, folder, facts):
    """made: by path the program. XLA takes what was written, with the same arguments; but a form of a program that it doesn't
    compile as JAX wrote it is only read."""
    forms = {name: {kind: f"{folder}/{name}.{kind}" for kind in ("pretty.mlir", "hlo")} for name in facts}
    known = compiled([*made, *(path for both in forms.values() for path in both.values())])
    for path, name in made.items():
        got = known[path]
        if isinstance(got, int):
            if got != facts[name]["argument_bytes"]:
                faults.append(f"outputs {os.path.basename(path)}: XLA has {got} bytes of arguments, not {facts[name]['argument_bytes']}")
            continue
        original = known[forms[name]["hlo" if path.endswith(".hlo") else "pretty.mlir"]]
        if got[0] != "parsed" or isinstance(original, int):
            faults.append(f"outputs {os.path.basename(path)}: jaxlib {got}")


def check_sizes(name, form, said, fact, chosen):
    wanted = (fact["argument_bytes"], fact["output_bytes"])
    rows = sum(row["bytes"] for row in said["arguments"])
    got = (said["argument_bytes"], said["output_bytes"])
    if any(CHOSEN.match(warning) for warning in said["warnings"]):
        chosen.add(name)
    elif got != wanted:
        faults.append(f"sizes {name}.{form}: arguments and results {got}, in XLA {wanted}")
    if rows != said["argument_bytes"]:
        faults.append(f"sizes {name}.{form}: rows of arguments are {rows} bytes of {said['argument_bytes']}")
    if not said["before_partitioning"] or said["devices"] != 8 or not said["warnings"][0].startswith("before partitioning"):
        faults.append(f"label {name}.{form}: {said['before_partitioning']} {said['devices']} {said['warnings']}")
    for floor in ("floor_order_bytes", "floor_any_bytes"):
        if said[floor] > fact["peak_bytes"]:
            faults.append(f"floors {name}.{form}: {floor} {said[floor]}, XLA needs {fact['peak_bytes']}")
    return got


def check_gates(lowtide, path, said):
    peak = said["input_peak_bytes"]
    for limit, code in ((peak, 0), (peak - 1, 4)):
        if call(lowtide, "check", path, "--max-peak", str(limit))[0] != code:
            faults.append(f"gates {os.path.basename(path)}: check at {limit} of {peak} isn't exit {code}")
    code, out, err = call(lowtide, "fit", path, "--limit", str(said["peak_bytes"]), "--json")
    fitted = json.loads(out) if code == REFUSED else {}
    if code != REFUSED or not fitted["certificate"]["met"] or any(fitted[key] != said[key] for key in ("argument_bytes", "output_bytes")):
        faults.append(f"gates {os.path.basename(path)}: fit within {said['peak_bytes']}: exit {code} {err}")
    code = call(lowtide, "fit", path, "--limit", str(said["floor_any_bytes"] - 1))[0]
    if code != 4:
        faults.append(f"gates {os.path.basename(path)}: fit below the floor: exit {code}")


def write_outputs(lowtide, path):
    """What opt and fit make of a program."""
    made = []
    for command in (["opt", path, "--passes", ""], ["fit", path]):
        for kind in ("mlir", "hlo"):
            out = f"{path}.{command[0]}.{kind}"
            code, _, err = call(lowtide, *command, "-o", out)
            if code != (REFUSED if command[0] == "fit" else 0):
                faults.append(f"outputs {os.path.basename(path)}: {command[0]} -o .{kind}: exit {code}: {err}")
            else:
                made.append(out)
    return made


def controls(lowtide, folder, facts):
    with open(f"{folder}/gathered_mlp.pretty.mlir") as f:
        text = f.read()
    changed = f"{folder}/control.mlir"
    with open(changed, "w") as f:
        f.write(text.replace('sdy.sharding = #sdy.sharding<@mesh, [{"i"}, {}]>', "sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>", 1))
    said = explained(lowtide, changed)
    if said and said["argument_bytes"] == facts["gathered_mlp"]["argument_bytes"]:
        faults.append("control: another sharding has the same bytes")
    crash = f"{folder}/crash.mlir"
    with open(crash, "w") as f:
        f.write('module @m attributes {mhlo.num_partitions = 8 : i32, mhlo.frontend_attributes = {xla.sdy.meshes = {mesh = #sdy.mesh<["x"=8]>}}} {\n'
                "  func.func public @main(%a: tensor<8xf32> {mhlo.frontend_attributes = {xla.sdy.sharding = "
                '"#sdy.sharding<@mesh, [{\\22x\\22}]>"}}) -> tensor<8xf32> { return %a : tensor<8xf32> }\n}\n')
    mended = f"{folder}/mended.mlir"
    code, _, err = call(lowtide, "opt", crash, "--passes", "", "-o", mended)
    known = compiled([crash, mended])
    if not isinstance(known[crash], tuple) or known[crash][0] != "crashed":
        faults.append(f"control: a dictionary for a string no longer crashes XLA: {known[crash]}")
    if code != 0 or not isinstance(known[mended], int):
        faults.append(f"control: what is printed of a dictionary isn't taken: {code} {err} {known.get(mended)}")


def main():
    options = checks.parser(__doc__, "lowtide", "keep").parse_args()
    try:
        import sharded_programs
    except Exception as error:
        print(f"SKIP sharded_vs_xla: {type(error).__name__}: {error}")
        return 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or temporary
        os.makedirs(folder, exist_ok=True)
        facts = sharded_programs.write_all(folder)
        chosen, made, sizes = set(), {}, {}
        for name, fact in facts.items():
            for form in sharded_programs.FORMS:
                path = f"{folder}/{name}.{form}"
                said = explained(options.lowtide, path)
                if not said:
                    continue
                sizes.setdefault(name, set()).add(check_sizes(name, form, said, fact, chosen))
                if form.endswith("mlir") and call(options.lowtide, "run", path)[0] != REFUSED:
                    faults.append(f"refusals {name}.{form}: run isn't exit {REFUSED}")
                if form not in ("pretty.mlir", "hlo"):
                    continue
                check_gates(options.lowtide, path, said)
                for output in write_outputs(options.lowtide, path):
                    made[output] = name
                    again = explained(options.lowtide, output)
                    if again:
                        sizes[name].add((again["argument_bytes"], again["output_bytes"]))
            if len(sizes.get(name, ())) != 1:
                faults.append(f"sizes {name}: forms and what is written of them differ: {sizes.get(name)}")
            print(name, fact, *sizes.get(name, ()), "left to XLA" if name in chosen else "", flush=True)
        if len(chosen) > MOST_CHOSEN:
            faults.append(f"sizes: a warning instead for {sorted(chosen)}")
        check_outputs(made, folder, facts)
        controls(options.lowtide, folder, facts)
        print(f"{len(facts)} programs in {len(sharded_programs.FORMS)} forms, {len(made)} outputs")
    for fault in faults[:40]:
        print(fault)
    print(f"{len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
