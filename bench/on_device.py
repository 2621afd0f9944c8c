#!/usr/bin/env python3
"""Training steps of flax and optax (jax_models.py, of sizes for an accelerator) under stock JAX on an NVIDIA GPU, as given and fitted.

on_device.py make FOLDER [--only NAME,..] [--machine h200]   writes each step as jax.export serialises it: as given, fitted within a
                                                  tenth more than the fastest plan's modelled time, and in the least memory there is a
                                                  plan for; needs no GPU
on_device.py run FOLDER [--only NAME,..] [--steps N] [--share 0.9]      runs them where there is one; needs JAX, flax and optax alone

A row each: arguments and XLA's temporaries, the most bytes in use that the device's allocator saw (memory_stats; a process each),
milliseconds a step, their ratio to the given step's and the model's, losses. `--share` is the part of the device's memory that a
process may take. Steps of one model are compiled side by side, then timed one after the other. Exit 1 where a fitted step fails, or
its losses differ by more than 1e-2 of the given step's."""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import time

import jax_models

WAYS = ("given", "+10%", "least")


def the_step(name, small):
    """A step of flat arguments, the shapes of what it updates, and its batch."""
    import jax
    import optax
    model, batch, loss = jax_models.models(large=not small)[name]
    optimiser = optax.adam(1e-4)

    def step(params, state, batch):
        value, slope = jax.value_and_grad(lambda p: loss(model.apply(p, batch[0]), batch))(params)
        changes, state = optimiser.update(slope, state)
        return optax.apply_updates(params, changes), state, value

    def initial(params):
        return params, optimiser.init(params)

    shapes = jax.eval_shape(lambda: initial(model.init(jax.random.key(1), batch[0][:1])))
    tree = jax.tree.structure((*shapes, batch))
    return (lambda *leaves: jax.tree.leaves(step(*jax.tree.unflatten(tree, leaves)))), shapes, batch


def initial_leaves(shapes):
    """Parameters and moments of these shapes from the host: XLA:GPU takes minutes to compile the initialisation of a model."""
    import jax
    import numpy
    draw = numpy.random.default_rng(0)

    def values(path, shape):
        name = jax.tree_util.keystr(path)
        if shape.dtype != numpy.float32 or name.startswith("[1]") or "bias" in name:
            return numpy.zeros(shape.shape, shape.dtype)
        return numpy.ones(shape.shape, shape.dtype) if "scale" in name else draw.standard_normal(shape.shape, shape.dtype) * numpy.float32(0.02)

    return jax.tree.leaves(jax.tree_util.tree_map_with_path(values, shapes))


def make(given):
    import dataclasses
    import jax
    from jax import export
    from lowtide import _fit
    from lowtide._native import Session
    given.folder.mkdir(exist_ok=True)
    for name in given.only.split(","):
        step, shapes, batch = the_step(name, given.small)
        leaves = [jax.ShapeDtypeStruct(x.shape, x.dtype) for x in jax.tree.leaves((shapes, batch))]
        donated = len(jax.tree.leaves(shapes))
        plain = export.export(jax.jit(step, donate_argnums=tuple(range(donated))), platforms=[given.platform])(*leaves)
        module = Session(machine=given.machine).read(bytes(plain.mlir_module_serialized), plain.fun_name)
        begin = time.perf_counter()
        least, texts = module.fit_for_xla("")
        plan = json.loads(texts["json"])
        seconds = time.perf_counter() - begin
        points = plan["frontier"] + [plan]
        fastest = min(point["modelled_seconds"] for point in points)
        within = [p for p in points if p["modelled_seconds"] <= 1.1 * fastest]
        nearest, texts = module.fit_for_xla(str(min(p["peak_bytes"] for p in within)))
        modelled = {"given": 1, "least": plan["modelled_seconds"] / fastest, "+10%": json.loads(texts["json"])["modelled_seconds"] / fastest}
        for way, program in zip(WAYS, (None, nearest, least)):
            fitted = plain if program is None else dataclasses.replace(plain, mlir_module_serialized=_fit._serialised(program))
            (given.folder / f"{name}.{way}").write_bytes(fitted.serialize())
        (given.folder / f"{name}.json").write_text(json.dumps({"modelled": modelled, "fitting": seconds, "donated": donated, "machine": plan["machine"]}))
        print(f"{name}: fitted for {plan['machine']} in {seconds:.1f} s; model {plan['peak_bytes'] / 2**30:.2f} GiB at {modelled['least']:.2f} of the fastest plan's time", flush=True)


