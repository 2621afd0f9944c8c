#!/usr/bin/env python3
"""JAX's random numbers through HLO, compiled: the same uniform bits as JAX; normal ones no farther (in the largest and in the
mean error) from a float64 evaluation on the same uniform numbers than JAX's own; and never a stored intermediate: the peak is
at most 1.001 x (arguments + results) + 1 MiB. Over odd, prime and single sizes, ranks 0 to 3, f32, bf16 and f16, both counter
layouts, single keys, vmapped keys, bounds that are arrays, and consumers: mean, dropout, argmax, gradient, scan.
Controls must fail: another key, and a program that has to store what it draws.

  random_numbers.py [--lowtide build/lowtide] [--jobs N] [--every N] [PATTERN...]

PATTERN: of case names, as of files; --every: one layout has every N-th case, the other those after them.
"""
import concurrent.futures
import os
import sys
import tempfile

import checks
from traced import Tally, jax, ml_dtypes, np, results, run, write

import jax.numpy as jnp
from scipy.special import erfinv

MIB = 1 << 20
FLOATS = {"f32": jnp.float32, "bf16": jnp.bfloat16, "f16": jnp.float16}
LARGE = 1_000_003  # prime; as f32 four times the slack


class Case:
    """function(*arguments) as JAX traces it; judge(got, want) says what is wrong, or None."""

    def __init__(self, name, function, arguments, judge, isas=("",), peak=True):
        self.name, self.function, self.judge, self.isas, self.peak = name, function, judge, isas, peak
        self.arguments = [np.asarray(a) for a in arguments]


def same_bits(got, want):
    raw = lambda a: np.frombuffer(a.tobytes(), np.uint8).reshape(-1, max(1, a.dtype.itemsize))
    differ = np.count_nonzero(np.any(raw(got) != raw(want), axis=-1))
    return f"{differ} of {want.size} differ" if differ else None


def no_farther(truth):
    """Judges one array of normals against float64 ones. Of few numbers, chance decides whose rounding is the luckier."""

    def judge(got, want):
        if not np.all(np.isfinite(got.astype(np.float64)) == np.isfinite(want.astype(np.float64))):
            return "finite in other places"
        true = truth().ravel()
        use = np.isfinite(want.astype(np.float64)).ravel() & (true != 0)
        if not use.any():
            return None
        errors = [np.abs(x.astype(np.float64).ravel()[use] - true[use]) / np.abs(true[use]) for x in (got, want)]
        for word, of in (("largest", np.max), ("mean", np.mean)):
            ours, theirs = (of(e) for e in errors)
            if ours > theirs * (1 if np.count_nonzero(use) > 1 << 16 else 1.5):
                return f"{word} error {ours:.3e}, JAX's {theirs:.3e}"
        return None

    return judge


def close(rtol):
    return lambda got, want: None if np.allclose(got.astype(np.float64), want.astype(np.float64), rtol=rtol, atol=rtol) \
        else f"off by {np.max(np.abs(got.astype(np.float64) - want.astype(np.float64))):.3e}"


def normals(draw, dtype):
    """float64 normals of the uniform numbers that `draw` gives, drawn as jax.random.normal does."""
    low = np.nextafter(np.array(-1, dtype), np.array(0, dtype), dtype=dtype)
    return lambda: np.sqrt(2) * erfinv(np.asarray(draw(low)).astype(np.float64))


def shape_name(shape):
    return "x".join(map(str, shape)) or "scalar"


