#!/usr/bin/env python3
"""beside_mlx.py [SECTION...]: arrays in Python beside MLX on its CPU backend, in one process and in turns.

  random      distributions at 4096 x 4096 and 64 x 64: milliseconds, peak over output
  memory      expressions whose peak the arrays of 16 MB need not show: MB at the peak beyond inputs, MLX eager and compiled
  operations  small operations, each computed at once: how many a second
  training    steps of a small perceptron (batch 32) a second, losses beside each other
  shapes      a graph of six steps at 1,000 shapes: microseconds of the first evaluation of each and of later ones, kernels
              compiled, and by how much the resident set grows in 100,000 evaluations

Needs mlx (`pip install "mlx[cpu]"`) and this package where Python finds them. Peaks are what the libraries count.
"""
import sys
import time

import lowtide
import lowtide.numpy as np
import mlx.core as mx

MB = 1e6


def fastest(work, turns=5, calls=1):
    best = float("inf")
    for _ in range(turns):
        start = time.perf_counter()
        for _ in range(calls):
            work()
        best = min(best, time.perf_counter() - start)
    return best / calls


def ours_at_peak(make):
    """(bytes at the peak beyond what was there before, bytes of the results)"""
    lowtide.eval(make())
    lowtide.clear_cache()
    before = lowtide.get_active_memory()
    lowtide.reset_peak_memory()
    made = make()
    lowtide.eval(made)
    return lowtide.get_peak_memory() - before, sum(a.nbytes for a in (made if isinstance(made, (list, tuple)) else [made]))


def theirs_at_peak(make):
    mx.eval(make())
    mx.clear_cache()
    before = mx.get_active_memory()
    mx.reset_peak_memory()
    mx.eval(make())
    return mx.get_peak_memory() - before


def random():
    types = {"bf16": (np.bfloat16, mx.bfloat16), "f32": (np.float32, mx.float32)}
    print(f"{'distribution':26} {'MLX ms':>9} {'ms':>9} {'faster':>7} {'MLX peak':>9} {'peak':>6}   peaks over the output")
    for side in (4096, 64):
        shape = (side, side)
        draws = []
        for name, (own, other) in types.items():
            for kind in ("uniform", "normal", "laplace", "gumbel"):
                draws.append((f"{kind} {name}", lambda kind=kind, own=own: getattr(lowtide.random, kind)(shape=shape, dtype=own, key=lowtide.random.key(7)),
                              lambda kind=kind, other=other: getattr(mx.random, kind)(shape=shape, dtype=other, key=mx.random.key(7))))
        draws.append(("truncated_normal bf16", lambda: lowtide.random.truncated_normal(-1.0, 1.0, shape=shape, dtype=np.bfloat16, key=lowtide.random.key(7)),
                      lambda: mx.random.truncated_normal(-1.0, 1.0, shape, mx.bfloat16, key=mx.random.key(7))))
        draws.append(("bernoulli", lambda: lowtide.random.bernoulli(0.3, shape=shape, key=lowtide.random.key(7)), lambda: mx.random.bernoulli(0.3, shape, key=mx.random.key(7))))
        draws.append(("randint i32", lambda: lowtide.random.randint(0, 1000, shape=shape, key=lowtide.random.key(7)), lambda: mx.random.randint(0, 1000, shape, key=mx.random.key(7))))
        for name, own, other in draws:
            calls = 1 if side > 1000 else 200
            lowtide.eval(own()), mx.eval(other())
            theirs = fastest(lambda: mx.eval(other()), 9, calls)
            mine = fastest(lambda: lowtide.eval(own()), 9, calls)
            peak, bytes_ = ours_at_peak(own)
            print(f"{name + f' {side}':26} {theirs * 1e3:9.3f} {mine * 1e3:9.3f} {theirs / mine:7.1f} {theirs_at_peak(other) / bytes_:9.2f} {peak / bytes_:6.2f}", flush=True)


def perceptron_gradients():
    """Rows for the gradients of 12 layers (1024 rows of 128, hidden layers of 512), with and without checkpoints."""
    def loss_of(lib, layer):
        def loss(weights, x):
            for pair in weights:
                x = layer(pair, x)
            return lib.mean(lib.square(x))
        return loss

    def layer_of(lib):
        return lambda pair, x: x + lib.tanh(x @ pair[0]) @ pair[1]

    def weights_of(normal, key, split):
        keys = split(key(9), 24)
        return [(normal((128, 512), key=keys[2 * k]) * 0.05, normal((512, 128), key=keys[2 * k + 1]) * 0.05) for k in range(12)]

    own, x = weights_of(lowtide.random.normal, lowtide.random.key, lowtide.random.split), lowtide.random.normal((1024, 128), key=lowtide.random.key(10))
    other, y = weights_of(mx.random.normal, mx.random.key, mx.random.split), mx.random.normal((1024, 128), key=mx.random.key(10))
    lowtide.eval([list(pair) for pair in own], x), mx.eval(other, y)

    def flat(grads):
        return [g for pair in grads for g in pair]

    rows = []
    for name, ours, theirs in (("gradients of 12 layers", layer_of(np), layer_of(mx)),
                               ("the same, checkpoints", lowtide.checkpoint(layer_of(np)), mx.checkpoint(layer_of(mx)))):
        rows.append((name, lambda ours=ours: flat(lowtide.grad(loss_of(np, ours))(own, x)),
                     lambda theirs=theirs: flat(mx.grad(loss_of(mx, theirs))(other, y))))
    return rows