def child(name, way, given):
    import jax
    from jax import export
    about = json.loads((given.folder / f"{name}.json").read_text())
    _, shapes, batch = the_step(name, given.small)
    leaves = jax.block_until_ready(jax.device_put([*initial_leaves(shapes), *jax.tree.leaves(batch)]))
    exported = export.deserialize(bytearray((given.folder / f"{name}.{way}").read_bytes()))
    begin = time.perf_counter()
    run = jax.jit(exported.call, donate_argnums=tuple(range(about["donated"]))).lower(*leaves).compile()
    analysis = run.memory_analysis()
    told = {"compiling": time.perf_counter() - begin, "temp": analysis.temp_size_in_bytes, "arguments": analysis.argument_size_in_bytes}
    print("ready", flush=True)
    sys.stdin.readline()
    losses, seconds = [], []
    for _ in range(given.steps):
        begin = time.perf_counter()
        *leaves[:about["donated"]], loss = run(*leaves)
        losses.append(float(loss))
        seconds.append(time.perf_counter() - begin)
    device = jax.local_devices()[0]
    print(json.dumps(told | {"losses": losses, "seconds": sorted(seconds[1:])[len(seconds) // 2 - 1], "peak": (device.memory_stats() or {}).get("peak_bytes_in_use"),
                             "device": device.device_kind}), flush=True)


def started(name, way, given):
    command = [sys.executable, __file__, "run", str(given.folder), "--child", name, way, "--steps", str(given.steps)] + (["--small"] if given.small else [])
    environment = os.environ | {"XLA_PYTHON_CLIENT_PREALLOCATE": "false", "XLA_PYTHON_CLIENT_MEM_FRACTION": given.share}
    with open(given.folder / f"{name}.{way}.log", "w") as log:
        return subprocess.Popen(command, env=environment, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log)


def outcome(process, name, way, given):
    """Lets a process that has compiled its step run it."""
    said, _ = process.communicate("go\n")
    if process.returncode == 0:
        return json.loads(said.splitlines()[-1])
    lines = (given.folder / f"{name}.{way}.log").read_text().strip().splitlines() or ["no output"]
    return {"failed": next((line for line in reversed(lines) if "Error" in line), lines[-1])}


def gib(count):
    return "-" if count is None else f"{count / 2**30:.2f}"


def run(given):
    wrong, device = [], "none"
    print(f"{'GiB':7}{'':7}{'arguments':>10}{'temp':>8}{'peak':>8}{'ms/step':>9}{'ratio':>7}{'model':>7}{'compiling s':>13}{'first loss':>12}{'last loss':>11}")
    for name in given.only.split(","):
        about = json.loads((given.folder / f"{name}.json").read_text())
        ways = given.ways.split(",")
        processes = {way: started(name, way, given) for way in ways}
        for process in processes.values():
            process.stdout.readline()  # "ready", or nothing
        plain = {}
        for way in ways:
            row = outcome(processes[way], name, way, given)
            if "failed" in row:
                print(f"{name:7}{way:7}{row['failed'][:150]}", flush=True)
                wrong += [(name, way)] if way != "given" else []
                continue
            plain, device = plain or row, row["device"]
            print(f"{name:7}{way:7}{gib(row['arguments']):>10}{gib(row['temp']):>8}{gib(row['peak']):>8}{1e3 * row['seconds']:9.1f}{row['seconds'] / plain['seconds']:7.2f}"
                  f"{about['modelled'][way]:7.2f}{row['compiling']:13.1f}{row['losses'][0]:12.5f}{row['losses'][-1]:11.5f}", flush=True)
            if max(abs(a - b) / abs(a) for a, b in zip(plain["losses"], row["losses"])) > 1e-2:
                wrong.append((name, way))
    print(f"device: {device}; wrong: {wrong}")
    return int(bool(wrong))


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("what", choices=("make", "run"))
    arguments.add_argument("folder", type=pathlib.Path)
    arguments.add_argument("--only", default=",".join(jax_models.MODELS))
    arguments.add_argument("--ways", default=",".join(WAYS))
    arguments.add_argument("--machine", default="h200")
    arguments.add_argument("--platform", default="cuda")
    arguments.add_argument("--steps", type=int, default=12)
    arguments.add_argument("--share", default="0.9")
    arguments.add_argument("--small", action="store_true", help="the sizes for two cores")
    arguments.add_argument("--child", nargs=2)
    given = arguments.parse_args()
    if given.child:
        return child(*given.child, given)
    return make(given) if given.what == "make" else run(given)


if __name__ == "__main__":
    sys.exit(main())
