#!/usr/bin/env python3
"""What should never be stored, as JAX spells it: one-hot products and their gradients, hoisted masks and broadcasts, gradients
of slices and gathers in loops; before and after vmap, grad, scan and remat; as lowered, and as XLA:CPU's optimised text. Each
program's results are JAX's, and its temporaries stay under a bound that its large intermediate is far above.
Controls must fail: another table, and a bound on what has to be stored.

  rules_in_jax.py [--lowtide build/lowtide] [PATTERN...]      PATTERN: of case names, as of files
"""
import os
import sys
import tempfile

import checks
from traced import Tally, forms, jax, np, results, run, write

import jax.numpy as jnp

KIB, MIB = 1 << 10, 1 << 20
# Products pack panels of their own where oneDNN's kernels, which need AVX-512, aren't used.
PANELS = 0 if "avx512f" in open("/proc/cpuinfo").read() else 0.4 * MIB
V, D, B, S = 4096, 32, 512, 1024
R = np.random.default_rng(3)
TABLE = R.standard_normal((V, D)).astype(np.float32)
OTHER = R.standard_normal((V, D)).astype(np.float32)
IDS = R.integers(-3, V + 3, (B,)).astype(np.int32)  # some beyond the table
GATES = R.random((B,)).astype(np.float32)
ROWS = R.standard_normal((B, D)).astype(np.float32)


def hot(ids, dtype=jnp.float32):
    return jax.nn.one_hot(ids, V, dtype=dtype)


