#!/usr/bin/env python3
"""Modelled against measured time: of programs, and of each kind of step by itself.

  cost_model.py build/lowtide FILE.hlo...  [--tightest]     programs, free plan and tightest
  cost_model.py build/lowtide --steps [KIND...] [--fit]     one kind of step each, in several sizes

Measured, of programs, is processor time of one run divided by threads: what else the machine does then counts little.
Of steps it is the fastest of several runs, which wants a machine that does nothing else. The last line is the geometric mean of measured / modelled and the factor within which two thirds lie.
--fit prints what the facts of src/target/machines.cpp would be for the machine at hand, from the larger sizes of each
kind; what facts come to is said in src/target/cost.cpp.
"""
import argparse
import json
import math
import os
import resource
import subprocess
import sys
import tempfile

SHORT = 5e-4  # seconds: what takes less is mostly the start of the process's threads


def cpu_seconds(command):
    """(JSON printed, user and system seconds of the process)."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return (json.loads(done.stdout) if done.returncode == 0 else None), spent


def measure_fastest(exe, path, repeat):
    """(modelled, measured) seconds of the fastest run, or None where it doesn't run."""
    first, _ = cpu_seconds([exe, "run", path, "--json", "--repeat", str(1 + repeat)])
    return None if first is None else (first["modelled_seconds"], min(first["run_seconds"]))


def measure(exe, path, more, repeat):
    """(modelled, measured) seconds of one run, or None where it doesn't run."""
    command = [exe, "run", path, "--json", *more, "--repeat"]
    first, _ = cpu_seconds([*command, "1"])  # compiles
    if first is None:
        return None
    repeat = max(2, min(repeat, int(2.0 / max(1e-4, min(first["run_seconds"])))))
    _, once = cpu_seconds([*command, "1"])
    _, often = cpu_seconds([*command, str(1 + repeat)])
    return first["modelled_seconds"], (often - once) / repeat / first["threads"]


def module(name, body, computations="", donated=False):
    alias = ", input_output_alias={ {}: (0, {}, may-alias) }" if donated else ""
    return f"HloModule {name}{alias}\n{computations}ENTRY main {{\n{body}}}\n"


def binary(name, operation, kind="f32"):
    return (f"{name} {{\n  x = {kind}[] parameter(0)\n  y = {kind}[] parameter(1)\n  ROOT r = {kind}[] {operation}(x, y)\n}}\n")


def elementwise(operation, n, kind="f32"):
    return module("e", f"  a = {kind}[{n}]{{0}} parameter(0)\n  ROOT r = {kind}[{n}]{{0}} {operation}(a)\n")


def added(n, kind="f32"):
    return module("a", f"  a = {kind}[{n}]{{0}} parameter(0)\n  b = {kind}[{n}]{{0}} parameter(1)\n"
                       f"  ROOT r = {kind}[{n}]{{0}} add(a, b)\n")


def product(m, n, k, kind="f32", batch=0, columns=False):
    b = f"{batch}," if batch else ""
    batched = "lhs_batch_dims={0}, rhs_batch_dims={0}, " if batch else ""
    base = 1 if batch else 0
    left = f"{kind}[{b}{k},{m}]" if columns else f"{kind}[{b}{m},{k}]"
    contracted = base if columns else base + 1
    return module("d", f"  a = {left} parameter(0)\n  b = {kind}[{b}{k},{n}] parameter(1)\n"
                       f"  ROOT r = {kind}[{b}{m},{n}] dot(a, b), {batched}lhs_contracting_dims={{{contracted}}}, "
                       f"rhs_contracting_dims={{{base}}}\n")


def convolution(batch, size, features):
    shape = f"f32[{batch},{size},{size},{features}]"
    return module("c", f"  a = {shape} parameter(0)\n  k = f32[3,3,{features},{features}] parameter(1)\n"
                       f"  ROOT r = {shape} convolution(a, k), window={{size=3x3 pad=1_1x1_1}}, dim_labels=b01f_01io->b01f\n")


def reduction(rows, columns, of_rows):
    kept, folded = (rows, 1) if of_rows else (columns, 0)
    return module("r", f"  a = f32[{rows},{columns}]{{1,0}} parameter(0)\n  z = f32[] constant(0)\n"
                       f"  ROOT r = f32[{kept}] reduce(a, z), dimensions={{{folded}}}, to_apply=add\n", binary("add", "add"))


def sort(n):
    less = "less {\n  x = f32[] parameter(0)\n  y = f32[] parameter(1)\n  ROOT c = pred[] compare(x, y), direction=LT\n}\n"
    return module("s", f"  a = f32[{n}]{{0}} parameter(0)\n  ROOT r = f32[{n}]{{0}} sort(a), dimensions={{0}}, to_apply=less\n", less)


def fourier(lines, n):
    return module("f", f"  a = f32[{lines},{n}]{{1,0}} parameter(0)\n  c = c64[{lines},{n}]{{1,0}} convert(a)\n"
                       f"  ROOT r = c64[{lines},{n}]{{1,0}} fft(c), fft_type=FFT, fft_length={{{n}}}\n")


