"""python_memory.py LIBRARY ROOT: lowtide.oom on programs that really run out of memory, on XLA and on Lowtide, and lowtide.max_batch,
whose border is looked at by planning both sides of it again. --control: a line of the program is expected elsewhere, which must be noticed."""
import os
import resource
import subprocess
import sys

sys.dont_write_bytecode = True
os.environ.setdefault("JAX_PLATFORMS", "cpu")


def large(x):
    import jax.numpy as jnp
    y = jnp.outer(x, x)  # this line
    y = jnp.sin(y) @ jnp.cos(y)
    return jnp.sort(y, axis=0).sum(1)


def explained(lowtide, call, name, line):
    """The explanation of what failed must be that of `name`, and show the line that made most of it."""
    try:
        with lowtide.oom():
            call()
        raise AssertionError("there was enough memory")
    except lowtide.OutOfMemoryError as error:
        assert error.__cause__ is not None and error.kind == "limit", error
        assert error.report is not None, error
        assert error.report.data["module"] == name, (name, error.report.data["module"])
        rows = [row for row in error.report.rows if row["source"].endswith(f"python_memory.py:{line}")]
        return bool(rows) and "y = jnp." in str(error) and "Next:" not in str(error)


def out_of_memory(lowtide, jax, jnp, control):
    first = large.__code__.co_firstlineno
    made, used = first + 2 + 10 * control, first + 3 + 10 * control
    wrong = []
    def case(what, call, name, line):
        if not explained(lowtide, call, name, line):
            wrong.append(what)
    x = jnp.ones(3_000_000)
    if "--lowtide" in sys.argv:  # compiling fails
        os.environ["LOWTIDE_AS_TEXT"] = ""
        case("compile options", lambda: jax.jit(large, compiler_options={"lowtide_limit": "1MiB"})(jnp.ones(3000)), "jit_large", made)
        return wrong
    case("compiled in there", lambda: jax.jit(large)(x), "jit_large", used)
    f = jax.jit(large)
    try:
        f(x)
    except jax.errors.JaxRuntimeError:
        pass
    case("compiled before", lambda: f(x), "jit_large", used)
    case("our own limit", lambda: lowtide.jit(large, limit="1MiB")(jnp.ones(3000)), "jit_large", made)
    def refuses():
        jax.jit(large).lower(jnp.ones(3000)).compile()
        raise RuntimeError("RESOURCE_EXHAUSTED: Ran out of memory in memory space hbm.")  # as compilers of accelerators say it
    case("a compiler's", refuses, "jit_large", made)
    for error in (ValueError("something else"), KeyboardInterrupt()):
        try:
            with lowtide.oom():
                raise error
        except (ValueError, KeyboardInterrupt) as same:
            assert same is error
    assert not jax.config.values["jax_dump_ir_to"]
    @lowtide.oom()
    def decorated():
        return 3
    assert decorated() == 3
    return wrong


def borders(lowtide, jax, jnp):
    def step(params, x, n):
        def loss(p):
            h = x["x"]
            for w in p["layers"]:
                h = jnp.tanh(h @ w)
            return jnp.mean(jax.nn.logsumexp(h @ p["out"], axis=-1)) * n
        value, slope = jax.value_and_grad(loss)(params)
        return jax.tree.map(lambda p, g: p - 0.1 * g, params, slope), value
    struct = lambda *dims: jax.ShapeDtypeStruct(dims, jnp.float32)
    params = {"layers": [struct(64, 64)] * 2, "out": struct(64, 512)}
    limit = 1 << 20
    for for_ in ("lowtide", "xla", "as_given"):
        found = lowtide.max_batch(step, params, {"x": struct(8, 64)}, 2, limit="1MiB", in_axes=(None, 0), for_=for_, multiple_of=32,
                                  static_argnums=2, donate_argnums=0)
        assert found % 32 == 0 and found.peak <= limit and found.next == found + 32 and found.next_peak > limit, (found, found.tried)
        print(f"for {for_}: {found} rows in {found.peak} bytes, {found.next} need {found.next_peak}")
        if for_ == "lowtide":  # without a search of ours: the plan within the limit, and the refusal
            planned = lambda rows: lowtide.jit(step, limit=limit, static_argnums=2, donate_argnums=0).plan_for(params, {"x": struct(rows, 64)}, 2).sizes["peak"]
            assert planned(int(found)) <= limit
            try:
                raise AssertionError(f"{planned(found.next)} is within the limit")
            except lowtide.LowtideError as error:
                assert error.kind == "limit"
    assert lowtide.max_batch(jnp.sin, struct(4), limit="1GiB", in_axes=0, most=64) == 64
    assert lowtide.max_batch(jnp.sin, struct(4), limit="800", in_axes=0, donate_argnums=0) == 200
    assert lowtide.max_batch(lambda a, b: a + b["v"] * b["w"], struct(4), {"v": struct(3, 4), "w": struct()}, limit="3KiB", in_axes=(0, {"v": 1, "w": None})) > 20
    for wrong in (lambda: lowtide.max_batch(jnp.sin, struct(4), limit="1GiB", in_axes=None), lambda: lowtide.max_batch(jnp.sin, struct(4), limit="1GiB", in_axes=(0, 0)),
                  lambda: lowtide.max_batch(jnp.sin, struct(4), limit="3", in_axes=0), lambda: lowtide.max_batch(jnp.sin, struct(4), limit="much", in_axes=0)):
        try:
            wrong()
            raise AssertionError("nonsense was answered")
        except (ValueError, lowtide.LowtideError):
            pass


def main():
    try:
        import jax
        import jax.numpy as jnp
    except ImportError as error:
        print(f"SKIP: {error}")
        return 0
    resource.setrlimit(resource.RLIMIT_AS, (64 << 30, resource.getrlimit(resource.RLIMIT_AS)[1]))  # in case that the machine promises terabytes
    library, root = sys.argv[1:3]
    os.environ["LOWTIDE_PJRT_LIBRARY"] = library
    sys.path.insert(0, os.path.join(root, "python"))
    import lowtide
    control = "--control" in sys.argv
    wrong = out_of_memory(lowtide, jax, jnp, control)
    if "--lowtide" not in sys.argv:
        environment = os.environ | {"JAX_PLATFORMS": "lowtide", "PYTHONPATH": os.path.join(root, "python")}
        child = subprocess.run([sys.executable, __file__, *sys.argv[1:], "--lowtide"], env=environment, capture_output=True, text=True, timeout=300)
        assert child.returncode == 0, child.stdout + child.stderr
        if not control:
            borders(lowtide, jax, jnp)
    print(f"wrong: {wrong}")
    return int(not wrong) if control else int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