def embeddings():
    """Functions of (table, ids), under names."""
    yield "one_hot", lambda t, i: hot(i) @ t
    yield "one_hot_bf16", lambda t, i: (hot(i, jnp.bfloat16) @ t.astype(jnp.bfloat16)).astype(jnp.float32)
    yield "equal", lambda t, i: (i[:, None] == jnp.arange(V)).astype(jnp.float32) @ t
    yield "equal_turned", lambda t, i: t.T @ (jnp.arange(V, dtype=jnp.int32)[:, None] == i[None]).astype(jnp.float32)
    yield "where", lambda t, i: jnp.where(jax.lax.broadcasted_iota(jnp.int32, (B, V), 1) == i[:, None], 1.0, 0.0) @ t
    yield "where_not", lambda t, i: jnp.einsum("bv,vd->db", jnp.where(i[:, None] != jnp.arange(V), 0.0, 1.0), t)
    yield "shifted", lambda t, i: (i[:, None] - 5 == jnp.arange(-5, V - 5)).astype(jnp.float32) @ t
    yield "folded_rows", lambda t, i: jnp.einsum("bsv,vd->bsd", hot(i.reshape(8, -1)), t)
    yield "flattened", lambda t, i: hot(i.reshape(8, -1)).reshape(-1, V) @ t
    yield "masked", lambda t, i: jnp.where((i > 7)[:, None], hot(i), 0) @ t
    yield "gated", lambda t, i: (hot(i) * GATES[:, None]) @ t
    yield "vmapped", lambda t, i: jax.vmap(lambda one: hot(one) @ t)(i)
    yield "vmapped_tables", lambda t, i: jax.vmap(lambda one, k: hot(k)[:, :V // 4] @ one)(t.reshape(4, V // 4, D), i.reshape(4, -1))
    yield "remat", lambda t, i: jnp.sin(jax.checkpoint(lambda w: hot(i) @ w)(t))
    yield "scanned", lambda t, i: jax.lax.scan(lambda c, k: (c + 1, hot(k) @ t), 0, i.reshape(16, -1))[1]


def cases():
    """(name, function, arguments, most temporary bytes)"""
    for name, f in embeddings():
        yield "embed_" + name, f, [TABLE, IDS], 512 * KIB
        if name != "scanned":
            yield "grad_" + name, jax.grad(lambda t, i, f=f: jnp.sum(jnp.cos(f(t, i)))), [TABLE, IDS], 1.3 * MIB
    loss = lambda t, i: jax.lax.scan(lambda c, k: (c + jnp.sum(jnp.cos(hot(k) @ t)), None), jnp.float32(0), i.reshape(4, -1))[0]
    yield "grad_of_scan", jax.grad(loss), [TABLE, IDS], 1.5 * MIB
    yield "grad_of_gates", jax.grad(lambda g, i: jnp.sum(jnp.cos((hot(i) * g[:, None]) @ TABLE))), [GATES, IDS], 3 * MIB
    yield "update", lambda t, i: hot(i).T @ ROWS, [TABLE, IDS], 512 * KIB

    x = R.standard_normal((S, 64)).astype(np.float32)
    seg = R.integers(0, 3, (S,)).astype(np.int32)

    def attended(make_bias):
        def f(v, s):
            bias = make_bias(s)
            def layer(h, _):
                return jnp.tanh(jnp.sum(jnp.where(bias > -1, bias + 1, 0.0), axis=1)[:, None] * 1e-3 + h), None
            return jax.lax.scan(layer, v, None, length=3)[0]
        return f
    causal = lambda s: jnp.where(jnp.tril(jnp.ones((S, S), bool)), 0.0, -1e9)
    segments = lambda s: jnp.where((s[:, None] == s[None]) & (jnp.arange(S)[:, None] >= jnp.arange(S)), 0.0, -1e9)
    yield "mask_causal", attended(causal), [x, seg], 512 * KIB
    yield "mask_segments", attended(segments), [x, seg], 512 * KIB
    yield "mask_grad", jax.grad(lambda v, s: jnp.sum(attended(segments)(v, s))), [x, seg], 2 * MIB
    yield "mask_two_loops", lambda v, s: attended(segments)(attended(segments)(v, s), s), [x, seg], 768 * KIB
    spread = lambda v: jax.lax.scan(lambda h, row: (h + row, None), v, jnp.broadcast_to(v * 2, (64, S, 64)) * jnp.arange(64)[:, None, None])[0]
    yield "stack_of_products", spread, [x], 512 * KIB

    w = R.standard_normal((32, 128, 128)).astype(np.float32) / 16
    h = R.standard_normal((8, 128)).astype(np.float32)
    layers = lambda w: jax.lax.fori_loop(0, 32, lambda i, c: jnp.tanh(c @ jax.lax.dynamic_index_in_dim(w, i, keepdims=False)), h)
    picked = lambda w: jax.lax.scan(lambda c, i: (jnp.tanh(c @ w[i]), None), h, jnp.arange(31, -1, -1))[0]
    yield "grad_of_slices", jax.grad(lambda w: jnp.sum(picked(w))), [w], 1.5 * MIB
    looked = lambda t: jax.lax.scan(lambda c, k: (c + jnp.sum(jnp.cos(t[k])), None), jnp.float32(0), np.abs(IDS).reshape(16, -1) % V)[0]
    yield "grad_of_gathers", jax.grad(looked), [TABLE], 256 * KIB
    yield "forward_of_slices", layers, [w], 256 * KIB

    def pipeline(shift):
        """Four stages, eight microbatches that queue up; a trip saves its carry for the gradient."""
        def f(w, x):
            def trip(carry, i):
                queue, state = carry
                fresh = jax.lax.dynamic_index_in_dim(queue, i % 2, axis=1, keepdims=False)
                first = jax.lax.broadcasted_iota(jnp.int32, state.shape, 0) == 0
                inside = jnp.where(first, fresh[0], state)
                out = inside + jnp.tanh(jnp.einsum("smd,sde->sme", inside, w))
                back = jnp.concatenate([fresh[1:], out[-1:]])
                return (jax.lax.dynamic_update_index_in_dim(queue, back, i % 2, 1), shift(out)), None
            start = x.reshape(4, 2, 64, 128), jnp.zeros((4, 64, 128), jnp.float32)
            return jnp.sum(jnp.cos(jax.lax.scan(jax.checkpoint(trip), start, jnp.arange(11))[0][0]))
        return jax.grad(f)
    stages = R.standard_normal((4, 128, 128)).astype(np.float32) / 16
    batches = R.standard_normal((8, 64, 128)).astype(np.float32)
    for name, shift in (("padded", lambda y: jnp.pad(y, ((1, 0), (0, 0), (0, 0)))[:-1]), ("rolled", lambda y: jnp.roll(y, 1, axis=0)),
                        ("taken", lambda y: jnp.take(y, jnp.array([3, 0, 1, 2]), axis=0)),
                        ("moved", lambda y: jnp.concatenate([jnp.zeros_like(y[:1]), y[:-1]]))):
        yield "pipeline_" + name, pipeline(shift), [stages, batches], 2.8 * MIB + PANELS

    field = R.standard_normal((16, 64, 256)).astype(np.float32)
    order = np.array([15, *range(15)])
    shifts = {
        "roll": lambda y: jnp.roll(y, 1, axis=0),
        "roll_back": lambda y: jnp.roll(y, -1, axis=0),
        "taken": lambda y: jnp.take(y, order, axis=0),
        "filled": lambda y: y.at[(jnp.arange(16) + 15) % 16].get(mode="fill", fill_value=jnp.nan),
        "clipped": lambda y: jnp.take(y, jnp.arange(16) - 1, axis=0, mode="clip"),
        "padded": lambda y: jax.lax.pad(y, jnp.float32(0), ((1, -1, 0), (0, 0, 0), (0, 0, 0))),
        "set": lambda y: y.at[1:].set(y[:-1]),
        "set_both": lambda y: y.at[1:].set(y[:-1]).at[:1].set(y[-1:]),
        "set_rows": lambda y: y.at[jnp.arange(1, 16)].set(y[:15]).at[0].set(0.0),
        "updated": lambda y: jax.lax.dynamic_update_slice(y, y[:-1], (1, 0, 0)),
        "doubled": lambda y: jax.lax.dynamic_slice(jnp.concatenate([y, y]), (15, 0, 0), y.shape),
        "masked": lambda y: jnp.where(jax.lax.broadcasted_iota(jnp.int32, y.shape, 0) == 0, 0.0, jnp.roll(y, 1, axis=0)),
    }
    for name, shift in shifts.items():
        looped = lambda x, shift=shift: jax.lax.scan(lambda c, _: (shift(c), None), x, length=5)[0]
        yield "shift_" + name, looped, [field], 70 * KIB
        yield "shift_vmap_" + name, jax.vmap(looped), [np.stack([field, field])], 140 * KIB
        yield "shift_grad_" + name, jax.grad(lambda x, looped=looped: jnp.sum(jnp.cos(looped(x)))), [field], 1.4 * MIB
        remat = lambda x, shift=shift: jax.lax.scan(lambda c, _: (jax.checkpoint(lambda d: jnp.sin(shift(d)))(c), None), x, length=3)[0]
        yield "shift_remat_" + name, jax.grad(lambda x, remat=remat: jnp.sum(remat(x))), [field], 5.5 * MIB
    def haloed(mode):
        def f(x):
            trip = lambda p, _: (jnp.pad(jnp.sin(p[8:-8, 8:-8]), 8, mode=mode), None)
            return jax.lax.scan(trip, jnp.pad(x, 8, mode=mode), length=3)[0][8:-8, 8:-8]
        return f
    for mode, bound in (("constant", 4 * KIB), ("wrap", 180 * KIB), ("edge", 4 * KIB), ("reflect", 4 * KIB)):  # XLA cuts wraps
        yield "halo_" + mode, haloed(mode), [field[0]], bound
        yield "halo_vmap_" + mode, jax.vmap(haloed(mode)), [field[:2]], bound
        yield "halo_remat_" + mode, jax.checkpoint(haloed(mode)), [field[0]], bound
    one_by_one = lambda w: jax.lax.fori_loop(0, 32, lambda i, c: jnp.tanh(c @ w.at[jnp.array([i])].get(mode="fill")[0]), h)
    yield "single_index", one_by_one, [w], 256 * KIB
    yield "single_index_grad", jax.grad(lambda w: jnp.sum(jax.lax.scan(lambda c, i: (jnp.tanh(c @ jnp.take(w, i[None], axis=0)[0]), None), h, jnp.arange(32))[0])), [w], 1.5 * MIB
    one = lambda s: jnp.where(jnp.zeros_like(s)[:, None] == jnp.zeros_like(s)[None], 0.0, -1e9)
    yield "mask_one_segment", attended(one), [x, seg], 512 * KIB
    yield "mask_one_segment_grad", jax.grad(lambda v, s: jnp.sum(attended(one)(v, s))), [x, seg], 1.5 * MIB

    yield "CONTROL_stored", lambda t, i: jnp.cumsum(jnp.cumsum(hot(i)[:, ::-1] + t[0, 0], axis=0), axis=1)[:, ::2], [TABLE, IDS], 512 * KIB


def judge(lowtide, path, want, bound):
    """What is wrong with a run, or None."""
    fault, report, found = run(lowtide, path)
    if fault:
        return fault
    for k, (x, y) in enumerate(zip(found, want, strict=True)):
        worst = np.max(np.abs(x.astype(np.float64) - y.astype(np.float64)), initial=0)
        top = np.max(np.abs(y.astype(np.float64)), initial=1e-30)
        if x.shape != y.shape or not worst <= 2e-5 * top:
            return f"out{k}: off by {worst:.3g} of {top:.3g}"
    temp = report["temp_bytes"]
    return f"temp {temp:,} of {bound:,.0f}" if temp > bound else None


def main():
    options = checks.parser(__doc__, "lowtide", "keep", patterns=True).parse_args()
    tally = Tally()
    with tempfile.TemporaryDirectory() as temporary:
        for name, f, arguments, bound in cases():
            if not checks.wanted(name, options.patterns):
                continue
            want = results(f, arguments)
            for form, text in forms(f, arguments, "lowered.hlo", "optimised.hlo"):
                path = os.path.join(options.keep or temporary, f"{name}.{form}")
                write(path, text, [np.asarray(a) for a in arguments])
                found = judge(options.lowtide, path, want, bound)
                if name == "embed_one_hot" and form == "lowered.hlo":
                    write(path, text, [OTHER, IDS])
                    if not judge(options.lowtide, path, want, bound):
                        found = "another table gives the same results"
                tally.judged(name, " " + form, found)
    return tally.verdict()


if __name__ == "__main__":
    sys.exit(main())
