"""python_array_functions.py BUILD ROOT: functions of arrays in Python: gradients and batches beside JAX's, evaluation, memory and its limits,
threads, files, and arrays of other libraries, which are where they were. --control: a gradient is spoilt, a batch, and an address, which
must be noticed."""
import gc
import os
import pickle
import re
import subprocess
import sys
import tempfile
import threading

sys.dont_write_bytecode = True
from built_arrays import lowtide_of  # noqa: E402

os.environ["JAX_PLATFORMS"] = "cpu"
CONTROL = "--control" in sys.argv

# Each: a function of (np, arrays), and the shapes of those.
LOSSES = {
    "sum of squares": (lambda np, x: (x * x).sum(), [(3, 4)]),
    "perceptron": (lambda np, x, w, b: np.mean(np.square(np.tanh(x @ w + b))), [(5, 3), (3, 4), (4,)]),
    "softmax": (lambda np, x: -np.log(np.exp(x[:, 0]) / np.exp(x).sum(axis=1)).mean(), [(6, 4)]),
    "attention": (lambda np, q, k, v: np.sum(np.einsum("ts,sd->td", np.exp(q @ k.T / 2), v)), [(4, 3), (5, 3), (5, 2)]),
    "indices": (lambda np, x: (x[np.array([0, 2, 2]), ::-1] * x[1] ** 2).sum(), [(3, 4)]),
    "updates": (lambda np, x, y: (x.at[1:, 2].set(y).at[np.array([0, 0])].add(1.5) ** 3).sum(), [(3, 4), (2,)]),
    "where": (lambda np, x: np.where(x > 0, np.log1p(abs(x)), np.sin(x)).sum(), [(9,)]),
    "maximum": (lambda np, x, y: (np.maximum(x, y) * np.minimum(x, 0.5)).sum(), [(3, 4), (4,)]),
    "concatenate": (lambda np, x, y: (np.cumsum(np.concatenate([x, y], axis=1), axis=1) ** 2).mean(), [(3, 2), (3, 4)]),
    "sort": (lambda np, x: (np.sort(x, axis=-1) * np.arange(4)).sum(), [(3, 4)]),
    "solve": (lambda np, a, b: (np.linalg.solve(a @ a.T + 3 * np.eye(4), b) ** 2).sum(), [(4, 4), (4, 2)]),
    "spectrum": (lambda np, x: np.real(np.fft.rfft(x) * np.arange(1, 6)).sum() ** 2, [(8,)]),
    "variance": (lambda np, x: np.var(x, axis=0, ddof=1).sum() + np.std(x) * np.prod(x[0]), [(4, 3)]),
}


class Wrong(list):
    def check(self, holds, what):
        if not holds:
            self.append(what)

    def raises(self, kind, words, call):
        try:
            call()
            self.append(f"no {kind.__name__}: {words}")
        except kind as error:
            self.check(re.search(words, str(error)), f"{words}: {error}")


def near(numpy, a, b, tolerance=2e-4):
    a, b = numpy.asarray(a), numpy.asarray(b)
    return a.shape == b.shape and numpy.allclose(a, b, rtol=tolerance, atol=tolerance)


