#!/usr/bin/env python3
"""programs_beside.py PROGRAM [CASE...] [--control]: functions of JAX, written as StableHLO and read back as functions of
arrays (programs.cpp): their results, tangents and gradients beside JAX's own. With --control JAX is given arguments that
are a tenth larger, which every case must notice; of all cases every third is tried."""
import os
import subprocess
import sys
import tempfile

try:
    import jax
    import jax.numpy as jnp
    import numpy as np
    from jax import lax
except ImportError:
    print("SKIP: no jax")
    sys.exit(0)

control = "--control" in sys.argv
named = [a for a in sys.argv[2:] if not a.startswith("--")]
rng = np.random.default_rng(1)
real = lambda *dims: rng.standard_normal(dims).astype(np.float32)
positive = lambda *dims: (rng.random(dims) + 0.5).astype(np.float32)
whole = lambda high, *dims: rng.integers(0, high, dims).astype(np.int32)


def spd(n):
    a = real(n, n)
    return a @ a.T + n * np.eye(n, dtype=np.float32)


def attention(q, k, v):
    s = jnp.einsum("bqhd,bkhd->bhqk", q, k) / 2
    s = jnp.where(jnp.tril(jnp.ones(s.shape[-2:], bool)), s, -jnp.inf)
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(s, axis=-1), v)


def lstm(w, u, xs):
    def cell(carry, x):
        h, c = carry
        i, f, g, o = jnp.split(x @ w + h @ u, 4, axis=-1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h

    zero = jnp.zeros((xs.shape[1], u.shape[0]))
    (h, _), hs = lax.scan(cell, (zero, zero), xs)
    return h, hs


def xent(w, x, y):
    return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(x @ w), y[:, None], axis=1))


def newton(x, a):
    return lax.while_loop(lambda s: jnp.abs(s * s - a) > 1e-3 * a, lambda s: (s + a / s) / 2, x)


conv = lambda x, w, **how: lax.conv_general_dilated(x, w, dimension_numbers=("NHWC", "HWIO", "NHWC"), **how)
pool = lambda x, init, op, size, stride, pad: lax.reduce_window(x, init, op, (1, size, size, 1), (1, stride, stride, 1), pad)
relu_layers = lambda ws, x: [x := jax.nn.relu(x @ w) for w in ws][-1]