def gathered(rows, width, taken):
    return module("g", f"  a = f32[{rows},{width}]{{1,0}} parameter(0)\n  i = s32[{taken}]{{0}} parameter(1)\n"
                       f"  ROOT r = f32[{taken},{width}]{{1,0}} gather(a, i), offset_dims={{1}}, collapsed_slice_dims={{0}}, "
                       f"start_index_map={{0}}, index_vector_dim=1, slice_sizes={{1,{width}}}\n")


def scattered(rows, taken):
    return module("s", f"  a = f32[{rows}]{{0}} parameter(0)\n  i = s32[{taken}]{{0}} parameter(1)\n"
                       f"  u = f32[{taken}]{{0}} parameter(2)\n"
                       f"  ROOT r = f32[{rows}]{{0}} scatter(a, i, u), update_window_dims={{}}, inserted_window_dims={{0}}, "
                       f"scatter_dims_to_operand_dims={{0}}, index_vector_dim=1, to_apply=add\n", binary("add", "add"), True)


def transposed(rows, columns):
    return module("t", f"  a = f32[{rows},{columns}]{{1,0}} parameter(0)\n"
                       f"  ROOT r = f32[{columns},{rows}]{{1,0}} transpose(a), dimensions={{1,0}}\n")


def solved(n):
    return module("l", f"  a = f32[{n},{n}]{{1,0}} parameter(0)\n  t = f32[{n},{n}]{{1,0}} transpose(a), dimensions={{1,0}}\n"
                       f"  s = f32[{n},{n}]{{1,0}} dot(a, t), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}\n"
                       f"  ROOT r = f32[{n},{n}]{{1,0}} cholesky(s), lower=true\n")


def trips(n, width):
    """A loop whose trips do one small kernel each: what starting it costs."""
    state = f"(s32[], f32[{width},{width}]{{1,0}})"
    computations = (f"cond {{\n  p = {state} parameter(0)\n  i = s32[] get-tuple-element(p), index=0\n  n = s32[] constant({n})\n"
                    f"  ROOT c = pred[] compare(i, n), direction=LT\n}}\n"
                    f"body {{\n  p = {state} parameter(0)\n  i = s32[] get-tuple-element(p), index=0\n  one = s32[] constant(1)\n"
                    f"  j = s32[] add(i, one)\n  x = f32[{width},{width}]{{1,0}} get-tuple-element(p), index=1\n"
                    f"  t = f32[{width},{width}]{{1,0}} transpose(x), dimensions={{1,0}}\n"
                    f"  y = f32[{width},{width}]{{1,0}} add(x, t)\n  ROOT r = {state} tuple(j, y)\n}}\n")
    body = (f"  x = f32[{width},{width}]{{1,0}} parameter(0)\n  z = s32[] constant(0)\n  s = {state} tuple(z, x)\n"
            f"  w = {state} while(s), condition=cond, body=body\n  ROOT r = f32[{width},{width}]{{1,0}} get-tuple-element(w), index=1\n")
    return module("w", body, computations)


# Kind: (name of a size, text, what the fact counts, how often). The fact is nanoseconds of all threads for one of those.
def steps():
    million = 1 << 20
    for n in (million, 16 * million, 64 * million):
        yield "memory", f"add {n >> 20} Mi", added(n), "bytes", 12 * n
    for n in (million, 16 * million):
        yield "exponential", f"exp {n >> 20} Mi", elementwise("exponential", n), "elements", n
        yield "sine", f"sin {n >> 20} Mi", elementwise("sine", n), "elements", n
    for m, n, k in ((512, 512, 512), (1024, 1024, 1024), (2048, 2048, 2048), (4096, 512, 512), (512, 4096, 512), (512, 512, 4096)):
        yield "product f32", f"{m}x{n}x{k}", product(m, n, k), "terms", m * n * k
    for m, n, k in ((32, 4096, 4096), (128, 4096, 4096), (8, 4096, 4096)):
        yield "product f32, few rows", f"{m}x{n}x{k}", product(m, n, k), "terms", m * n * k
    for m, n, k in ((1024, 1024, 1024), (2048, 2048, 2048)):
        yield "product f32, by columns", f"{m}x{n}x{k}", product(m, n, k, columns=True), "terms", m * n * k
        yield "product bf16", f"{m}x{n}x{k}", product(m, n, k, "bf16"), "terms", m * n * k
        yield "product f64", f"{m}x{n}x{k}", product(m, n, k, "f64"), "terms", m * n * k
    for b, m, n, k in ((64, 128, 128, 64), (16, 512, 512, 64), (16, 512, 64, 512), (256, 64, 64, 64)):
        yield "products f32 in batches", f"{b}x{m}x{n}x{k}", product(m, n, k, batch=b), "terms", b * m * n * k
    for b, s, f in ((8, 32, 64), (4, 64, 64), (8, 16, 256)):
        yield "convolution", f"{b}x{s}x{s}x{f}", convolution(b, s, f), "terms", b * s * s * f * f * 9
    for r, c in ((4096, 4096), (16384, 1024)):
        yield "reduction of rows", f"{r}x{c}", reduction(r, c, True), "elements", r * c
        yield "reduction of columns", f"{r}x{c}", reduction(r, c, False), "elements", r * c
    for n in (million, 8 * million):
        yield "sort", f"{n >> 20} Mi", sort(n), "comparisons", n * math.log2(n)
    for lines, n in ((4096, 1024), (256, 16384)):
        yield "Fourier", f"{lines}x{n}", fourier(lines, n), "waves", lines * n * math.log2(n)
    for rows, width, taken in ((65536, 256, 65536), (million, 16, million)):
        yield "gather", f"{taken} of {rows}x{width}", gathered(rows, width, taken), "elements", taken * width
    for rows, taken in ((4096, 8 * million), (4 * million, 4 * million)):
        yield "scatter", f"{taken} into {rows}", scattered(rows, taken), "elements", taken
    for r, c in ((4096, 4096), (16384, 1024)):
        yield "transpose", f"{r}x{c}", transposed(r, c), "bytes", 8 * r * c
    for n in (512, 1024, 2048):
        yield "cholesky", f"{n}", solved(n), "terms", n ** 3 / 6 + n ** 3
    for width in (16, 64):
        yield "trip with a small kernel", f"{width}x{width}", trips(20_000, width), "trips", 20_000