def derivatives(wrong, lowtide, np, numpy):
    import jax
    import jax.numpy as jnp
    rng = numpy.random.default_rng(3)
    for name, (loss, shapes) in LOSSES.items():
        args = [rng.uniform(-0.9, 0.9, shape).astype("float32") for shape in shapes]
        which = tuple(range(len(args)))
        wanted = jax.value_and_grad(lambda *a: loss(jnp, *a), argnums=which)(*[jnp.asarray(a) for a in args])
        got = lowtide.value_and_grad(lambda *a: loss(np, *a), argnums=which)(*args)
        if CONTROL and name == "sort":
            got = (got[0], [g + 0.01 for g in got[1]])
        wrong.check(near(numpy, got[0], wanted[0]), f"the value of {name}")
        for i, (a, b) in enumerate(zip(got[1], wanted[1])):
            wrong.check(near(numpy, a, b), f"gradient {i} of {name}: {numpy.asarray(a)} instead of {b}")
        # A batch of each argument in turn, along each of its axes.
        for i, shape in enumerate(shapes):
            axis = int(rng.integers(-len(shape) - 1, len(shape) + 1))
            place = axis + (len(shape) + 1 if axis < 0 else 0)
            many = list(args)
            many[i] = rng.uniform(-0.9, 0.9, shape[:place] + (3,) + shape[place:]).astype("float32")
            axes = tuple(axis if j == i else None for j in which)
            ours = lowtide.vmap(lambda *a: loss(np, *a), in_axes=axes)(*many)
            theirs = [loss(jnp, *[jnp.take(jnp.asarray(a), k, axis=axis) if j == i else jnp.asarray(a) for j, a in enumerate(many)]) for k in range(3)]
            if CONTROL and name == "softmax":
                ours = ours[::-1]
            wrong.check(near(numpy, ours, numpy.stack(theirs)), f"a batch of {name} along {axis} of argument {i}")
    x = rng.normal(size=(3, 4)).astype("float32")
    f, jf = (lambda x: np.sin(x) * x.sum(axis=0)), (lambda x: jnp.sin(x) * x.sum(axis=0))
    for got, wanted in zip(lowtide.jvp(f, (x,), (x * 2,)), jax.jvp(jf, (x,), (x * 2,))):
        wrong.check(near(numpy, got, wanted), "jvp")
    out, (gradient,) = lowtide.vjp(f, (x,), x)
    wrong.check(near(numpy, gradient, jax.vjp(jf, x)[1](x)[0]) and near(numpy, out, jf(x)), "vjp")
    second = lowtide.grad(lambda x: (lowtide.grad(lambda x: np.sin(x).sum())(x) ** 2).sum())
    wrong.check(near(numpy, second(x), -2 * numpy.cos(x) * numpy.sin(x)), "a second derivative")