CASES = {
    "mlp": (lambda w1, w2, x: jnp.tanh(x @ w1) @ w2, [real(5, 7), real(7, 3), real(4, 5)]),
    "relu": (lambda w1, w2, x: relu_layers([w1, w2], x), [real(5, 7), real(7, 3), real(4, 5)]),
    "xent": (xent, [real(6, 9), real(5, 6), whole(9, 5)]),
    "xent-gradient": (jax.grad(xent), [real(6, 9), real(5, 6), whole(9, 5)]),
    "attention": (attention, [real(2, 5, 2, 4), real(2, 5, 2, 4), real(2, 5, 2, 4)]),
    "layer-norm": (lambda x, g, b: (x - x.mean(-1, keepdims=True)) * lax.rsqrt(x.var(-1, keepdims=True) + 1e-5) * g + b, [real(3, 8), real(8), real(8)]),
    "embedding": (lambda t, i: t[i], [real(7, 4), whole(7, 2, 3)]),
    "gather-clip": (lambda t, i: jnp.take(t, i, axis=0, mode="clip"), [real(4, 3), np.array([-3, 1, 9], np.int32)]),
    "gather-fill": (lambda t, i: jnp.take(t, i, axis=0, mode="fill", fill_value=0), [real(4, 3), np.array([0, 1, 9], np.int32)]),
    "scatter-add": (lambda t, i, u: t.at[i].add(u), [real(6, 3), np.array([1, 1, 9, 4], np.int32), real(4, 3)]),
    "scatter-set": (lambda t, i, u: t.at[i].set(u), [real(6, 3), np.array([1, 5, 9], np.int32), real(3, 3)]),
    "scatter-columns": (lambda t, i, u: t.at[:, i].add(u), [real(3, 6), np.array([1, 0, 1], np.int32), real(3, 3)]),
    "scatter-multiply": (lambda t, i, u: t.at[i].multiply(u, unique_indices=True), [real(6), np.array([1, 5], np.int32), real(2)]),
    "dynamic-slice": (lambda x, i: lax.dynamic_slice(x, (i, i + 1), (2, 3)), [real(5, 6), np.int32(4)]),
    "dynamic-update": (lambda x, u, i: lax.dynamic_update_slice(x, u, (i, 1)), [real(5, 6), real(2, 3), np.int32(4)]),
    "slices": (lambda x: (x[1:5:2, ::-1], jnp.pad(x, ((1, 2), (0, 1))), lax.pad(x, 0.5, ((-1, 2, 1), (0, -1, 0)))), [real(6, 4)]),
    "concatenate": (lambda x, y: jnp.roll(jnp.concatenate([x, y, x * y]), 2, axis=0), [real(2, 3), real(2, 3)]),
    "reductions": (lambda x: (x.sum(), x.max(1), x.min(0), x.prod(1), jax.nn.logsumexp(x, 0)), [real(3, 4)]),
    "arguments": (lambda x: x[jnp.argmax(x, 0), jnp.arange(4)] * jnp.argmin(x, 0), [real(3, 4)]),
    "running": (lambda x: (jnp.cumsum(x, 1), jnp.cumprod(x, 0), lax.cummax(x, 1), lax.cumlogsumexp(x, 0, reverse=True)), [real(4, 5)]),
    "general-reduce": (lambda x: lax.reduce(x, np.float32(0), lambda a, b: a + b + a * b, (1,)), [positive(3, 5)]),
    "max-pool": (lambda x: pool(x, -jnp.inf, lax.max, 3, 2, "SAME"), [real(2, 7, 7, 3)]),
    "max-pool-gradient": (jax.grad(lambda x: jnp.sin(pool(x, -jnp.inf, lax.max, 2, 2, "VALID")).sum()), [real(1, 6, 6, 2)]),
    "mean-pool": (lambda x: pool(x, 0.0, lax.add, 3, 2, "SAME"), [real(2, 7, 7, 3)]),
    "convolution": (lambda x, w: conv(x, w, window_strides=(2, 1), padding=((1, 2), (0, 1)), rhs_dilation=(1, 2)), [real(2, 7, 8, 3), real(3, 2, 3, 4)]),
    "convolution-transposed": (lambda x, w: conv(x, w, window_strides=(1, 1), padding=((2, 2), (2, 1)), lhs_dilation=(2, 2)), [real(2, 4, 4, 3), real(3, 3, 3, 4)]),
    "convolution-grouped": (lambda x, w: conv(x, w, window_strides=(1, 1), padding="SAME", feature_group_count=2), [real(2, 5, 5, 4), real(3, 3, 2, 6)]),
    "convolution-gradient": (jax.grad(lambda w, x: (conv(x, w, window_strides=(2, 2), padding="SAME") ** 2).sum()), [real(3, 3, 3, 4), real(2, 6, 6, 3)]),
    "lstm": (lstm, [real(3, 16), real(4, 16), real(5, 2, 3)]),
    "lstm-gradient": (jax.grad(lambda w, u, xs: (lstm(w, u, xs)[1] ** 2).sum(), (0, 1)), [real(3, 16), real(4, 16), real(5, 2, 3)]),
    "scan-reverse": (lambda c, xs: lax.scan(lambda c, x: (jnp.sin(c * x), c + x), c, xs, reverse=True), [real(3), real(6, 3)]),
    "scan-nested": (lambda c, xs: lax.scan(lambda c, x: lax.scan(lambda c, y: (c * jnp.cos(y), c), c, x), c, xs), [real(), real(3, 4)]),
    "scan-remat": (lambda c, xs: lax.scan(jax.checkpoint(lambda c, x: (jnp.sin(c * x), jnp.tanh(c))), c, xs), [real(3), real(6, 3)]),
    "scan-remat-gradient": (jax.grad(lambda c, xs: lax.scan(jax.checkpoint(lambda c, x: (jnp.sin(c * x), None)), c, xs)[0].sum()), [real(3), real(6, 3)]),
    "fori": (lambda x: lax.fori_loop(2, 7, lambda i, c: c * jnp.cos(c) + i, x), [real(4)]),
    "fori-indices": (lambda x, t: lax.fori_loop(0, 5, lambda i, c: c.at[i].set(c[(i + 1) % 5] * t[4 - i]), x), [real(5), real(5)]),
    "while": (newton, [positive(), positive()], "open"),
    "while-vmapped": (jax.vmap(newton), [positive(4), positive(4)], "open"),
    "cond": (lambda p, x: lax.cond(p > 0, lambda x: jnp.sin(x), lambda x: x * x * p, x), [np.float32(-0.5), real(4)]),
    "switch": (lambda i, x: lax.switch(i, [jnp.sin, jnp.cos, lambda x: x * x], x), [np.int32(2), real(4)]),
    "sort": (lambda x: (jnp.sort(x, 0), lax.sort((x, x * 2, jnp.cos(x)), dimension=1, num_keys=1)[2]), [real(4, 5)]),
    "top-k": (lambda x: lax.top_k(x, 3)[0] * 2, [real(3, 7)]),
    "median": (lambda x: (jnp.median(x, 1), jnp.quantile(x, 0.3, axis=0)), [real(5, 7)]),
    "clip": (lambda x: (jnp.clip(x, -0.5, 0.8), lax.clamp(np.float32(-1), x, np.float32(0.2))), [real(4, 5)]),
    "special": (lambda x: (jax.scipy.special.gammaln(x), lax.erf_inv(x / 3), jnp.cbrt(x), jnp.arctan(x), lax.digamma(x), jnp.logaddexp(x, 1 / x)), [positive(4)]),
    "elements": (lambda x, y: (x ** y, jnp.arctan2(x, y), jnp.hypot(x, y), x % y, jnp.sign(x) * jnp.abs(y), jnp.expm1(x), jnp.log1p(y), jnp.arcsinh(x), jnp.tan(y)), [positive(4), positive(4)]),
    "precision": (lambda x: (lax.reduce_precision(x, 8, 7), x.astype(jnp.bfloat16).astype(jnp.float32), jnp.round(x), jnp.floor(x) + x), [real(5)]),
    "mixed-dot": (lambda x, w: lax.dot_general(x.astype(jnp.bfloat16), w.astype(jnp.bfloat16), (((1,), (0,)), ((), ())), preferred_element_type=jnp.float32), [real(4, 5), real(5, 3)], "coarse"),
    "batched-dot": (lambda x, y: jnp.einsum("bij,bjk->kbi", x, y), [real(2, 3, 4), real(2, 4, 5)]),
    "cholesky": (lambda a: jnp.linalg.cholesky(a), [spd(4)]),
    "solve": (lambda a, b: jnp.linalg.solve(a, b), [spd(4), real(4, 2)]),
    "triangular": (lambda a, b: jax.scipy.linalg.solve_triangular(a, b, lower=True, trans=1), [np.tril(spd(4)), real(4, 2)]),
    "determinant": (lambda a: (jnp.linalg.slogdet(a)[1], jnp.linalg.inv(a)), [spd(4)]),
    "eigenvalues": (lambda a: jnp.linalg.eigvalsh(a), [spd(4)]),
    "singular-values": (lambda a: jnp.linalg.svd(a, full_matrices=False)[1], [real(5, 3)]),
    "fourier": (lambda x: (jnp.abs(jnp.fft.rfft(x)) ** 2, jnp.fft.irfft(jnp.fft.rfft(x) * 0.5), jnp.real(jnp.fft.fft2(x))), [real(4, 6)]),
    "complex": (lambda x, y: (jnp.real(jnp.exp(1j * x) * (x + 1j * y)), jnp.imag((x + 1j * y) ** 2), jnp.abs(x + 1j * y)), [real(4), real(4)]),
    "dropout": (lambda x: jnp.where(jax.random.bernoulli(jax.random.key(0), 0.5, x.shape), x / 0.5, 0) + jax.random.normal(jax.random.key(1), x.shape) * x, [real(4, 5)]),
    "mapped": (lambda x: lax.map(lambda r: jnp.sort(r) * r.sum(), x), [real(3, 4)]),
    "vmapped-slices": (lambda x, i: jax.vmap(lambda r, k: lax.dynamic_slice(r, (k,), (2,)) * r[k])(x, i), [real(4, 6), whole(4, 4)]),
    "vmapped-solve": (jax.vmap(lambda a, b: jnp.linalg.solve(a, b)), [np.stack([spd(3), spd(3)]), real(2, 3)]),
    "associative-scan": (lambda x: lax.associative_scan(jnp.multiply, x, axis=1), [real(2, 6)]),
    "hessian": (jax.hessian(lambda x: jnp.sum(jnp.sin(x) * jnp.cumsum(x))), [real(4)]),
    "ocean": (lambda h: lax.fori_loop(0, 4, lambda _, h: h + 0.1 * (jnp.roll(h, 1, 0) + jnp.roll(h, -1, 0) + jnp.roll(h, 1, 1) + jnp.roll(h, -1, 1) - 4 * h), h), [real(6, 6)]),
}