def measure_steps(options):
    ratios, facts = {}, {}
    with tempfile.TemporaryDirectory() as folder:
        for number, (kind, name, text, unit, count) in enumerate(steps()):
            if options.steps and not any(word in kind for word in options.steps):
                continue
            path = os.path.join(folder, f"{number}.hlo")
            with open(path, "w") as out:
                out.write(text)
            result = measure_fastest(options.exe, path, options.repeat)
            if result is None:
                print(f"{kind:26} {name:22} doesn't run")
                continue
            modelled, measured = result
            print(f"{kind:26} {name:22} modelled {1e3 * modelled:10.3f} ms  measured {1e3 * measured:10.3f} ms  "
                  f"ratio {measured / modelled:6.2f}  {1e9 * measured / count:10.5f} ns for each of {unit}", flush=True)
            ratios.setdefault(kind, []).append(measured / modelled)
            facts.setdefault((kind, unit), []).append((count, 1e9 * measured / count))
    print_means(ratios)
    for (kind, unit), values in facts.items() if options.fit else []:
        largest = sorted(values)[-2:]
        print(f"{kind:26} {math.exp(sum(math.log(ns) for _, ns in largest) / len(largest)):.5f} ns for each of {unit}")


def print_means(ratios):
    for kind, values in ratios.items():
        mean = math.exp(sum(math.log(r) for r in values) / len(values))
        print(f"{kind:26} measured / modelled {mean:.2f} in geometric mean of {len(values)}")
    print_spread([r for values in ratios.values() for r in values])


def print_spread(ratios):
    if not ratios:
        return
    logs = sorted(math.log(r) for r in ratios)
    mean = sum(logs) / len(logs)
    spread = sorted(abs(x - mean) for x in logs)[2 * len(logs) // 3]
    print(f"{len(ratios)} in all: measured / modelled {math.exp(mean):.2f} in geometric mean, two thirds within a factor "
          f"{math.exp(spread):.2f}")


def measure_programs(options):
    ratios = []
    for path in options.files:
        plans = [("free", [])]
        if options.tightest:
            best, _ = cpu_seconds([options.exe, "fit", path, "--json"])
            if best:
                plans.append(("tight", ["--limit", str(best["peak_bytes"])]))
        for name, more in plans:
            result = measure(options.exe, path, more, options.repeat)
            if result is None:
                continue
            modelled, measured = result
            ratio = measured / modelled if modelled > 0 else math.nan
            if measured > SHORT and ratio > 0:
                ratios.append(ratio)
            print(f"{os.path.basename(path):44} {name:6} modelled {1e3 * modelled:10.2f} ms  measured {1e3 * measured:10.2f} ms  "
                  f"ratio {ratio:6.2f}", flush=True)
    print_spread(ratios)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("exe")
    options.add_argument("files", nargs="*", help="programs")
    options.add_argument("--steps", nargs="*", metavar="KIND", help="each kind of step by itself; words: those they name")
    options.add_argument("--fit", action="store_true", help="what the machine's facts would be")
    options.add_argument("--tightest", action="store_true", help="also the plan of the lowest peak")
    options.add_argument("--repeat", type=int, default=8)
    options = options.parse_args()
    if options.steps is not None:
        measure_steps(options)
    elif options.files:
        measure_programs(options)
    else:
        sys.exit("name programs, or ask for --steps")
    return 0


if __name__ == "__main__":
    sys.exit(main())