def memory():
    n = 2048
    a, b = lowtide.random.normal((n, n), key=lowtide.random.key(1)), lowtide.random.normal((n, n), key=lowtide.random.key(2))
    c, d = mx.random.normal((n, n), key=mx.random.key(1)), mx.random.normal((n, n), key=mx.random.key(2))
    h, g = a.astype(np.bfloat16), c.astype(mx.bfloat16)
    ids, jds = (np.arange(n, dtype=np.uint32) * 7) % n, (mx.arange(n, dtype=mx.uint32) * 7) % n
    lowtide.eval([a, b, h, ids]), mx.eval(c, d, g, jds)

    def normals(lib_random, split, key):
        keys = split(key, 16)
        total = lib_random.normal((n, n), key=keys[0])
        for k in range(1, 16):
            total = total + lib_random.normal((n, n), key=keys[k])
        return total

    def layer_norm(x, lib):
        mean = lib.mean(x, axis=-1, keepdims=True)
        return (x - mean) / lib.sqrt(lib.mean(lib.square(x - mean), axis=-1, keepdims=True) + 1e-5)

    rows = [
        ("sum of 16 normals", lambda: normals(lowtide.random, lowtide.random.split, lowtide.random.key(3)), lambda: normals(mx.random, mx.random.split, mx.random.key(3))),
        ("stack of 16 normals bf16", lambda: np.stack([lowtide.random.normal((n, n // 8), dtype=np.bfloat16, key=k) for k in lowtide.random.split(lowtide.random.key(8), 16)]),
         lambda: mx.stack([mx.random.normal((n, n // 8), dtype=mx.bfloat16, key=k) for k in mx.random.split(mx.random.key(8), 16)])),
        ("dropout bf16", lambda: np.where(lowtide.random.bernoulli(0.9, shape=(n, n), key=lowtide.random.key(4)), h / 0.9, 0),
         lambda: mx.where(mx.random.bernoulli(0.9, (n, n), key=mx.random.key(4)), g / 0.9, 0)),
        ("layer norm by hand", lambda: layer_norm(a, np), lambda: layer_norm(c, mx)),
        ("mean((x - y)^2)", lambda: np.mean(np.square(a - b)), lambda: mx.mean(mx.square(c - d))),
        ("sum(exp x, -1)", lambda: np.sum(np.exp(a), axis=-1), lambda: mx.sum(mx.exp(c), axis=-1)),
        ("sum(uniform)", lambda: np.sum(lowtide.random.uniform(shape=(n, n), key=lowtide.random.key(5))), lambda: mx.sum(mx.random.uniform(shape=(n, n), key=mx.random.key(5)))),
        ("one_hot @ x", lambda: (np.expand_dims(ids, 1) == np.arange(n, dtype=np.uint32)).astype(np.float32) @ a,
         lambda: (mx.expand_dims(jds, 1) == mx.arange(n, dtype=mx.uint32)).astype(mx.float32) @ c),
        ("x + 0.1 normal", lambda: a + 0.1 * lowtide.random.normal((n, n), key=lowtide.random.key(6)), lambda: c + 0.1 * mx.random.normal((n, n), key=mx.random.key(6))),
    ] + perceptron_gradients()
    print(f"{'expression, 2048 x 2048':26} {'MLX':>8} {'compiled':>9} {'here':>8} {'results':>8}   MB")
    for name, own, other in rows:
        peak, bytes_ = ours_at_peak(own)
        compiled = mx.compile(other)
        print(f"{name:26} {theirs_at_peak(other) / MB:8.2f} {theirs_at_peak(compiled) / MB:9.2f} {peak / MB:8.2f} {bytes_ / MB:8.2f}", flush=True)


def operations():
    x, y = np.ones((8, 8)), mx.ones((8, 8))
    lowtide.eval(x), mx.eval(y)
    rows = [
        ("x + x", lambda: lowtide.eval(x + x), lambda: mx.eval(y + y)),
        ("exp(x)", lambda: lowtide.eval(np.exp(x)), lambda: mx.eval(mx.exp(y))),
        ("sum(x)", lambda: lowtide.eval(np.sum(x)), lambda: mx.eval(mx.sum(y))),
        ("x @ x", lambda: lowtide.eval(x @ x), lambda: mx.eval(y @ y)),
        ("softmax(x * 2 + 1)", lambda: lowtide.eval(_softmax(x * 2 + 1, np)), lambda: mx.eval(_softmax(y * 2 + 1, mx))),
    ]
    print(f"{'computed at once, 8 x 8':26} {'MLX /s':>10} {'here /s':>10} {'more':>6}")
    for name, own, other in rows:
        own(), other()
        theirs, mine = 1 / fastest(other, 7, 2000), 1 / fastest(own, 7, 2000)
        print(f"{name:26} {theirs:10.0f} {mine:10.0f} {mine / theirs:6.2f}", flush=True)


def _softmax(x, lib):
    e = lib.exp(x - lib.max(x, axis=-1, keepdims=True))
    return e / lib.sum(e, axis=-1, keepdims=True)


def training():
    """MNIST's shape: 784 -> 64 -> 64 -> 10, batch 32, plain gradient descent."""
    import numpy
    draw = numpy.random.default_rng(0)
    sizes = [784, 64, 64, 10]
    start = [(draw.standard_normal((m, n)).astype("float32") / m**0.5, numpy.zeros(n, "float32")) for m, n in zip(sizes, sizes[1:])]
    batches = [(draw.standard_normal((32, 784)).astype("float32"), numpy.eye(10, dtype="float32")[draw.integers(0, 10, 32)]) for _ in range(8)]

    def loss_of(lib):
        def loss(params, x, t):
            for k, (w, b) in enumerate(params):
                x = x @ w + b
                if k + 1 < len(params):
                    x = lib.maximum(x, 0)
            peak = lib.max(x, axis=-1, keepdims=True)
            return -lib.mean(lib.sum((x - peak - lib.log(lib.sum(lib.exp(x - peak), axis=-1, keepdims=True))) * t, axis=-1))
        return loss

    def loop(lib, evaluate, value_and_grad, compile_):
        params = [(lib.array(w), lib.array(b)) for w, b in start]
        data = [(lib.array(x), lib.array(t)) for x, t in batches]
        gradient = value_and_grad(loss_of(lib))

        def step(params, x, t):
            value, grads = gradient(params, x, t)
            return value, [(w - 0.1 * dw, b - 0.1 * db) for (w, b), (dw, db) in zip(params, grads)]

        step = compile_(step) if compile_ else step
        losses = []

        def run(steps):
            nonlocal params
            for k in range(steps):
                value, params = step(params, *data[k % len(data)])
                evaluate(value, params)
                losses.append(value)
        run(20)
        begin = time.perf_counter()
        run(400)
        return 400 / (time.perf_counter() - begin), float(losses[-1].item())

    def ours(value, params):
        lowtide.eval([value, *(p for pair in params for p in pair)])

    print(f"{'a small perceptron':26} {'steps/s':>10} {'loss':>10}")
    for name, run in [("MLX", lambda: loop(mx, mx.eval, mx.value_and_grad, None)), ("MLX compiled", lambda: loop(mx, mx.eval, mx.value_and_grad, mx.compile)),
                      ("here", lambda: loop(np, ours, lowtide.value_and_grad, None)), ("here, compiled", lambda: loop(np, ours, lowtide.value_and_grad, lowtide.compile))]:
        rates = [run() for _ in range(3)]
        print(f"{name:26} {max(r for r, _ in rates):10.0f} {rates[-1][1]:10.5f}", flush=True)


def shapes():
    with_sum = lambda lib: lambda a, b: lib.sum(lib.tanh(a * b + a) * lib.exp(-b), axis=1)

    def resident():
        return int(open("/proc/self/statm").read().split()[1]) * 4096

    def round_of(lib, evaluate, first, count):
        graph, seconds = with_sum(lib), 0.0
        for k in range(first, first + count):
            shape = (17 + k % 40, 32 + 3 * (k // 40))
            a, b = lib.full(shape, 0.5), lib.full(shape, 2.0)
            evaluate(a, b)
            begin = time.perf_counter()
            evaluate(graph(a, b))
            seconds += time.perf_counter() - begin
        return seconds / count * 1e6

    print(f"{'1,000 shapes':12} {'first, us':>10} {'later, us':>10} {'kernels':>8} {'growth, MiB':>12}")
    for name, lib, evaluate in [("MLX", mx, mx.eval), ("here", np, lambda *a: lowtide.eval(list(a)))]:
        round_of(lib, evaluate, 0, 40)
        kernels = lowtide.plan_stats()["kernels"]
        first = round_of(lib, evaluate, 40, 1000)
        made = lowtide.plan_stats()["kernels"] - kernels
        before = resident()
        later = [round_of(lib, evaluate, 40, 1000) for _ in range(100)]
        print(f"{name:12} {first:10.0f} {min(later):10.0f} {made:8} {(resident() - before) / 2**20:12.1f}", flush=True)


mx.set_default_device(mx.cpu)
for section in sys.argv[1:] or ["random", "memory", "operations", "training", "shapes"]:
    globals()[section]()
    print()