def cases():
    key, other = jax.random.PRNGKey(42), jax.random.PRNGKey(7)
    both = ("", "avx2")
    shapes = [(), (1,), (2,), (7,), (1023,), (LARGE,), (1, 1), (3, 5), (1009, 997), (2, 3, 5), (101, 103, 107), (1, LARGE), (1 << 20,)]
    for shape in shapes:
        name, large = shape_name(shape), np.prod(shape) > 1 << 16
        for d, dtype in FLOATS.items():
            if large and d != "f32" and shape not in [(LARGE,), (101, 103, 107)]:
                continue
            yield Case(f"uniform_{d}_{name}", lambda k, s=shape, t=dtype: jax.random.uniform(k, s, t), [key], same_bits, both if large else ("",))
            truth = normals(lambda low, s=shape, t=dtype: jax.random.uniform(key, s, t, low, np.array(1, t)), dtype)
            yield Case(f"normal_{d}_{name}", lambda k, s=shape, t=dtype: jax.random.normal(k, s, t), [key], no_farther(truth), both if large else ("",))
        for bits in (jnp.uint8, jnp.uint16, jnp.uint32) if not large or shape == (LARGE,) else (jnp.uint32,):
            yield Case(f"bits_{jnp.dtype(bits).name}_{name}", lambda k, s=shape, t=bits: jax.random.bits(k, s, t), [key], same_bits)
    n = LARGE
    yield Case("bernoulli", lambda k: jax.random.bernoulli(k, 0.3, (4 * n,)), [key], same_bits, both)
    yield Case("randint", lambda k: jax.random.randint(k, (n,), 0, 1000), [key], same_bits)
    yield Case("split_then_uniform", lambda k: jax.random.uniform(jax.random.split(k)[1], (n,)), [key], same_bits)
    yield Case("fold_in_then_uniform", lambda k, i: jax.random.uniform(jax.random.fold_in(k, i), (n,)), [key, np.uint32(9)], same_bits)
    yield Case("two_draws_added", lambda k: jax.random.uniform(k, (n,)) + jax.random.uniform(jax.random.split(k)[0], (n,)), [key], same_bits)

    keys = jax.random.split(key, 1009)
    yield Case("split_many", lambda k: jax.random.split(k, 500_009), [key], same_bits)
    for d, dtype in FLOATS.items():
        vmapped = lambda k, t=dtype: jax.vmap(lambda one: jax.random.uniform(one, (1001,), t))(k)
        yield Case(f"vmapped_uniform_{d}", vmapped, [keys], same_bits, both)
    yield Case("vmapped_bits_odd", lambda k: jax.vmap(lambda one: jax.random.bits(one, (31, 37)))(k), [keys], same_bits)
    drawn = lambda low: jax.vmap(lambda one: jax.random.uniform(one, (1001,), jnp.float32, low, 1.0))(keys)
    yield Case("vmapped_normal", lambda k: jax.vmap(lambda one: jax.random.normal(one, (1001,)))(k), [keys],
               no_farther(normals(drawn, np.float32)), both)
    yield Case("vmapped_one_each", lambda k: jax.vmap(lambda one: jax.random.uniform(one))(k), [jax.random.split(key, n)], same_bits)
    yield Case("vmapped_twice", lambda k: jax.vmap(jax.vmap(lambda one: jax.random.uniform(one, (13, 17))))(k),
               [keys[:900].reshape(30, 30, 2)], same_bits)

    low, high = np.linspace(-3, 0, 1009, dtype=np.float32), np.linspace(1, 5, 997, dtype=np.float32)
    bounded = lambda k, a, b: jax.random.uniform(k, (1009, 997), jnp.float32, a[:, None], b[None, :])
    yield Case("bounds_broadcast", bounded, [key, low, high], close(3e-7))
    full = [np.resize(x, n) for x in (low, high)]
    yield Case("bounds_arrays", lambda k, a, b: jax.random.uniform(k, (n,), jnp.float32, a, b), [key, *full], close(3e-7))
    yield Case("bounds_randint", lambda k, a, b: jax.random.randint(k, (1009, 997), a[:, None], b), [key, np.arange(1009, dtype=np.int32), np.int32(5000)], same_bits)
    for d, dtype in FLOATS.items():
        yield Case(f"bounds_scalars_{d}", lambda k, t=dtype: jax.random.uniform(k, (n,), t, -2, 6), [key], close(3e-7) if d == "f32" else same_bits)

    x = np.linspace(-1, 1, 4 * n, dtype=np.float32)
    dropout = lambda k, v: jnp.where(jax.random.bernoulli(k, 0.9, v.shape), v / 0.9, 0)
    yield Case("dropout", dropout, [key, x], close(2e-7), both)
    yield Case("dropout_bf16", dropout, [key, x.astype(ml_dtypes.bfloat16)], same_bits)
    yield Case("dropout_twice", lambda k, v: dropout(k, jnp.sin(dropout(k, v))), [key, x], close(1e-6))
    for d, dtype in FLOATS.items():
        yield Case(f"mean_uniform_{d}", lambda k, t=dtype: jnp.mean(jax.random.uniform(k, (2003, 2003), t)), [key], close(1e-5 if d == "f32" else 1e-2), both)
        yield Case(f"mean_normal_{d}", lambda k, t=dtype: jnp.mean(jax.random.normal(k, (2003, 2003), t)), [key], close(1e-5 if d == "f32" else 1e-2))
    yield Case("mean_rows", lambda k: jnp.mean(jax.random.normal(k, (2003, 2003)), axis=1), [key], close(1e-5))
    yield Case("mean_columns", lambda k: jnp.mean(jax.random.normal(k, (2003, 2003)), axis=0), [key], close(1e-5))
    yield Case("mean_and_variance", lambda k: (lambda v: (jnp.mean(v), jnp.mean(v * v)))(jax.random.normal(k, (2003, 2003))), [key], close(1e-5))
    yield Case("argmax", lambda k: jnp.argmax(jax.random.uniform(k, (4 * n,))), [key], same_bits, both)
    yield Case("argmax_rows", lambda k: jnp.argmax(jax.random.uniform(k, (2003, 2003)), axis=1), [key], same_bits)
    logits = np.linspace(-2, 2, 1009, dtype=np.float32)
    yield Case("categorical", lambda k, v: jax.random.categorical(k, v, shape=(2003,)), [key, logits], same_bits)
    yield Case("max_abs", lambda k: jnp.max(jnp.abs(jax.random.normal(k, (2003, 2003)))), [key], close(1e-5))
    yield Case("grad_dropout", lambda k, v: jax.grad(lambda w: jnp.sum(jnp.sin(dropout(k, w))))(v), [key, x], close(1e-6), both)
    yield Case("grad_noise", lambda k, v: jax.grad(lambda w: jnp.sum((w + 0.1 * jax.random.normal(k, w.shape)) ** 2))(v), [key, x], close(3e-6))
    scale = lambda k, s: jax.grad(lambda a: jnp.sum(jnp.tanh(a * jax.random.normal(k, (2003, 2003)))))(s)
    yield Case("grad_scale", scale, [key, np.float32(0.7)], lambda got, want: close(1e-5)(got / 4e6, want / 4e6))

    def step(carry, _):
        new, sub = jax.random.split(carry)
        return new, jnp.sum(jax.random.normal(sub, (101,)))
    yield Case("scan_sums", lambda k: jax.lax.scan(step, k, None, length=5003), [key], close(1e-4), both)
    noisy = lambda state, _: ((jax.random.split(state[0])[0], state[1] + 0.01 * jax.random.normal(state[0], state[1].shape)), None)
    walk = lambda k, v: jax.lax.scan(noisy, (k, v), None, length=5)[0][1]
    yield Case("scan_walk", walk, [key, x], close(1e-6))
    sum_of_keys = lambda k: jax.lax.fori_loop(0, 300, lambda i, s: s + jnp.sum(jax.random.uniform(jax.random.fold_in(k, i), (1009,))), jnp.float32(0))
    yield Case("loop_of_keys", sum_of_keys, [key], close(1e-4))

    yield Case("CONTROL_other_key", lambda k: jax.random.uniform(k, (7,)), [key], lambda got, want: same_bits(got, np.asarray(jax.random.uniform(other, (7,)))))
    truth = normals(lambda low: jax.random.uniform(other, (LARGE,), jnp.float32, low, 1.0), np.float32)
    yield Case("CONTROL_other_normals", lambda k: jax.random.normal(k, (LARGE,)), [key], lambda got, want: no_farther(truth)(got, truth().reshape(-1).astype(np.float32)))
    yield Case("CONTROL_stored", lambda k: jnp.sort(jax.random.uniform(k, (4 * n,)))[::4], [key], same_bits)


