"""jax_callbacks.py LIBRARY: JAX's host callbacks with JAX_PLATFORMS=lowtide, against XLA:CPU in a process of its own.

debug.print, debug.callback, pure_callback and io_callback at the top, in loops, branches, batches and derivatives: what they
give, what they were given and how often, and in which order where order is asked for. What fails, what is kept alive, and
callbacks that use JAX themselves. With --control one result, one order and one count are spoilt, which must be noticed."""
import contextlib
import gc
import io
import json
import os
import pathlib
import sys
import threading
import weakref

sys.dont_write_bytecode = True
from platforms import are_missing, environment, run_again  # noqa: E402

SPOILT = ("train", "ordered.scan", "once.fori")


class Log:
    """What callbacks were given, as texts."""

    def __init__(self):
        self.lines, self.lock = [], threading.Lock()

    def __call__(self, *values):
        import numpy as np
        with self.lock:
            self.lines.append(" ".join(np.array2string(np.asarray(v), precision=4, suppress_small=True, threshold=8) for v in values))

    def take(self, ordered=False):
        import jax
        jax.effects_barrier()
        lines, self.lines = self.lines, []
        return lines if ordered else sorted(lines)


def printed(call):
    """Lines in any order: JAX promises none."""
    import jax
    with contextlib.redirect_stdout(io.StringIO()) as text:
        jax.block_until_ready(call())
        jax.effects_barrier()
    return sorted(text.getvalue().splitlines())


def prints(jax, jnp):
    x = jnp.arange(6.0)

    @jax.jit
    def top(x):
        jax.debug.print("x is {x}, its sum {s:.2f}", x=x, s=x.sum())
        jax.debug.print("nothing to say")
        return x * 2

    @jax.jit
    def in_scan(x):
        def body(c, row):
            jax.debug.print("carry {} row {}", c, row)
            return c + row, c * row
        return jax.lax.scan(body, 0.0, x)

    @jax.jit
    def in_while(x):
        def test(v):
            jax.debug.print("tested {}", v[0])
            return v[0] < 4
        def body(v):
            jax.debug.print("body {}", v[1][:2])
            return v[0] + 1, v[1] * 1.5
        return jax.lax.while_loop(test, body, (0, x))

    @jax.jit
    def in_cond(x):
        def low(v):
            jax.debug.print("low {}", v[0])
            return v + 1
        def high(v):
            jax.debug.print("high {}", v[0])
            return v - 1
        return jax.lax.map(lambda v: jax.lax.cond(v[0] > 2, high, low, v), x[:, None])

    @jax.jit
    def nested(x):
        def outer(c, row):
            def inner(i, d):
                jax.lax.cond(i % 2 == 0, lambda: jax.debug.print("even {} {}", i, d), lambda: None)
                return d + row
            return jax.lax.fori_loop(0, 3, inner, c), None
        return jax.lax.scan(outer, 0.0, x[:3])[0]

    def seen(x):
        y = jnp.sin(x)
        jax.debug.print("sine {}", jnp.round(y * 100))
        return y * y

    def remat(x):
        return jax.checkpoint(lambda v: jnp.exp(seen(v)))(x)

    def step(params, batch):
        def loss(p):
            value = jnp.mean((jnp.tanh(batch @ p["in"]) @ p["out"]) ** 2)
            jax.debug.print("loss {:.4f}", value)
            return value
        value, slope = jax.value_and_grad(loss)(params)
        jax.debug.print("slope {:.4f}", jnp.abs(slope["in"]).sum())
        return jax.tree.map(lambda p, g: p - 0.1 * g, params, slope), value

    def train():
        params = {"in": jnp.full((6, 4), 0.3), "out": jnp.full((4, 1), 0.5)}
        jitted = jax.jit(step, donate_argnums=0)
        for k in range(4):
            params, _ = jitted(params, jnp.outer(jnp.ones(3), x) + k)
        return params

    key = jax.random.key(3)
    return {
        "top": printed(lambda: top(x)), "again": printed(lambda: top(x + 1)), "scan": printed(lambda: in_scan(x)), "while": printed(lambda: in_while(x)),
        "cond": printed(lambda: in_cond(x)), "nested": printed(lambda: nested(x)), "vmap": printed(lambda: jax.jit(jax.vmap(seen))(x)),
        "grad": printed(lambda: jax.jit(jax.grad(lambda v: seen(v).sum()))(x)), "eager grad": printed(lambda: jax.grad(lambda v: seen(v).sum())(x)),
        "train": printed(train), "eager": printed(lambda: jax.debug.print("eager {}", x)), "key": printed(lambda: jax.jit(lambda k: jax.debug.print("{}", k))(key)),
        "remat": printed(lambda: jax.jit(jax.grad(lambda v: remat(v).sum()))(x)), "vmap of scan": printed(lambda: jax.vmap(in_scan)(x.reshape(2, 3))),
    }


