"""python_package.py LIBRARY ROOT: the package lowtide beside stock JAX: explanations of whatever a user has of a program, and fitted
steps, which give what the plain ones give and take less of XLA's memory. --control: a fitted result is spoilt, which must be noticed."""
import os
import sys

sys.dont_write_bytecode = True
os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"


def explanations(lowtide, folder):
    import jax
    import jax.numpy as jnp
    from jax import export

    def f(x):
        return (jnp.sin(x) @ x.T).sum()

    x = jnp.ones((64, 32))
    lowered = jax.jit(f).lower(x)
    exported = export.export(jax.jit(f))(x)
    path = os.path.join(folder, "f.mlir")
    with open(path, "w") as file:
        file.write(lowered.as_text())
    peaks = set()
    for what, report in {
        "a function": lowtide.explain(f, x), "a jitted one": lowtide.explain(jax.jit(f), jax.ShapeDtypeStruct((64, 32), jnp.float32)),
        "lowered": lowtide.explain(lowered), "compiled": lowtide.explain(lowered.compile()), "exported": lowtide.explain(exported), "text": lowtide.explain(lowered.as_text()), "a path": lowtide.explain(path),
        "bytes": lowtide.explain(bytes(exported.mlir_module_serialized)),
    }.items():
        assert report.rows and report.data["schema_version"] == 1 and "peak" in str(report), what
        assert "<html" in report.html().lower() and "<iframe" in report._repr_html_(), what
        assert all(not isinstance(value, (dict, list)) for row in report.rows for value in row.values()), "rows are flat"
        assert report.peak > 0 and report.planned_peak > 0 and str(report.peak) in repr(report)
        if what != "compiled":  # that is in XLA's order, with its fusions
            peaks.add(sum(row["bytes"] for row in report.rows))
    assert len(peaks) == 1, peaks
    try:
        import pandas
        table = pandas.DataFrame(report.rows)
        assert {"value", "shape", "bytes", "category", "source"} <= set(table.columns) and table["bytes"].sum() in peaks
    except ImportError:
        pass
    import logging
    lines = []
    class Keeps(logging.Handler):
        def emit(self, record):
            lines.append(record.getMessage())
    keeps = Keeps()
    logging.getLogger("lowtide").addHandler(keeps)
    os.environ["LOWTIDE_DEBUG"] = "2"  # what the library says goes to the log
    try:
        lowtide.explain(lowered)
    finally:
        del os.environ["LOWTIDE_DEBUG"]
        logging.getLogger("lowtide").removeHandler(keeps)
    assert lines
    for suffix in ("html", "json"):
        report.save(os.path.join(folder, "report." + suffix))
        assert os.path.getsize(os.path.join(folder, "report." + suffix)) > 1000
    assert lowtide.explain(lowtide.explain.__doc__ and lowered, rows=0).text()
    for wrong, kind in (("module @m {\n", "input"), (os.path.join(folder, "absent.mlir"), "input")):
        try:
            lowtide.explain(wrong)
            raise AssertionError("what is no program was explained")
        except lowtide.LowtideError as error:
            assert error.kind == kind, (error.kind, str(error))
    try:
        lowtide.explain(3)
        raise AssertionError("a number was explained")
    except TypeError:
        pass