def prepare(case, folder, layout):
    """Writes the program and its arguments; their path, and JAX's results."""
    path = os.path.join(folder, case.name + layout + ".hlo")
    write(path, jax.jit(case.function).lower(*case.arguments).as_text(dialect="hlo"), case.arguments)
    return path, results(case.function, case.arguments)


def judge(lowtide, case, path, want):
    """What is wrong with a case, in words."""
    wrong = []
    for isa in case.isas:
        where = f"{isa}: " if isa else ""
        fault, report, found = run(lowtide, path, **({"LOWTIDE_ISA": isa} if isa else {}))
        if fault:
            wrong.append(where + fault)
            continue
        for i, (x, y) in enumerate(zip(found, want, strict=True)):
            # shapes as the program has them; x and y differ in type only where something is wrong
            words = case.judge(x, y) if x.shape == y.shape and x.dtype == y.dtype else f"{x.dtype}{x.shape} for {y.dtype}{y.shape}"
            if words:
                wrong.append(f"{where}out{i}: {words}")
        allowed = 1.001 * (report["argument_bytes"] + report["output_bytes"]) + MIB
        if case.peak and report["peak_bytes"] > allowed:
            wrong.append(f"{where}peak {report['peak_bytes']:,} of {allowed:,.0f} (temp {report['temp_bytes']:,})")
    return "; ".join(wrong)


def main():
    options = checks.parser(__doc__, "lowtide", "jobs", "every", "keep", patterns=True).parse_args()
    if checks.missing(options.lowtide):
        print(f"SKIP random_numbers: {options.lowtide} isn't there")
        return 0
    tally = Tally()
    with tempfile.TemporaryDirectory() as temporary, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        folder = options.keep or temporary
        for partitionable in (True, False):
            jax.config.update("jax_threefry_partitionable", partitionable)
            layout = "" if partitionable else "_halves"
            waiting = []
            for number, case in enumerate(cases()):
                is_due = number % options.every == (0 if partitionable else 1 % options.every) or case.name.startswith("CONTROL")
                if is_due and checks.wanted(case.name + layout, options.patterns):
                    path, want = prepare(case, folder, layout)
                    waiting.append((case, pool.submit(judge, options.lowtide, case, path, want)))
            for case, verdict in waiting:
                tally.judged(case.name, layout, verdict.result())
    return tally.verdict("cases")


if __name__ == "__main__":
    sys.exit(main())