def flat(function):
    return lambda *args: jax.tree.leaves(function(*args))


def is_float(a):
    return np.issubdtype(a.dtype, np.floating)


def changed(args):
    return [a * np.float32(1.1) if is_float(a) else a for a in args]


def distance(a, b):
    a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
    if a.shape != b.shape:
        return np.inf
    worst = np.abs(a - b) / (1 + np.abs(b).max(initial=0))
    return np.where((a == b) | (np.isnan(a) & np.isnan(b)), 0, np.where(np.isfinite(worst), worst, np.inf)).max(initial=0)


failures = []
with tempfile.TemporaryDirectory() as folder:
    expected, names = {}, [n for n in CASES if not named or n in named]
    if control and not named:
        names = names[::3]
    for name in names:
        function, args, *kind = CASES[name]
        fun, args = flat(function), [np.asarray(a) for a in args]
        path = os.path.join(folder, name)
        with open(path + ".mlir", "w") as out:
            out.write(jax.jit(fun, keep_unused=True).lower(*args).as_text())
        own = changed(args) if control else args
        zero = lambda a: np.zeros(a.shape, a.dtype)
        tangents = [real(*a.shape) if is_float(a) else zero(a) for a in args]
        of_jax = [t if is_float(t) else np.zeros(t.shape, jax.dtypes.float0) for t in tangents]
        results, slopes = jax.jvp(fun, own, of_jax)
        slopes = [zero(r) if s.dtype == jax.dtypes.float0 else s for r, s in zip(results, slopes)]
        expected[name] = {"out": results, "jvp": slopes}
        files = {"arg": args, "tan": tangents}
        if "open" not in kind:
            files["cot"] = [real(*r.shape) if is_float(r) else zero(r) for r in results]
            _, back = jax.vjp(fun, *own)
            of_jax = [c if is_float(c) else np.zeros(c.shape, jax.dtypes.float0) for c in files["cot"]]
            gradients = [zero(a) if g.dtype == jax.dtypes.float0 else g for a, g in zip(args, back(of_jax))]
            expected[name]["grad"] = expected[name]["again"] = gradients
        for what, arrays in files.items():
            for k, a in enumerate(arrays):
                np.save(f"{path}.{what}.{k}.npy", np.asarray(a, order="C"))
    run = subprocess.run([sys.argv[1], folder, *names], capture_output=True, text=True)
    sys.stdout.write(run.stdout + run.stderr)
    for name in names:
        coarse = len(CASES[name]) > 2 and "coarse" in CASES[name]
        worst = 0.0
        for what, arrays in expected[name].items():
            for k, a in enumerate(arrays):
                path = os.path.join(folder, f"{name}.{what}.{k}.npy")
                worst = max(worst, distance(np.load(path), a) if os.path.exists(path) else np.inf)
        if not worst <= (2e-2 if coarse else 2e-4):
            failures.append(name)
            print(f"{name}: differs by {worst:.2g}")
expected_to_fail = [n for n in names if any(is_float(np.asarray(a)) for a in CASES[n][1])] if control else []
if control:
    missed = [n for n in expected_to_fail if n not in failures]
    print(f"{len(failures)} of {len(names)} noticed" + (f", not: {missed}" if missed else ""))
    sys.exit(bool(missed))
print(f"{len(names) - len(failures)} of {len(names)} programs of JAX, their tangents and gradients agree")
sys.exit(bool(failures))
