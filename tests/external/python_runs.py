"""python_runs.py LIBRARY ROOT: lowtide.jit and lowtide.run beside stock JAX: trees, static arguments, keys, donation in place and
never under somebody's eyes, threads, interrupts, files. --control: a result is spoilt, which must be noticed."""
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True
os.environ["JAX_PLATFORMS"] = "cpu"


def agree(jax, np, got, wanted, what):
    assert jax.tree.structure(got) == jax.tree.structure(wanted), what
    for a, b in zip(jax.tree.leaves(got), jax.tree.leaves(wanted)):
        assert isinstance(a, jax.Array) and a.dtype == b.dtype and a.shape == b.shape and (a.ndim > 0 or a.weak_type == b.weak_type), (what, a, b)
        if jax.dtypes.issubdtype(a.dtype, jax.dtypes.prng_key):
            a, b = jax.random.key_data(a), jax.random.key_data(b)
        assert np.allclose(np.asarray(a, complex), np.asarray(b, complex), rtol=1e-5, atol=1e-6), what


def functions(lowtide, jax, jnp, np):
    x = jnp.arange(12.0).reshape(3, 4) / 7
    key = jax.random.key(3)
    cases = {
        "trees": (lambda a, b: {"sum": a["x"] + b[0], "rest": (b[1] * 2, None)}, ({"x": x}, (x, x > 0.5)), {}),
        "numpy": (lambda a: jnp.sin(a), (np.arange(6, dtype=np.float32)[::2],), {}),
        "transposed": (lambda a: a @ a.T, (np.asarray(x).T,), {}),
        "types": (lambda a: [a.astype(t) for t in (jnp.bfloat16, jnp.int8, jnp.uint16, jnp.float16, jnp.bool_, jnp.complex64)], (x,), {}),
        "weak": (lambda a, b: a + b, (2.0, 3), {}),
        "keys": (lambda k: (jax.random.split(k, 2), jax.random.normal(k, (3,))), (key,), {}),
        "old keys": (lambda k: jax.random.split(k), (jax.random.PRNGKey(1),), {}),
        "named": (lambda a, scale=1.0: a * scale, (x,), {"scale": jnp.float32(3)}),
        "unused": (lambda a, b: a * 2, (x, x), {}),
        "empty": (lambda a: a.sum(0), (jnp.zeros((0, 3)),), {}),
        "argument back": (lambda a: (a, a), (x,), {}),
        "solve": (lambda a: jnp.linalg.solve(a, a[:, 0]), (x[:, :3] + 3 * jnp.eye(3),), {}),
        # ml_dtypes leaves anything in the bits beyond an element's, and XLA packs elements below a byte.
        "below a byte": (lambda a, b: (a.astype(jnp.float32), b.astype(jnp.float32)), (np.arange(-8, 8).astype(jnp.int4), jnp.arange(-8, 8).astype(jnp.int4)), {}),
        "bf16": (lambda a: a * 2, (x.astype(jnp.bfloat16),), {}),
    }
    for name, (f, args, kwargs) in cases.items():
        agree(jax, np, lowtide.jit(f)(*args, **kwargs), jax.jit(f)(*args, **kwargs), name)
    with jax.enable_x64(True):
        wide = jnp.arange(5.0)
        assert wide.dtype == jnp.float64
        agree(jax, np, lowtide.jit(jnp.cumsum)(wide), jnp.cumsum(wide), "x64")
    static = lowtide.jit(lambda a, n, how="up": a * n if how == "up" else a - n, static_argnums=1, static_argnames="how")
    agree(jax, np, (static(x, 2), static(x, 3), static(x, 2, how="down")), (x * 2, x * 3, x - 2), "static")
    agree(jax, np, lowtide.jit(jax.jit(lambda a, n: a * n, static_argnums=1))(x, 4), x * 4, "jitted with static arguments")
    inner = lowtide.jit(lambda a: (a ** 2).sum())
    agree(jax, np, (jax.grad(inner)(x), jax.jit(lambda a: inner(a) * 2)(x), jax.vmap(inner)(x)), (2 * x, 2 * (x ** 2).sum(), (x ** 2).sum(1)), "traced")
    assert "peak" in inner.plan_for(jax.ShapeDtypeStruct((8, 8), jnp.float32)).sizes

    @lowtide.jit
    def threaded(a):
        return (a @ a.T).sum()
    seen = {}
    def call(i):
        seen[i] = [float(threaded(x + i)) for _ in range(50)]
    threads = [threading.Thread(target=call, args=(i,)) for i in range(8)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert all(len(set(row)) == 1 and abs(row[0] - float(((x + i) @ (x + i).T).sum())) < 1e-3 for i, row in seen.items()), seen
    try:
        lowtide.jit(lambda a: (a @ a.T).sum(), limit="1KiB")(jnp.ones((100, 100)))
        raise AssertionError("a limit that nothing meets was met")
    except lowtide.LowtideError as error:
        assert error.kind == "limit" and error.lowest_peak > 40000, error
    try:
        lowtide.jit(lambda a: jax.pure_callback(lambda v: [v, v], a, a))(x)
        raise AssertionError("a callback gave two arrays for one")
    except lowtide.LowtideError as error:
        assert error.kind == "internal" and "Mismatched number of outputs" in str(error), error


def donation(lowtide, jax, jnp, np, control):
    @lowtide.jit
    def plain(state, x):
        return {"w": state["w"] * 0.5 + x}, state["w"].sum()
    donating = lowtide.jit(lambda state, x: ({"w": state["w"] * 0.5 + x}, state["w"].sum()), donate_argnums=0)
    x = jnp.ones((256, 256))
    first = expected = state = {"w": jnp.arange(65536.0).reshape(256, 256)}
    wrong, places = [], set()
    for i in range(6):
        old = state
        expected, wanted = plain(expected, x)
        state, got = donating(state, x)
        assert old["w"].is_deleted() and not expected["w"].is_deleted(), "donation"
        if abs(float(got) * (1.01 if control and i == 4 else 1) - float(wanted)) > 1e-4 * abs(float(wanted)):
            wrong.append(i)
        places.add(state["w"].unsafe_buffer_pointer())
    assert first["w"].is_deleted() and len(places) == 1, "later steps aren't in place"
    assert np.array_equal(state["w"], expected["w"])
    # Whoever looks at it sees what it was: a view, DLPack's, and work of XLA's that may still be under way.
    for name, look in {"a view": np.asarray, "a part": lambda a: np.asarray(a)[3:5], "dlpack": np.from_dlpack}.items():
        view = look(state["w"])
        copy = view.copy()
        state, _ = donating(state, x)
        assert np.array_equal(view, copy), name
        del view
    busy = jnp.linalg.matrix_power(state["w"], 9)
    wanted = np.linalg.matrix_power(np.asarray(state["w"]).copy(), 9)
    state, _ = donating(state, x)
    assert np.allclose(busy, wanted, rtol=1e-3), "XLA's own work"
    own = np.ones((256, 256), np.float32)
    donating({"w": own}, x)
    assert (own == 1).all(), "an array of numpy's was overwritten"
    for again in (lambda: donating({"w": x}, x), lambda: donating(old, x)):
        try:
            again()
            raise AssertionError("a donated array was used twice")
        except (ValueError, RuntimeError):
            pass
    from lowtide import _jit
    count = len(_jit._ours)
    del state, expected, old
    assert len(_jit._ours) < count, "arrays that are gone are remembered"
    return wrong


def files(lowtide, jax, jnp, np, folder):
    def f(params, x):
        return {"y": x @ params["dense"]["w"] + params["b"], "n": params["b"].sum()}
    rng = np.random.default_rng(0)
    params = {"dense": {"w": rng.normal(size=(4, 5)).astype(np.float32)}, "b": rng.normal(size=5).astype(np.float32)}
    x = rng.normal(size=(3, 4)).astype(np.float32)
    path = os.path.join(folder, "f.mlir")
    with open(path, "w") as file:
        file.write(jax.jit(f).lower(params, x).as_text(debug_info=True))
    wanted = [params["b"].sum(), x @ params["dense"]["w"] + params["b"]]
    np.savez(os.path.join(folder, "in.npz"), **{"params/dense/w": params["dense"]["w"], "params/b": params["b"], "x": x})
    for name, inputs in {"a tree": {"params": params, "x": x}, "paths": {"dense/w": params["dense"]["w"], "b": params["b"], "x": x},
                         "numbers": {"arg0": params["b"], "arg1": params["dense"]["w"], "arg2": x}, "a sequence": (params, x), "a file": os.path.join(folder, "in.npz")}.items():
        results = lowtide.run(path, inputs)
        assert all(np.allclose(a, b, rtol=1e-5) for a, b in zip(results, wanted)) and len(results) == 2, name
        assert any("y" in path for path in results.named) and results.plan.sizes["peak"] > 0, results.named
    assert len(lowtide.run(jax.jit(f).lower(params, x))) == 2, "seeded numbers"
    out = os.path.join(folder, "out.safetensors")
    lowtide.run(path, os.path.join(folder, "in.npz"), outputs=out)
    assert os.path.getsize(out) > 60
    for wrong in ({"params": params}, {"params": params, "x": x.T}, {"params": params, "z": x}, (x,), os.path.join(folder, "absent.npz")):
        try:
            lowtide.run(path, wrong)
            raise AssertionError(f"wrong arguments were taken: {wrong}")
        except lowtide.LowtideError as error:
            assert error.kind == "input", (error.kind, error)


INTERRUPTED = """
import lowtide
lowtide.show_progress(True)
program = "HloModule m\\nENTRY main {\\n  a = f32[512,512] parameter(0)\\n" + "".join(
    f"  d{i} = f32[512,512] dot({'a' if i == 0 else f'd{i-1}'}, a), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}\\n"
    f"  e{i} = f32[512,512] exponential(d{i})\\n" for i in range(3000)) + "  ROOT r = f32[512,512] add(e2999, " + "d7)\\n}\\n"
try:
    print("begin", flush=True)
    lowtide._native.Session(limit='7MiB', cache='').read(program.encode(), 'm').plan()
    print("done")
except KeyboardInterrupt:
    print("interrupted", flush=True)
print(lowtide.run("HloModule s\\nENTRY main {\\n  a = f32[2] constant({1, 2})\\n  ROOT r = f32[2] add(a, a)\\n}\\n")[0].tolist())
"""


def interrupts(root, library):
    """A signal while a plan is searched leaves Python alive, and the library as well."""
    environment = os.environ | {"PYTHONPATH": os.path.join(root, "python"), "LOWTIDE_PJRT_LIBRARY": library}
    child = subprocess.Popen([sys.executable, "-c", INTERRUPTED], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
    assert child.stdout.readline().strip() == "begin"
    time.sleep(2.5)
    child.send_signal(signal.SIGINT)
    start = time.monotonic()
    out, err = child.communicate(timeout=120)
    assert child.returncode == 0 and out.splitlines() == ["interrupted", "[2.0, 4.0]"], (child.returncode, out, err[-2000:])
    assert "searching for plans" in err, err
    return time.monotonic() - start


def main():
    try:
        import jax
        import jax.numpy as jnp
        import numpy as np
    except ImportError as error:
        print(f"SKIP: {error}")
        return 0
    library, root = sys.argv[1:3]
    os.environ["LOWTIDE_PJRT_LIBRARY"] = library
    sys.path.insert(0, os.path.join(root, "python"))
    import lowtide
    control = "--control" in sys.argv
    functions(lowtide, jax, jnp, np)
    wrong = donation(lowtide, jax, jnp, np, control)
    with tempfile.TemporaryDirectory() as folder:
        files(lowtide, jax, jnp, np, folder)
    seconds = interrupts(root, library)
    print(f"wrong steps: {wrong}; an interrupt took {seconds:.1f} s")
    return (0 if wrong == [4] else 1) if control else int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