def trees(wrong, lowtide, np, numpy):
    params = {"w": np.ones((3, 2)), "layers": [np.zeros(2), (np.full(2, 0.5), None)], "name": "mlp"}
    arrays = {key: params[key] for key in ("w", "layers")}

    def step(p, x, rate=0.1):
        h = np.tanh(x @ p["w"] + p["layers"][0]) * p["layers"][1][0]
        return (h * h).sum() * rate, {"h": h}

    x = np.ones((4, 3))
    (value, aux), slope = lowtide.value_and_grad(step)(arrays, x, rate=0.5)
    wrong.check(slope["layers"][1][1] is None and slope["w"].shape == (3, 2) and aux["h"].shape == (4, 2), "a gradient has its argument's form")
    wrong.check(near(numpy, value, 0.5 * (numpy.tanh(3.0) * 0.5) ** 2 * 8), "a named argument")
    calls = []

    def counted(p, x, scale):
        calls.append(scale)
        return {"y": x @ p["w"] * scale}

    fast = lowtide.compile(counted)
    for scale in (2, 2, 3):
        wrong.check(near(numpy, fast(params, x, scale)["y"], numpy.full((4, 2), 3.0 * scale)), "a compiled function")
    fast(params, np.ones((5, 3)), 2)
    wrong.check(calls == [2, 3, 2], f"a function is traced once per form: {calls}")
    again = lowtide.grad(lambda p: lowtide.checkpoint(step)(p, x)[0])(arrays)
    wrong.check(near(numpy, again["w"], lowtide.grad(lambda p: step(p, x)[0])(arrays)["w"]), "checkpoint")
    clipped = lowtide.custom_vjp(lambda x, y: {"z": x * y}, lambda primals, c, out: (c["z"] * 10, out["z"] * 0))
    wrong.check(near(numpy, lowtide.grad(lambda x: clipped(x, x)["z"].sum())(x), numpy.full((4, 3), 10.0)), "custom_vjp")
    pairs = lowtide.vmap(lambda p, q: {"s": p["a"] + q, "d": (p["b"] * q,)}, in_axes=({"a": 0, "b": None}, 1), out_axes={"s": -1, "d": 0})
    made = pairs({"a": np.arange(3.0), "b": 2.0}, np.ones((4, 3)))
    wrong.check(made["s"].shape == (4, 3) and made["d"][0].shape == (3, 4), "axes of trees")
    same = lowtide.vmap(lambda p, q: (p + q, [q * 2]), in_axes=(0, None), out_axes=(0, None))(np.arange(3.0), np.array(5.0))
    wrong.check(same[0].tolist() == [5, 6, 7] and same[1][0].item() == 10, "a result that is the same for all")
    wrong.raises(ValueError, "depends on the arguments", lambda: lowtide.vmap(lambda p: p, out_axes=None)(np.arange(3.0)))
    by_jvp = lowtide.custom_function(lambda x, y: {"z": x * y}, fun_jvp=lambda primals, t: {"z": t[0] * 7})
    wrong.check(near(numpy, lowtide.jvp(lambda x: by_jvp(x, 2.0)["z"], (x,), (x,))[1], 7 * numpy.asarray(x)), "a derivative of the caller's, forwards")
    wrong.check(near(numpy, lowtide.grad(lambda x: by_jvp(x, 2.0)["z"].sum())(x), numpy.full((4, 3), 2.0)), "and the function's own, backwards")
    by_vmap = lowtide.custom_function(lambda x, y: x * y, fun_vmap=lambda given, axes: (given[0] * 100 + (axes[1] is None), axes[0]))
    wrong.check(lowtide.vmap(by_vmap, in_axes=(0, None))(np.arange(2.0), np.array(3.0)).tolist() == [1, 101], "batches of the caller's")
    (last, trips), ys = lowtide.scan(lambda c, x: ((c[0] + x["v"], c[1] + 1), {"sum": c[0]}), (np.array(0.0), np.array(0)), {"v": np.arange(4.0)})
    wrong.check(last.item() == 6 and trips.item() == 4 and ys["sum"].tolist() == [0, 0, 1, 3], "scan")
    wrong.check(lowtide.while_loop(lambda s: s["n"] < 5, lambda s: {"n": s["n"] + 2}, {"n": np.array(0)})["n"].item() == 6, "while_loop")
    wrong.check(lowtide.cond(np.array(False), lambda x: [x], lambda x: [-x], np.array(3.0))[0].item() == -3, "cond")
    both = lowtide.eval({"a": [x + 1]}, (value,))
    wrong.check(both is None and lowtide.async_eval(x * 2) is None, "eval")
    wrong.raises(ValueError, "2 axes for 1 values", lambda: lowtide.vmap(lambda x: x, in_axes=(0, 1))(x))
    wrong.raises(ZeroDivisionError, "", lambda: lowtide.grad(lambda x: x.sum() * (1 // 0))(x))


def exchange(wrong, lowtide, np, numpy):
    import jax
    import jax.numpy as jnp
    import ml_dtypes
    address = lambda x: x.__array_interface__["data"][0]
    for dtype in ("bool", "int8", "uint16", "int64", "float16", "float32", "float64", "complex64"):
        x = (numpy.arange(12).reshape(3, 4) % 5).astype(dtype)
        shared, copied = np.asarray(x), np.array(x)
        wrong.check(address(numpy.asarray(shared)) == address(x) + (CONTROL and dtype == "int8"), f"asarray shares {dtype}")
        wrong.check(address(numpy.asarray(copied)) != address(x), f"array copies {dtype}")
        wrong.check(shared.dtype == dtype and numpy.array_equal(numpy.asarray(shared * 1 if dtype != "bool" else shared), x), f"elements of {dtype}")
        back = numpy.from_dlpack(copied)
        wrong.check(address(back) == address(numpy.asarray(copied)) and not back.flags.writeable, f"DLPack of {dtype}")
        wrong.check(pickle.loads(pickle.dumps(copied)).tolist() == copied.tolist(), f"pickles of {dtype}")
    half = numpy.arange(6).astype(ml_dtypes.bfloat16)
    ours = np.asarray(half)
    wrong.check(ours.dtype == np.bfloat16 == ml_dtypes.bfloat16 and numpy.asarray(ours).dtype == ml_dtypes.bfloat16, "bfloat16")
    wrong.check(address(numpy.asarray(ours)) == address(half) and ours.tolist() == [0, 1, 2, 3, 4, 5], "bfloat16's elements")
    x = jnp.arange(64.0).reshape(8, 8) + 1
    ours = np.from_dlpack(x)
    theirs = jax.dlpack.from_dlpack(np.array(numpy.ones((64, 64), "float32")))
    wrong.check(address(numpy.asarray(ours)) == x.unsafe_buffer_pointer() and (ours * 2)[1, 1].item() == 20, "from JAX")
    wrong.check(theirs.sum() == 4096, "to JAX")
    eager = np.ones((64, 64)) * 3
    wrong.check(jax.dlpack.from_dlpack(eager).unsafe_buffer_pointer() == address(numpy.asarray(eager)), "the same address in JAX")
    wrong.check(np.asarray(numpy.ones((4, 6))[:, ::2]).tolist() == numpy.ones((4, 3)).tolist(), "what isn't row-major")
    wrong.check(np.array(numpy.arange(3, dtype=">i4")).tolist() == [0, 1, 2], "the other order of bytes")
    wrong.check(np.array(memoryview(b"abc")).tolist() == [97, 98, 99], "a buffer")
    wrong.check(np.array([np.array(1), np.array(2)]).tolist() == [1, 2], "a list of arrays")
    wrong.check((numpy.float64(2) * np.ones(2)).dtype == np.float32 and (numpy.ones(2) + np.ones(2)).dtype == np.float64, "NumPy's beside ours")
    small = numpy.arange(5)
    counts = sys.getrefcount(small)
    kept = np.asarray(small) * 1
    kept.eval()
    del kept
    gc.collect()
    wrong.check(sys.getrefcount(small) == counts, "what was shared is let go")
    for weak, dtype in (((np.ones(2, "bfloat16") * 2.5), "bfloat16"), (np.ones(2, "int8") + 1, "int8"), (np.ones(2, "int8") * 0.5, "float32"), (np.ones(2, bool) + 1, "int32"),
                        (np.array(1) + True, "int32"), (1j * np.ones(2), "complex64"), (np.array(2**40), "int64"), (np.maximum(np.ones(2, "float16"), 3), "float16")):
        wrong.check(weak.dtype == dtype, f"{weak.dtype} instead of {dtype}")
    wrong.raises(ValueError, "uint8 doesn't have", lambda: np.ones(2, "uint8") + 300)
    wrong.raises(ValueError, "object|found", lambda: np.array(numpy.ones(2, "float128")))
    wrong.raises(TypeError, "NoneType|list|str", lambda: np.array("abc"))
    wrong.raises(ValueError, "", lambda: np.array([[1], [1, 2]]))
    x = np.arange(6).reshape(2, 3)
    wrong.raises(IndexError, "index 2", lambda: x[2])
    wrong.raises(IndexError, "more indices", lambda: x[0, 0, 0])
    wrong.raises(IndexError, "mask", lambda: x[x[0] > 1])
    wrong.raises(IndexError, "where", lambda: x[True])
    wrong.check(x[x > 2].tolist() == [3, 4, 5] and x.at[x > 2].set(9).tolist() == [[0, 1, 2], [9, 9, 9]] and x.at[x[:, 0] > 1].add(x[0]).tolist()[1] == [3, 5, 7], "masks")
    wrong.check(lowtide.grad(lambda y: (y.at[y > 2].multiply(3)).sum())(x * 1.0).tolist() == [[1, 1, 1], [3, 3, 3]], "a mask in a derivative")
    wrong.raises(TypeError, "at\\[index\\]", lambda: x.__setitem__(0, 1))
    wrong.raises(ValueError, "add: found the shapes", lambda: x + np.ones(4))
    wrong.raises(ValueError, "item", x.item)
    wrong.raises(TypeError, "unhashable", lambda: hash(x))
    wrong.check(repr(np.array([1, 2])) == "array([1, 2], dtype=int32)" and len(x) == 2 and [len(row) for row in x] == [3, 3] and int(x[1, 2]) == 5, "what Python asks")
    wrong.check(f"{np.array(1.5):.2f}" == "1.50" and list(range(np.array(3)))[-1] == 2 and bool(np.array(1)) and complex(np.array(1j)) == 1j, "numbers")
    wrong.check(numpy.dtype(np.float32) == numpy.float32 and np.promote_types("int8", float) == np.float32 and np.issubdtype(np.float16, np.floating), "types")


def memory(wrong, lowtide, np, numpy):
    random = lowtide.random
    key, draw = random.key(0), lambda key: random.normal((4096, 4096), dtype=np.bfloat16, key=key)
    plan, x = lowtide.plan(draw, key), draw(key)
    gc.collect()
    before = lowtide.get_active_memory() - key.nbytes
    lowtide.reset_peak_memory()
    x.eval()
    took = lowtide.get_peak_memory() - before
    wrong.check(took == plan.peak and x.nbytes == 2 * 4096**2, f"normal numbers take {took} bytes, and not {plan.peak}")
    wrong.check(plan.floor == x.nbytes + key.nbytes and plan.peak <= plan.floor + 1024, f"{plan}: their own bytes and a few constants")
    del x
    x, w = np.ones((512, 512)), np.ones((512, 512))
    lowtide.eval(x, w)
    f = lambda x: ((x @ w) @ (x.T @ w)).sum(axis=0)
    plan = lowtide.plan(f, x)
    wrong.check(plan.floor <= plan.peak and plan.arguments >= x.nbytes and plan.kernels > 0 and "peak" in repr(plan), repr(plan))
    wrong.check(near(numpy, lowtide.limit(f, plan.peak)(x), f(x)), "within a limit that does")
    try:
        lowtide.limit(f, 1 << 20)(x)
        wrong.append("a limit below the arguments was met")
    except lowtide.LimitError as error:
        wrong.check(error.limit == 1 << 20 and error.needed > 1 << 20 and isinstance(error, RuntimeError), f"{error.needed}, {error.limit}")
    old = lowtide.set_memory_limit(lowtide.get_active_memory() + (1 << 20))
    y = f(x)
    wrong.raises(lowtide.LimitError, "lowest plan", y.eval)
    wrong.check(lowtide.set_memory_limit(old) is not None and lowtide.get_memory_limit() is None, "no limit is None")
    wrong.check(y[0].item() == 512.0 ** 4 and x[0, 0].item() == 1, "arrays are as they were before")
    stats = lowtide.memory_stats()
    wrong.check(stats["bytes_in_use"] == lowtide.get_active_memory() and lowtide.plan_stats()["made"] > 0, "counts")


def draws(wrong, lowtide, np, numpy):
    import jax
    random = lowtide.random
    key = random.key(7)
    a, b = random.split(key)
    wrong.check(a.shape == (2,) and not np.array_equal(random.uniform(shape=4, key=a), random.uniform(shape=4, key=b)), "keys")
    with random.use_bits("partitionable"):
        ours = random.bits((33,), key=key)
    jax.config.update("jax_threefry_partitionable", True)
    theirs = jax.random.bits(jax.random.wrap_key_data(jax.numpy.asarray(numpy.asarray(key)), impl="threefry2x32"), (33,), "uint32")
    wrong.check(numpy.array_equal(ours, theirs) and not numpy.array_equal(random.bits((33,), key=key), theirs), "JAX's words")
    n = 20000
    for name, x, mean, width in (
        ("uniform", random.uniform(-1, 3, (n,), key=key), 1, 16 / 12), ("half_open", random.half_open(shape=n, key=key), 0.5, 1 / 12),
        ("normal", random.normal((n,), loc=2, scale=3, key=key), 2, 9), ("randint", random.randint(0, 10, (n,), key=key), 4.5, 8.25),
        ("integers", random.integers(0, 10, (n,), dtype="int32", key=key), 4.5, 8.25), ("bernoulli", random.bernoulli(0.3, (n,), key=key), 0.3, 0.21),
        ("gumbel", random.gumbel((n,), key=key), 0.5772, 1.645), ("laplace", random.laplace((n,), loc=1, key=key), 1, 2),
        ("truncated_normal", random.truncated_normal(-1, 1, (n,), key=key), 0, 0.2911), ("categorical", random.categorical(np.zeros(4), num_samples=n, key=key), 1.5, 1.25),
        ("permutation", random.permutation(n, key=key) / n, 0.5, 1 / 12), ("multivariate_normal", random.multivariate_normal(np.zeros(2), np.eye(2), (n,), key=key), 0, 1),
    ):
        x = numpy.asarray(x).astype("float64")
        wrong.check(abs(x.mean() - mean) < 5 * (width / n) ** 0.5 and abs(x.var() / width - 1) < 0.1, f"{name}: {x.mean()}, {x.var()}")
    random.seed(3)
    first = random.normal((3,)).tolist()
    random.seed(3)
    wrong.check(random.normal((3,)).tolist() == first != random.normal((3,)).tolist(), "a sequence of keys")
    fast, x = lowtide.fast, random.normal((2, 2, 5, 8), key=key)
    rms = x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + 1e-5)
    wrong.check(near(numpy, fast.rms_norm(x), rms) and near(numpy, fast.layer_norm(x, None, np.ones(8)).mean(axis=-1), np.ones((2, 2, 5))), "norms")
    scores = np.softmax(np.where(np.tri(5, dtype=bool), x @ np.swapaxes(x, -1, -2), -np.inf), axis=-1)
    wrong.check(near(numpy, fast.scaled_dot_product_attention(x, x, x, scale=1.0, mask="causal"), scores @ x), "attention")
    wrong.check(near(numpy, fast.rope(x, 8)[:, :, 0], x[:, :, 0]), "rope")


def threads(wrong, lowtide, np, numpy):
    """Each works on what all share, and on its own; one holds an object of Python's that another's evaluation lets go."""
    shared = np.arange(1000.0)
    failed = []

    def work(number):
        try:
            for turn in range(40):
                own = np.asarray(numpy.full(1000, number, "float32"))
                value = lowtide.value_and_grad(lambda x: (x * shared + own).sum())(own)[0]
                with lowtide.stream(streams[number % 2]):
                    lowtide.async_eval(value)
                if value.item() != number * 499500.0 + number * 1000:
                    failed.append((number, turn, value.item()))
        except Exception as error:
            failed.append(repr(error))

    streams = [lowtide.default_stream(), lowtide.new_stream()]
    workers = [threading.Thread(target=work, args=(number,), daemon=True) for number in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(120)
    wrong.check(not failed and not any(worker.is_alive() for worker in workers), f"threads: {failed}")
    lowtide.synchronize()
    # Others run while one evaluates.
    big = np.sin(np.ones((1200, 1200)) @ np.ones((1200, 1200))).sum()
    ticks = []
    evaluation = threading.Thread(target=big.eval)
    evaluation.start()
    while evaluation.is_alive():
        ticks.append(1)
    wrong.check(len(ticks) > 100, f"{len(ticks)} turns of another thread while one evaluates")


def files(wrong, lowtide, np, numpy):
    with tempfile.TemporaryDirectory() as folder:
        x = {"a": np.arange(6).reshape(2, 3), "b": np.ones(2, "bfloat16")}
        path = os.path.join(folder, "x")
        lowtide.save(path + ".npy", x["a"])
        lowtide.save(path + ".safetensors", x)
        lowtide.save(path + ".npz", {"a": x["a"]})
        wrong.check(numpy.array_equal(numpy.load(path + ".npy"), x["a"]) and lowtide.load(path + ".npy").tolist() == x["a"].tolist(), "npy")
        loaded = lowtide.load(path + ".safetensors")
        wrong.check(loaded["b"].dtype == np.bfloat16 and loaded["a"].tolist() == x["a"].tolist(), "safetensors")
        wrong.check(lowtide.load(path + ".npz")["a"].tolist() == x["a"].tolist(), "npz")
        with open(path + ".npy", "w") as file:
            file.write("nothing")
        wrong.raises(ValueError, "x.npy", lambda: lowtide.load(path + ".npy"))


def programs(wrong, lowtide, np, numpy):
    """What JAX lowered, as a function, and its gradient as a program."""
    import jax
    import jax.numpy as jnp

    def loss(w, x):
        return jnp.sum(jnp.tanh(x @ w) ** 2)

    w, x = numpy.linspace(-1, 1, 6, dtype=numpy.float32).reshape(3, 2), numpy.linspace(0, 1, 12, dtype=numpy.float32).reshape(4, 3)
    read, expected = lowtide.function_of(jax.jit(loss).lower(w, x)), jax.grad(loss)(w, x)
    wrong.check(near(numpy, read(w, x), loss(w, x)), "a program's value")
    gradient = lowtide.to_program(lowtide.grad(read), np.asarray(w), np.asarray(x), name="gradient")
    wrong.check(gradient.name == "gradient" and b"StableHLO" in gradient.bytecode() and "func.func" in gradient.stablehlo(), "a program's texts")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "gradient.hlo")
        with open(path, "w") as out:
            out.write(gradient.hlo())
        for what in (path, gradient):
            wrong.check(near(numpy, lowtide.function_of(what)(w, x), expected), f"the gradient read from {type(what).__name__}")
    batch = lowtide.vmap(read, (None, 0))(np.asarray(w), np.asarray(numpy.stack([x, x + 1])))
    wrong.check(near(numpy, batch, numpy.stack([loss(w, x), loss(w, x + 1)])), "a batch of a program")
    try:
        read(w)
        wrong.append("a program without an argument")
    except ValueError as fault:
        wrong.check("found 1 arguments, expected 2" in str(fault), str(fault))


def examples(wrong, root, build):
    """The documentation's prints what it says that it prints; the canary takes its own bytes. Each has a process of its own, whose memory it
    counts."""
    begin = f"import sys, lowtide; lowtide.__path__.append({os.path.join(build, 'python', 'lowtide')!r}); sys.argv = ['example', '1025']\n"

    def printed(code):
        ran = subprocess.run([sys.executable, "-c", begin + code], env=os.environ | {"PYTHONPATH": os.path.join(root, "python")}, capture_output=True, text=True, timeout=300)
        return ran.stdout.splitlines() or [ran.stderr]

    with open(os.path.join(root, "docs/arrays.md")) as file:
        code = re.search(r"```python\n(.*?)```", file.read(), re.S).group(1)
    wanted, got = re.findall(r"# prints (.*)", code), printed(code)
    wrong.check(wanted and got == wanted, f"the example prints {got}")
    with open(os.path.join(root, "examples/arrays/canary.py")) as file:
        got = printed(file.read())
    wrong.check(got[-1].endswith("1.00 of their own"), f"the canary prints {got}")


def main():
    build, root = sys.argv[1:3]
    lowtide = lowtide_of(build, root, ("jax", "ml_dtypes", "numpy"))
    if lowtide is None:
        return 0
    import numpy
    np = lowtide.numpy
    wrong = Wrong()
    for part in (derivatives, trees, exchange, memory, draws, threads, files, programs):
        part(wrong, lowtide, np, numpy)
    examples(wrong, root, build)
    for line in wrong:
        print(line[:400])
    print(f"{len(wrong)} wrong")
    if CONTROL:
        return 0 if {line.split(":")[0] for line in wrong} == {"gradient 0 of sort", "asarray shares int8"} | {line for line in wrong if "a batch of softmax" in line} and len(wrong) == 3 else 1
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