def fits(lowtide, control):
    import jax
    import jax.numpy as jnp
    import numpy as np

    def step(params, x, scale=1.0):
        def loss(p):
            h = x
            for w in p["layers"]:
                h = jnp.tanh(h @ w)
            return jnp.mean(jax.nn.logsumexp(h @ p["out"], axis=-1)) * scale
        value, slope = jax.value_and_grad(loss)(params)
        return jax.tree.map(lambda p, g: p - 0.1 * g, params, slope), value

    key = jax.random.key(0)
    params = {"layers": [jax.random.normal(k, (64, 64)) / 8 for k in jax.random.split(key, 3)], "out": jax.random.normal(key, (64, 2048)) / 8}
    x = jax.random.normal(key, (512, 64))
    plain, fitted = jax.jit(step), lowtide.fit(step, donate_argnums=0)
    before, after = fitted.fitted_for(params, x).memory_analysis()
    assert after.temp_size_in_bytes < before.temp_size_in_bytes, (after, before)
    expected, got = params, jax.tree.map(jnp.copy, params)
    wrong = []
    for i in range(5):
        old = got
        expected, wanted = plain(expected, x)
        got, value = fitted(got, x)
        assert old["out"].is_deleted(), "nothing was donated"
        value = float(value) * (1.01 if control and i == 3 else 1)
        if abs(value - float(wanted)) > 1e-5 * abs(float(wanted)):
            wrong.append(i)
    assert all(np.allclose(a, b, rtol=1e-4, atol=1e-5) for a, b in zip(jax.tree.leaves(expected), jax.tree.leaves(got)))
    inner = lowtide.fit(lambda x: jnp.tanh(x @ x.T).sum(0))
    assert np.allclose(jax.jit(lambda x: inner(x) * 2)(x), 2 * jnp.tanh(x @ x.T).sum(0), atol=1e-4), "under jit"
    static = lowtide.fit(lambda x, n: x ** n, static_argnums=1)
    assert np.allclose(static(x, 3), x ** 3, atol=1e-4) and np.allclose(static(x, 2), x ** 2, atol=1e-4), "static arguments"
    named = lowtide.fit(step)(params, x, scale=jnp.float32(2.0))[1]
    assert abs(float(named) - 2 * float(plain(params, x)[1])) < 1e-4 * abs(float(named)), "named arguments"
    fit = fitted.fitted_for(params, x)
    assert fit.is_rewritten and fitted.plan["peak_bytes"] > 0 and fitted.memory_analysis() == (before, after) and "XLA takes" in fit.text
    assert fitted.lower(params, x).compile().memory_analysis().temp_size_in_bytes == after.temp_size_in_bytes

    peak = lambda analysis: analysis.argument_size_in_bytes + analysis.output_size_in_bytes - analysis.alias_size_in_bytes + analysis.temp_size_in_bytes
    struct = jax.ShapeDtypeStruct((512, 64), jnp.float32)
    middle = (peak(before) + peak(after)) // 2
    within = lowtide.fit(step, limit=middle, donate_argnums=0).fitted_for(params, struct)
    assert within.is_rewritten and peak(within.after) <= middle, "a limit"
    kept = lowtide.fit(step, limit="1GiB", donate_argnums=0).fitted_for(params, struct)
    assert not kept.is_rewritten and kept.before is kept.after and "stays as it is" in kept.text, "a limit that is met already"
    least = lowtide.fit(lambda x: jnp.sin(x), limit=None)
    assert np.array_equal(least(x), jnp.sin(x)) and not least.fitted_for(x).is_rewritten, "what XLA runs in no less stays"
    for call, kind in ((lambda: lowtide.fit(step, limit="500KiB", donate_argnums=0)(params, x), "limit"), (lambda: lowtide.fit(step).plan, "usage")):
        try:
            call()
            raise AssertionError("no fault: " + kind)
        except lowtide.LowtideError as error:
            assert error.kind == kind, error

    def sentence(call, kind, words):
        try:
            call()
            raise AssertionError("no fault: " + words)
        except kind as error:
            assert words in str(error), error
    loss = lambda x: lowtide.fit(step)(params, x)[1]
    sentence(lambda: jax.grad(loss)(x), TypeError, "fit the step, not the loss")
    sentence(lambda: jax.jvp(loss, (x,), (x,)), TypeError, "fit the step, not the loss")
    sentence(lambda: jax.vmap(loss)(x[None]), NotImplementedError, "fit the batched function")
    sentence(lambda: lowtide.fit(step, for_="lowtide"), ValueError, "lowtide.jit")
    return wrong_steps(wrong, before, after)


def wrong_steps(wrong, before, after):
    print(f"XLA's temporaries {before.temp_size_in_bytes} -> {after.temp_size_in_bytes} bytes; wrong steps: {wrong}")
    return wrong