def pure(jax, jnp, np):
    x = jnp.linspace(-1, 1, 12).reshape(3, 4)
    like = jax.ShapeDtypeStruct
    results = {}

    def several(a, b):
        return np.asarray(a) * 2, {"sum": np.asarray(a).sum(0) + np.asarray(b), "none": np.zeros((0, 3), np.float32), "count": np.int32(np.asarray(a).size)}

    @jax.jit
    def gives_several(x):
        a, rest = jax.pure_callback(several, (like((3, 4), jnp.float32), {"sum": like((4,), jnp.float32), "none": like((0, 3), jnp.float32), "count": like((), jnp.int32)}), x * 1.5, x[0])
        return a + x, rest["sum"] * rest["count"], rest["none"]
    for k, value in enumerate(gives_several(x)):
        results[f"several.{k}"] = value
    results["without operands"] = jax.jit(lambda: jax.pure_callback(lambda: np.arange(5.0, dtype=np.float32), like((5,), jnp.float32)) + 1)()
    results["eager"] = jax.pure_callback(np.sin, like((3, 4), jnp.float32), x)

    half = lambda row, **how: jax.pure_callback(lambda a: np.asarray(a) / 2 + np.shape(a)[-1], like(row.shape, row.dtype), row, **how)
    for method in ("sequential", "sequential_unrolled", "expand_dims", "broadcast_all"):
        results[f"vmap.{method}"] = jax.jit(jax.vmap(lambda row: half(row, vmap_method=method)))(x)
    results["scan"] = jax.jit(lambda x: jax.lax.scan(lambda c, row: (half(c) + row, half(row).sum()), jnp.zeros(4), x))(x)[1]
    results["while"] = jax.jit(lambda x: jax.lax.while_loop(lambda v: half(v).sum() < 100, lambda v: half(v) + 3, x))(x)
    results["cond"] = jax.jit(lambda x: jax.lax.cond(x[0, 0] > 0, half, lambda v: half(v) * 3, x))(x)
    results["invariant"] = jax.jit(lambda x: jax.lax.fori_loop(0, 3, lambda i, c: c + half(x), x))(x)
    results["argument and result"] = jax.jit(lambda x: (half(x), x))(x)[0]
    results["constant"] = jax.jit(lambda: half(jnp.ones((2, 2))))()
    results["large"] = jax.jit(lambda v: half(v).sum())(jnp.ones((1 << 20)))
    results["transposed"] = jax.jit(lambda x: half(x.T) @ x)(x)
    results["donated"] = jax.jit(lambda x: half(x) + 1, donate_argnums=0)(x + 1)

    @jax.custom_vjp
    def sine(v):
        return jax.pure_callback(lambda a: np.sin(np.asarray(a)), like(v.shape, v.dtype), v)
    sine.defvjp(lambda v: (sine(v), v), lambda v, g: (g * jax.pure_callback(lambda a: np.cos(np.asarray(a)), like(v.shape, v.dtype), v),))
    results["grad"] = jax.jit(jax.grad(lambda v: (sine(v) ** 2).sum()))(x)

    # Callbacks that use JAX: functions of their own, jitted, with callbacks in them, and the very function that calls them.
    inner = jax.jit(lambda v: jnp.tanh(v @ v.T).sum() + half(v).sum())
    results["uses jax"] = jax.jit(lambda x: jax.pure_callback(lambda a: np.asarray(inner(jnp.asarray(a) + 1)), like((), jnp.float32), x) + x)(x)

    compiled = {}  # jax.jit refuses to be called again by a call that is its first
    below = lambda k: np.float32(1) if k <= 1 else np.asarray(compiled["factorial"](jnp.asarray(k) - 1))
    compiled["factorial"] = jax.jit(lambda n: n * jax.pure_callback(below, like((), jnp.float32), n)).lower(jnp.float32(0)).compile()
    results["recursive"] = compiled["factorial"](jnp.float32(6))
    nested = lambda depth, a: a if depth == 0 else jax.pure_callback(lambda v: np.asarray(jax.jit(lambda w: nested(depth - 1, w) + 1)(v)), like(a.shape, a.dtype), a)
    results["nested"] = jax.jit(lambda a: nested(4, a))(x)

    # What a callback was given stays as it was, however long it keeps it.
    kept = []
    def keep(a):
        kept.append(a)
        return np.asarray(a) + 1
    results["kept.last"] = jax.jit(lambda x: jax.lax.fori_loop(0, 6, lambda i, c: jax.pure_callback(keep, like(c.shape, c.dtype), c), x))(x).block_until_ready()
    results["kept"] = jnp.stack([jnp.asarray(a) for a in kept])
    return results


