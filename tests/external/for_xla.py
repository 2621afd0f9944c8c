#!/usr/bin/env python3
"""fit --for xla: XLA reads every export, computes the same from it, and needs less where streams were decided.

usage: for_xla.py [--lowtide build/lowtide] [--shared ../shared] [--every N]
Small programs of the corpus (texts up to 60 KB; every N-th), and programs large enough for streams; of random numbers, every bit.
Gradients through layers for three machines, whose values are recomputed; a halo, for which XLA:CPU needs barriers.
"""
import glob
import json
import os
import subprocess
import sys
import tempfile

import checks
import xla

LARGEST = 60000  # bytes of text
# Name in the corpus, and the part of XLA:CPU's temp that may be left.
STREAMED = (("cases/b05_uniform_bf16_16384.mid", 0.01), ("cases/b05_normal_f32_16384.mid", 0.01),
            ("cases/a07_embed_iota_bad.mid", 0.01), ("cases/a09_loss_lse.mid", 0.3), ("cases/d10_attn8192_plain_fwd.mid", 0.3),
            ("kernels/causal_attention_8_heads", 0.2), ("kernels/xent_head_value_and_grad", 0.2), ("kernels/rbf_reverse", 0.01),
            ("kernels/mlp_gelu_reverse", 0.1))


def layers():
    """The gradient of a chain of products, in which a step keeps two values of each layer for its backward part."""
    import jax
    import jax.numpy as jnp

    def loss(weights, x):
        for first, second in weights:
            x = x + jax.nn.gelu(x @ first) @ second
        return (x * x).sum()
    like = lambda *dims: jax.ShapeDtypeStruct(dims, jnp.float32)
    return jax.jit(jax.grad(loss)).lower([(like(64, 256), like(256, 64))] * 8, like(2048, 64)).as_text(dialect="hlo")


def waves():
    """The gradient through the steps of a wave equation, each of which saves the wave for its backward step."""
    import jax
    import jax.numpy as jnp

    def loss(speed, wave):
        def step(state, _):
            wave, before = state
            rough = jnp.roll(wave, 1, 0) + jnp.roll(wave, -1, 0) - 2 * wave
            return (2 * wave - before + speed * rough, wave), None
        return (jax.lax.scan(jax.checkpoint(step), (wave, wave), length=64)[0][0] ** 2).sum()
    like = jax.ShapeDtypeStruct((256, 256), jnp.float32)
    return jax.jit(jax.grad(loss)).lower(like, like).as_text(dialect="hlo")


def updated_fields():
    """Fields that are updated in place from one another: written otherwise, they need a second field each."""
    import jax

    def steps(fields):
        def step(_, fields):
            a, b, c = fields
            a = a.at[:, :-1].add(-.3 * (b[:, 1:] - b[:, :-1]))
            b = b.at[:-1, :].add(-.3 * (c[1:, :] - c[:-1, :]))
            c = c.at[:, 1:].add(.3 * (a[:, 1:] - a[:, :-1]))
            return a, b, c
        return jax.lax.fori_loop(0, 10, step, fields)
    like = jax.ShapeDtypeStruct((1024, 1024), jax.numpy.float32)
    return jax.jit(steps, donate_argnums=0).lower((like,) * 3).as_text(dialect="hlo")


def worst_difference(results, expected):
    """Relative to the largest value; the last says whether all bits agree."""
    import numpy as np
    if [(r.shape, r.dtype) for r in results] != [(e.shape, e.dtype) for e in expected]:
        return float("inf"), False
    worst, bits = 0.0, True
    for r, e in zip(results, expected):
        bits = bits and r.tobytes() == e.tobytes()
        wide = np.complex128 if r.dtype.kind == "c" else np.float64
        x, y = np.asarray(r, wide), np.asarray(e, wide)
        with np.errstate(all="ignore"):
            d = np.where((x == y) | (np.isnan(x) & np.isnan(y)), 0, np.abs(x - y))
        d = np.where(np.isnan(d), np.inf, d)
        largest = float(np.max(np.abs(y[np.isfinite(y)]), initial=0)) or 1e-30
        worst = max(worst, float(np.max(d, initial=0)) / largest)
    return worst, bits


def tolerance(results):
    return 2e-2 if any(r.dtype.itemsize == 2 for r in results) else 2e-4


def temp_of(text):
    return xla.compiled(text)[0].get_compiled_memory_stats().temp_size_in_bytes