def kinds_of_arguments(lowtide):
    """What arguments may be: each gives what the plain function gives, of the same types, on the same devices."""
    import jax
    import jax.numpy as jnp
    import numpy as np
    from jax.sharding import NamedSharding, PartitionSpec

    def soft(x, w, key):
        noise = jax.random.normal(key, x.shape, x.dtype)
        y = jax.nn.softmax((x + noise) @ w @ (w.T @ x.T), axis=-1)
        return y.sum(0), jax.random.split(key)[0], y.max() * 2

    def same(got, wanted, what):
        for a, b in zip(jax.tree.leaves(got), jax.tree.leaves(wanted)):
            assert a.dtype == b.dtype and a.shape == b.shape and getattr(a, "weak_type", 0) == getattr(b, "weak_type", 0), (what, a, b)
            if jax.dtypes.issubdtype(a.dtype, jax.dtypes.prng_key):
                a, b = jax.random.key_data(a), jax.random.key_data(b)
            assert np.allclose(a, b, rtol=1e-4, atol=1e-5), what

    key = jax.random.key(5)
    x, w = jax.random.normal(key, (256, 32)), jax.random.normal(key, (32, 32)) / 6
    for name, args in {"keys": (x, w, key), "numbers as keys": (x, w, jax.random.PRNGKey(3)), "numpy": (np.asarray(x), w, key)}.items():
        same(lowtide.fit(soft)(*args), jax.jit(soft)(*args), name)
    weak = lambda x, a, b: ((x * a) @ (x * b).T).sum(0) * a
    same(lowtide.fit(weak)(x.astype(jnp.bfloat16), 2.0, 3), jax.jit(weak)(x.astype(jnp.bfloat16), 2.0, 3), "weak types")
    with jax.enable_x64(True):
        wide = jnp.asarray(np.asarray(x), jnp.float64)
        fitted = lowtide.fit(lambda x: jax.nn.softmax(x @ x.T).sum(0))
        assert fitted(wide).dtype == jnp.float64
        same(fitted(wide), jax.nn.softmax(wide @ wide.T).sum(0), "x64")
        assert fitted(x).dtype == jnp.float32
    how = lowtide.fit(lambda x, *, how: jnp.exp(x @ x.T).sum(0) if how == "exp" else x, static_argnames="how")
    same((how(x / 9, how="exp"), how(x, how="id")), (jnp.exp(x / 9 @ x.T / 9).sum(0), x), "static by name")
    inner = jax.jit(lambda x, n: (x @ x.T).sum(0) * n, static_argnums=1, donate_argnums=0)
    given = jnp.copy(x)
    same(lowtide.fit(inner)(given, 3), (x @ x.T).sum(0) * 3, "jitted")

    mesh = jax.make_mesh((4,), ("d",))
    place = lambda array, *spec: jax.device_put(array, NamedSharding(mesh, PartitionSpec(*spec)))
    spread = (place(x, "d"), place(w), place(jax.random.PRNGKey(3)))
    def sharded(x, w, key):
        y = jnp.tanh(x @ w)
        return y, (y * y).sum(), jax.random.split(key)[0]
    got, wanted = lowtide.fit(sharded)(*spread), jax.jit(sharded)(*spread)
    same(got, wanted, "sharded")
    assert len(got[0].sharding.device_set) == 4 and got[0].addressable_shards[0].data.shape == wanted[0].addressable_shards[0].data.shape, got[0].sharding


def main():
    import tempfile
    try:
        import flatbuffers  # noqa: F401
        import jax  # noqa: F401
    except ImportError as error:
        print(f"SKIP: {error}")
        return 0
    os.environ["LOWTIDE_PJRT_LIBRARY"] = sys.argv[1]
    sys.path.insert(0, os.path.join(sys.argv[2], "python"))
    import lowtide
    control = "--control" in sys.argv
    with tempfile.TemporaryDirectory() as folder:
        explanations(lowtide, folder)
    kinds_of_arguments(lowtide)
    wrong = fits(lowtide, control)
    return (0 if wrong == [3] else 1) if control else int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