def types(jax, jnp, np):
    import ml_dtypes
    results, given = {}, {}
    names = ["bool_", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "bfloat16", "float32", "float64", "complex64", "complex128",
             "int4", "uint4", "float8_e4m3fn", "float8_e5m2", "float8_e4m3b11fnuz", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e4m3", "float8_e3m4"]
    with jax.enable_x64(True):
        for name in names:
            dtype = np.dtype(getattr(ml_dtypes, name, None) or getattr(np, name))
            x = np.array([[0, 1, -2], [3, -4, 5]]).astype(np.float32 if dtype.kind != "u" and name != "uint4" else np.uint8).astype(dtype)
            def reverse(a, name=name, dtype=dtype):
                given[name] = np.asarray(a).dtype.name
                return np.asarray(a)[::-1, ::-1]
            value = jax.jit(lambda a: jax.pure_callback(reverse, jax.ShapeDtypeStruct(a.shape, a.dtype), a))(x)
            results[name] = np.asarray(value).astype(np.complex128)
            given[name + " result"] = value.dtype.name
    return results, given


def effects(jax, jnp, np):
    from jax.experimental import io_callback
    x = jnp.arange(5.0)
    like = jax.ShapeDtypeStruct
    log, counter = Log(), [0]
    lines = {}

    def count(v):
        log(v)
        counter[0] += 1
        return np.float32(counter[0])

    ordered = lambda v: io_callback(count, like((), jnp.float32), v, ordered=True)
    loose = lambda v: io_callback(log, None, v)

    def mixed(x):
        ordered(x[0])
        jax.debug.callback(log, x[1], ordered=True)
        def body(i, c):
            jax.lax.cond(i % 2 == 0, lambda: (ordered(c), None)[1], lambda: None)
            return c + x[i]
        return jax.lax.fori_loop(0, 5, body, ordered(x[2]))

    def scanned(x):
        return jax.lax.scan(lambda c, v: (c + ordered(v * 2), ordered(c)), 0.0, x)

    def run(name, call, is_ordered):
        counter[0] = 0
        jax.block_until_ready(call())
        lines[name] = log.take(is_ordered)

    jitted = jax.jit(lambda v: ordered(v) + 1)
    run("ordered.top", lambda: jax.jit(lambda x: ordered(x[0]) + ordered(x[1]) * ordered(x[2]))(x), True)
    run("ordered.scan", lambda: jax.jit(scanned)(x), True)
    run("ordered.mixed", lambda: jax.jit(mixed)(x), False)
    run("ordered.calls", lambda: [jitted(v) for v in x], True)
    run("ordered.while", lambda: jax.jit(lambda: jax.lax.while_loop(lambda v: ordered(v) < 6, lambda v: v + ordered(v), jnp.float32(0)))(), True)
    run("ordered.print", lambda: jax.jit(lambda x: jax.lax.scan(lambda c, v: (c, jax.debug.callback(log, v, ordered=True)), 0.0, x))(x), True)
    run("ordered.eager", lambda: [ordered(v) for v in x], True)
    run("once.top", lambda: jax.jit(lambda x: (loose(x), loose(x), x)[2])(x), False)
    run("once.scan", lambda: jax.jit(lambda x: jax.lax.scan(lambda c, v: (c + v, loose(v)), 0.0, x))(x), False)
    run("once.fori", lambda: jax.jit(lambda x: jax.lax.fori_loop(0, 4, lambda i, c: (loose(i), c)[1], x))(x), False)
    run("once.constant", lambda: jax.jit(lambda: jax.lax.fori_loop(0, 3, lambda i, c: (loose(1.0), c)[1], 0))(), False)
    run("once.vmap", lambda: jax.jit(jax.vmap(lambda v: io_callback(count, like((), jnp.float32), v)))(x).sum(), False)
    run("once.unread", lambda: jax.jit(lambda x: (io_callback(count, like((), jnp.float32), x[0]), x)[1])(x), False)
    run("once.cond", lambda: jax.jit(lambda x: jax.lax.map(lambda v: jax.lax.cond(v > 2, lambda: (loose(v), v)[1], lambda: -v), x))(x), False)
    run("once.untaken", lambda: jax.jit(lambda x: jax.lax.fori_loop(0, x[0].astype(int), lambda i, c: (loose(i), c)[1], x))(x), False)
    run("once.calls", lambda: [jax.jit(lambda v: (loose(v), v)[1])(v) for v in x], False)
    run("once.grad", lambda: jax.jit(jax.grad(lambda v: (jax.debug.callback(log, v), jnp.sin(v))[1]))(x[1]), False)
    # Tens of thousands of times, and large arrays among the operands.
    run("ordered.many", lambda: jax.jit(lambda: jax.lax.fori_loop(0, 2000, lambda i, c: c + ordered(c), jnp.float32(0)))(), True)
    lines["ordered.many"] = [str(len(lines["ordered.many"])), *lines["ordered.many"][-2:]]
    run("once.large", lambda: jax.jit(lambda v: (jax.debug.callback(log, jnp.sort(v)), v.sum())[1])(jnp.arange(100000.0)), False)
    # Functions that several threads call.
    threads = [threading.Thread(target=lambda k=k: jax.block_until_ready([jitted(jnp.float32(k)) for _ in range(20)])) for k in range(4)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    lines["threads"] = log.take()
    return lines


def failures(jax, jnp, np):
    """What fails says so to whoever waits, with the words of what was raised, and all goes on."""
    from jax.experimental import io_callback
    x = jnp.arange(3.0)
    like = jax.ShapeDtypeStruct((3,), jnp.float32)
    said = {}

    def bad(a):
        raise ValueError(f"the third is {np.asarray(a)[2]}")

    def told(name, call, words):
        try:
            jax.block_until_ready(call())
            jax.effects_barrier()
            said[name] = "nothing"
        except Exception as error:  # noqa: BLE001: which kind JAX makes of it is said as well
            said[name] = type(error).__name__ if words in str(error) else f"{type(error).__name__}: {error}"
        with contextlib.suppress(Exception):
            jax.effects_barrier()
        jax._src.dispatch.runtime_tokens.clear()  # a token that failed fails whoever comes after it

    words = "the third is 2.0"
    told("pure", lambda: jax.jit(lambda x: jax.pure_callback(bad, like, x) + 1)(x), words)
    told("pure in scan", lambda: jax.jit(lambda x: jax.lax.scan(lambda c, _: (jax.pure_callback(bad, like, c), None), x, None, length=3)[0])(x), words)
    told("io", lambda: jax.jit(lambda x: io_callback(bad, like, x))(x), words)
    told("io ordered", lambda: jax.jit(lambda x: io_callback(bad, like, x, ordered=True))(x), words)
    told("debug", lambda: jax.jit(lambda x: (jax.debug.callback(bad, x), x)[1])(x), words)
    told("shape", lambda: jax.jit(lambda x: jax.pure_callback(lambda a: np.zeros(4, np.float32), like, x))(x), "Incorrect output shape")
    told("count", lambda: jax.jit(lambda x: jax.pure_callback(lambda a: (a, a), like, x))(x), "Mismatched number of outputs")
    told("a later one", lambda: jax.jit(lambda x: jax.pure_callback(lambda a: np.asarray(a) + 1, like, x))(x), "")
    assert np.array_equal(jax.jit(lambda x: jax.pure_callback(lambda a: np.asarray(a) + 1, like, x))(x), x + 1)
    return said


def lifetimes(jax, jnp, np):
    """A function goes with what was compiled of it, and not before."""
    class Function:
        def __call__(self, a):
            return np.asarray(a) * 3

    like = jax.ShapeDtypeStruct((3,), jnp.float32)
    function = Function()
    gone = weakref.ref(function)
    jitted = jax.jit(lambda x, function=function: jax.pure_callback(function, like, x))
    compiled = jitted.lower(jnp.ones(3)).compile()
    assert float(jitted(jnp.ones(3))[0]) == 3
    del function, jitted
    jax.clear_caches()
    gc.collect()
    assert gone() is not None and float(compiled(jnp.ones(3))[1]) == 3
    pending = compiled(jnp.ones(3))
    del compiled
    jax.clear_caches()
    gc.collect()
    assert float(pending[2]) == 3
    del pending
    gc.collect()
    return gone() is None


def both():
    """One function on both platforms of one process, by turns; and lowtide.jit."""
    import jax
    import jax.numpy as jnp
    import lowtide
    import numpy as np
    ours, theirs = jax.devices("lowtide")[0], jax.devices("cpu")[0]
    assert "lowtide" in ours.client.platform_version and "lowtide" not in theirs.client.platform_version
    log = Log()

    @jax.jit
    def function(x):
        jax.debug.callback(log, x[0], ordered=False)
        return jax.pure_callback(lambda a: np.asarray(a) * 2, x, x) + 1
    for k in range(3):
        for device in (ours, theirs):
            value = function(jax.device_put(jnp.arange(3.0) + k, device))
            assert value.devices() == {device} and np.array_equal(value, 2 * np.arange(3.0) + 2 * k + 1), value
    assert log.take() == ["0.", "0.", "1.", "1.", "2.", "2."]
    alone = lowtide.jit(lambda x: function(x * 2))
    for _ in range(2):
        assert np.array_equal(alone(np.arange(3.0, dtype=np.float32)), 4 * np.arange(3.0) + 1) and log.take() == ["0."]

    @lowtide.jit
    def loop(x):
        return jax.lax.fori_loop(0, 3, lambda i, c: (jax.debug.callback(log, i, ordered=True), c + 1)[1], x)
    assert float(loop(jnp.float32(2))) == 5 and log.take(ordered=True) == ["0", "1", "2"]
    try:
        lowtide.jit(lambda x: jax.pure_callback(lambda a: 1 / 0, x, x))(jnp.ones(2))
        raise AssertionError("nothing was raised")
    except lowtide.LowtideError as error:
        assert "ZeroDivisionError" in str(error), error


def devices():
    """Of four devices each calls back for its part of the arrays, and one alone for a program that all run whole."""
    import jax
    import jax.numpy as jnp
    import numpy as np
    from jax.experimental import io_callback
    from jax.sharding import Mesh, NamedSharding, PartitionSpec
    all_of_them, x, log = jax.devices(), jnp.arange(8.0), Log()
    assert len(all_of_them) == 4
    mesh = Mesh(np.array(all_of_them), ("i",))
    divided, whole = NamedSharding(mesh, PartitionSpec("i")), NamedSharding(mesh, PartitionSpec())
    add_one = lambda v: jax.pure_callback(lambda a: np.asarray(a) + 1, jax.ShapeDtypeStruct(v.shape, v.dtype), v)

    def told(v):
        jax.debug.callback(log, v)
        return add_one(v)
    parts = ["[0. 1.]", "[2. 3.]", "[4. 5.]", "[6. 7.]"]
    mapped = jax.jit(jax.shard_map(told, mesh=mesh, in_specs=PartitionSpec("i"), out_specs=PartitionSpec("i")), out_shardings=divided)
    assert np.array_equal(mapped(jax.device_put(x, divided)), x + 1) and log.take() == parts
    assert np.array_equal(np.asarray(jax.pmap(told)(x.reshape(4, 2))).reshape(8), x + 1) and log.take() == parts
    assert np.array_equal(jax.jit(told)(jax.device_put(x, whole)), x + 1) and log.take() == ["[0. 1. 2. 3. 4. 5. 6. 7.]"]
    ordered = jax.jit(lambda v: (jax.debug.callback(log, v[0], ordered=True), v * 2)[1])
    for device in all_of_them:
        assert ordered(jax.device_put(x, device)).devices() == {device}
    assert log.take(ordered=True) == ["0."] * 4
    if "lowtide" in all_of_them[0].client.platform_version:
        try:
            jax.block_until_ready(jax.jit(lambda v: io_callback(lambda a: np.asarray(a), v, v))(jax.device_put(x, whole)))
            raise AssertionError("arrays of one call for four devices")
        except jax.errors.JaxRuntimeError as error:
            assert "UNIMPLEMENTED" in str(error) and "io_callback" in str(error), error
        jax._src.dispatch.runtime_tokens.clear()


def child(path):
    import jax
    import jax.numpy as jnp
    import numpy as np
    ours = "lowtide" in jax.devices()[0].client.platform_version
    by_type, given = types(jax, jnp, np)
    arrays = {f"pure.{name}": np.asarray(value) for name, value in pure(jax, jnp, np).items()} | {f"types.{name}": value for name, value in by_type.items()}
    lines = prints(jax, jnp) | effects(jax, jnp, np) | {"types": [f"{k} {v}" for k, v in given.items()]}
    import logging
    logging.disable(logging.ERROR)  # JAX logs what callbacks raise
    said = failures(jax, jnp, np)
    if ours:
        assert lifetimes(jax, jnp, np), "a callback outlives all that was compiled of it"
        try:
            from jax.experimental import serialize_executable
            serialize_executable.serialize(jax.jit(lambda x: jax.pure_callback(np.sin, x, x)).lower(jnp.ones(3)).compile())
            raise AssertionError("functions of this process were written as bytes")
        except (jax.errors.JaxRuntimeError, ValueError) as error:
            assert "callbacks" in str(error), error
    np.savez(path, **arrays)
    with open(path + ".json", "w") as file:
        json.dump({"lines": lines, "said": said}, file)
    jax.jit(lambda x: jax.debug.print("the last words: {}", x))(1)  # nobody waits for this one


def run(platform, library, path):
    output = run_again(platform, __file__, "--child", path, **environment(library, JAX_PLATFORMS=platform))
    heard = output is not None and "the last words: 1" in output
    if output is not None and not heard:
        print(f"{platform}: the last words are missing")
    return heard


def main():
    import tempfile
    if are_missing("jax", "numpy"):
        return 0
    import numpy as np
    library, control = sys.argv[1], "--control" in sys.argv
    with tempfile.TemporaryDirectory() as folder:
        files = {platform: os.path.join(folder, platform + ".npz") for platform in ("cpu", "lowtide")}
        if not all([run(platform, library, path) for platform, path in files.items()]):
            return 1
        wrong = []
        with np.load(files["cpu"]) as wanted, np.load(files["lowtide"]) as got:
            for name in wanted.files:
                if wanted[name].dtype != got[name].dtype or not np.allclose(got[name], wanted[name], rtol=1e-5, atol=1e-5, equal_nan=True):
                    wrong.append(name)
            count = len(wanted.files)
        texts = {platform: json.loads(pathlib.Path(path + ".json").read_text()) for platform, path in files.items()}
        lines = texts["lowtide"]["lines"]
        if control:
            lines["train"][0] = lines["train"][0].replace("0.", "1.")
            lines["ordered.scan"][2:4] = lines["ordered.scan"][3:1:-1]
            lines["once.fori"].append(lines["once.fori"][-1])
        wrong += [name for name, value in texts["cpu"]["lines"].items() if lines[name] != value]
        wrong += [f"{name}: {texts['lowtide']['said'][name]}, expected {value}" for name, value in texts["cpu"]["said"].items() if texts["lowtide"]["said"][name] != value]
        print(json.dumps({"results": count, "texts": sum(map(len, lines.values())), "wrong": wrong}))
        for name in wrong:
            if name in lines and not control:
                print(name, lines[name][:8], "expected", texts["cpu"]["lines"][name][:8])
    for what, platforms in (("both", "lowtide,cpu"), ("devices", "lowtide"), ("devices", "cpu")):
        four = {"LOWTIDE_DEVICES": "4", "XLA_FLAGS": "--xla_force_host_platform_device_count=4"} if what == "devices" else {}
        if run_again(f"{what} with {platforms}", __file__, "--" + what, **environment(library, JAX_PLATFORMS=platforms, **four)) is None:
            return 1
    return (0 if sorted(wrong) == sorted(SPOILT) else 1) if control else int(bool(wrong))


if __name__ == "__main__":
    alone = {"--both": both, "--devices": devices}.get(" ".join(sys.argv[1:2]))
    sys.exit(alone() if alone else child(sys.argv[2]) if sys.argv[1:2] == ["--child"] else main())
