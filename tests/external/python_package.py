"""python_package.py LIBRARY ROOT: the package lowtide beside stock JAX: explanations of whatever a user has of a program, and fitted
steps, which give what the plain ones give and take less of XLA's memory. --control: a fitted result is spoilt, which must be noticed."""
import os
import sys

sys.dont_write_bytecode = True
os.environ["JAX_PLATFORMS"] = "cpu"


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
        "lowered": lowtide.explain(lowered), "exported": lowtide.explain(exported), "text": lowtide.explain(lowered.as_text()), "a path": lowtide.explain(path),
        "bytes": lowtide.explain(bytes(exported.mlir_module_serialized)),
    }.items():
        assert report.rows and report.data["schema_version"] == 1 and "peak" in str(report), what
        assert "<html" in report.html().lower() and "<iframe" in report._repr_html_(), what
        peaks.add(sum(row["bytes"] for row in report.rows))
    assert len(peaks) == 1, peaks
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
    before, after = fitted.fitted_for(params, x).memory_analysis(params, x)
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
    print(f"XLA's temporaries {before.temp_size_in_bytes} -> {after.temp_size_in_bytes} bytes; wrong steps: {wrong}")
    return wrong


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
    wrong = fits(lowtide, control)
    return (0 if wrong == [3] else 1) if control else int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