def main():
    options = checks.parser(__doc__, "lowtide", "shared", "every").parse_args()
    corpus = os.path.join(options.shared, "corpus")
    if xla.absent() or not os.path.isdir(corpus):
        print(f"SKIP: {xla.absent() or 'no corpus at ' + corpus}")
        return 0
    faults, compared, rows = [], 0, []
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "out.hlo")

        def exported(path, *more):
            done = subprocess.run([options.lowtide, "fit", path, "--for", "xla", "-o", out, "--json", *more], capture_output=True, text=True)
            if done.returncode != 0:
                faults.append(f"{path}: exit {done.returncode} {done.stderr[:200]}")
                return None, None
            with open(out) as f:
                return f.read(), json.loads(done.stdout)

        def given(path):
            with open(path) as f:
                return f.read()

        small = [path for path in sorted(glob.glob(corpus + "/cases/*.small.hlo") + glob.glob(corpus + "/kernels/*.small.hlo"))
                 if "sdy.LocalToGlobalShape" not in given(path) and os.path.getsize(path) <= LARGEST]
        for path in small[::options.every]:
            text, report = exported(path)
            if text is None:
                continue
            saved = sum(r["bytes_saved"] for r in report["rewrites"])
            if saved != report["input_peak_bytes"] - report["peak_bytes"]:
                faults.append(f"{path}: rewrites save {saved}, the peaks differ by {report['input_peak_bytes'] - report['peak_bytes']}")
            try:
                results, expected = xla.run(text), xla.run(given(path))
            except xla.Rejected as error:
                faults.append(f"{path}: {str(error)[:200]}")
                continue
            worst, _ = worst_difference(results, expected)
            compared += 1
            if not worst <= tolerance(expected):
                faults.append(f"{path}: results differ by {worst:.1e} of the largest")
            if not compared % 20:  # the comparison sees a difference where there is one
                other, _ = worst_difference(xla.run(given(path), seed=3), expected)
                if expected and "b0" not in path and other <= tolerance(expected):
                    faults.append(f"{path}: other arguments give the same results")
        for name, most in STREAMED:
            path = os.path.join(corpus, name + ".hlo")
            text, report = exported(path)
            if text is None:
                continue
            before, after = temp_of(given(path)), temp_of(text)
            worst, bits = worst_difference(xla.run(text), xla.run(given(path)))
            rows.append(f"{name:40} temp {before / 2**20:8.1f} -> {after / 2**20:7.1f} MiB, {'same bits' if bits else f'{worst:.1e}'}")
            if after > most * before + (1 << 20):
                faults.append(f"{name}: XLA:CPU needs {after} of {before} bytes, expected at most {most:.0%}")
            if not (bits or ("b05" not in name and worst <= tolerance([]))):
                faults.append(f"{name}: results differ by {worst:.1e}")
            if "copy(" in text or "lowtide" in text:
                faults.append(f"{name}: the export holds a copy or a mark of ours")
        path = os.path.join(folder, "layers.hlo")
        with open(path, "w") as f:
            f.write(layers())
        for machine in ("h100", "v5p", "zen5"):
            text, report = exported(path, "--machine", machine)
            if text is None:
                continue
            worst, _ = worst_difference(xla.run(text), xla.run(given(path)))
            made = sum(r["count"] for r in report["rewrites"] if r["rule"] == "recompute")
            rows.append(f"layers for {machine:30} peak {report['input_peak_bytes'] / 2**20:8.1f} -> {report['peak_bytes'] / 2**20:7.1f} MiB, {made} recomputed, {worst:.1e}")
            if made == 0 or "hold-recomputed" not in [r["rule"] for r in report["rewrites"]]:
                faults.append(f"layers for {machine}: {made} values are recomputed")
            if not worst <= tolerance([]):
                faults.append(f"layers for {machine}: results differ by {worst:.1e}")
        for name, make in (("waves", waves), ("fields", updated_fields)):
            path = os.path.join(folder, name + ".hlo")
            with open(path, "w") as f:
                f.write(make())
            text, report = exported(path)
            if text is None:
                continue
            before, after = temp_of(given(path)), temp_of(text)
            worst, _ = worst_difference(xla.run(text), xla.run(given(path)))
            rules = [r["rule"] for r in report["rewrites"]]
            rows.append(f"{name:40} temp {before / 2**20:8.1f} -> {after / 2**20:7.1f} MiB, {worst:.1e}")
            if not worst <= tolerance([]):
                faults.append(f"{name}: results differ by {worst:.1e}")
            if name == "waves" and not (after < before / 2 and any(r.startswith("save-every") for r in rules)):
                faults.append(f"waves: XLA:CPU needs {after} of {before} bytes, by {rules}")
            if name == "fields" and (after > before or report["peak_bytes"] > report["input_peak_bytes"] or rules):
                faults.append(f"fields: the program isn't returned as it is: {report['input_peak_bytes']} -> {report['peak_bytes']}, by {rules}")
        path = os.path.join(corpus, "kernels", "halo_all_pad_donated.hlo")
        text, report = exported(path)
        if text is not None:  # XLA:CPU's barriers are calls; those that it may inline are none
            inlined = text.replace(', frontend_attributes={inlineable="false"}', "")
            needs = [temp_of(t) for t in (given(path), inlined, text)]
            rows.append(f"halo                                     temp {', '.join(f'{n / 2**20:.1f}' for n in needs)} MiB as given, without barriers, with them")
            if not 20 * needs[2] < min(needs[:2]):
                faults.append(f"halo: XLA:CPU needs {needs} as given, without barriers, with them")
    print("\n".join(rows))
    print(f"{compared} small exports run by XLA, {len(faults)} faults")
    for fault in faults:
        print("  " + fault)
    return 1 if faults or compared < 50 else 0


if __name__ == "__main__":
    sys.exit(main())
