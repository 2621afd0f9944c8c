"""jax_layouts.py LIBRARY: arrays whose dimensions lie in other orders than row by row, with JAX_PLATFORMS=lowtide, against XLA:CPU
in a process of its own.

Formats of arguments and results, AUTO, donation, views, DLPack, executables from bytes, errors. With --control a result is
spoilt, which must be noticed."""
import json
import sys

sys.dont_write_bytecode = True
from platforms import are_missing, environment, run_again  # noqa: E402


def facts():
    """{name: what must be the same on both platforms}; arrays as their orders and elements."""
    import io
    import pickle

    import jax
    import jax.numpy as jnp
    import numpy as np
    from jax import export
    from jax.experimental import serialize_executable
    from jax.experimental.layout import Format, Layout, with_layout_constraint
    from jax.sharding import SingleDeviceSharding
    here = jax.devices()[0]
    ours = "lowtide" in here.client.platform_version
    sharding, on_host = (SingleDeviceSharding(here, memory_kind=kind) for kind in ("device", "pinned_host"))
    found = {}

    def F(*major_to_minor, sharding=sharding):
        return Format(Layout(major_to_minor), sharding)

    def order(format):
        return list(format.layout.major_to_minor)

    def seen(value):
        return [order(value.format), np.asarray(value).strides, np.asarray(value).tolist()] if isinstance(value, jax.Array) else value

    def fact(name):
        """What a function returns, or the beginning of what it raises."""
        def note(call):
            try:
                found[name] = jax.tree.map(seen, call())
            except Exception as error:
                found[name] = f"{type(error).__name__}: {str(error)[:60]}"
        return note

    x, x3 = np.arange(6, dtype=np.float32).reshape(2, 3), np.arange(24, dtype=np.int32).reshape(2, 3, 4)
    columns = jax.device_put(x, F(1, 0))
    deep = jax.device_put(x3, F(2, 0, 1))

    fact("put")(lambda: [columns, deep, jax.device_put(columns, F(0, 1)), jax.device_put(columns, F(1, 0)), jax.device_put(np.float32(3), F())])
    fact("put.types")(lambda: [jax.device_put(jnp.asarray(x).astype(t), F(1, 0)).astype("float32") for t in ("bfloat16", "bool", "int8", "complex64")])
    fact("put.strided")(lambda: [jax.device_put(np.asfortranarray(x), F(1, 0)), jax.device_put(x3[::-1, :, ::2], F(1, 2, 0)), jax.device_put(np.broadcast_to(x[0], (4, 3)), F(1, 0))])
    fact("put.edges")(lambda: [jax.device_put(np.ones((1, 5), np.float32), F(1, 0)), jax.device_put(np.ones((0, 5), np.float32), F(1, 0))])
    fact("put.host")(lambda: order(jax.device_put(x, F(1, 0, sharding=on_host)).format) + [jax.device_put(x, F(1, 0, sharding=on_host)).sharding.memory_kind])
    fact("eager")(lambda: [columns + 1, columns.T, columns[0], columns[:, 1], columns.at[0, 1].set(9), columns.copy(), deep.sum(1), columns @ columns.T, jnp.sort(deep, axis=0)])
    fact("python")(lambda: [columns.tolist(), [row.tolist() for row in columns], columns.nbytes, columns.on_device_size_in_bytes(), float(columns[1, 2])])
    fact("save")(lambda: (buffer := io.BytesIO(), np.save(buffer, columns), buffer.seek(0), np.load(buffer).tolist())[3])
    fact("pickle")(lambda: pickle.loads(pickle.dumps(columns)))
    fact("gradient")(lambda: jax.grad(lambda a: (a.T @ a).sum())(columns))
    fact("scan")(lambda: jax.lax.scan(lambda c, row: (c + row, c), jnp.zeros(3), columns))
    fact("closure")(lambda: jax.jit(lambda: columns.T + 1)())
    fact("callback")(lambda: jax.jit(lambda a: jax.pure_callback(lambda b: np.asarray(b) * 2, jax.ShapeDtypeStruct((2, 3), np.float32), a))(columns))

    product = jax.jit(lambda a: a.T @ a, in_shardings=F(1, 0), out_shardings=F(1, 0))
    fact("jit")(lambda: [product(columns), product(x), jax.jit(lambda a: a * 2)(columns), jax.jit(lambda a, b: a + b)(columns, x)])
    fact("jit.deep")(lambda: jax.jit(lambda a, b: ({"sum": a.sum(1), "turned": a.transpose(1, 2, 0)}, b), in_shardings=(F(1, 2, 0), None),
                                     out_shardings=({"sum": F(1, 0), "turned": F(2, 1, 0)}, F(1, 0)))(x3, columns))
    compiled = product.lower(x).compile()
    fact("formats")(lambda: [order(compiled.input_formats[0][0]), order(compiled.output_formats), compiled(columns)])
    fact("formats.structs")(lambda: [order(f) for f in jax.tree.leaves(jax.jit(lambda a: a * 2).lower(jax.ShapeDtypeStruct((2, 3), np.float32, sharding=F(1, 0))).compile().input_formats)])
    both = jax.jit(lambda a, b: (a.T, a * 2, b.transpose(1, 2, 0), jnp.sin(b).sum()), in_shardings=Format(Layout.AUTO), out_shardings=Format(Layout.AUTO)).lower(x, x3).compile()
    fact("auto")(lambda: [[order(f) for f in jax.tree.leaves(both.input_formats)], [order(f) for f in both.output_formats], both(x, x3)[:3]])
    fact("auto.called")(lambda: [np.asarray(r).tolist() for r in jax.jit(lambda a: (a.T, a * 2), in_shardings=Format(Layout.AUTO))(x)])
    fact("one function, two orders")(lambda: [(f := jax.jit(lambda a: a * 3 - 1)), f(x), f(columns), f(jax.device_put(x, sharding)), f(columns)][1:])
    fact("constraint")(lambda: jax.jit(lambda a: with_layout_constraint(a * 2, Layout((1, 0))).T + 1)(x))
    fact("constraint.vmap")(lambda: jax.vmap(lambda a: with_layout_constraint(a * 2, Layout((1, 0))))(x3))
    fact("bytes")(lambda: serialize_executable.deserialize_and_load(*serialize_executable.serialize(compiled))(columns))
    fact("export")(lambda: (e := export.deserialize(export.export(product)(x).serialize()), "layout_mode" in e.mlir_module(), e.call(x))[1:])

    def donated(out):
        given = jax.device_put(x, F(1, 0)) + 0 if out is None else jax.device_put(x, F(1, 0))
        place = given.unsafe_buffer_pointer()
        made = jax.jit(lambda a: a * 2, out_shardings=out, donate_argnums=0)(given)
        return [made, given.is_deleted(), made.unsafe_buffer_pointer() == place]

    fact("donate")(lambda: [donated(F(1, 0)), donated(F(0, 1))[:2], donated(None)[:2]])

    def viewed():
        given = jax.device_put(x, F(1, 0))
        view = np.asarray(given)
        made = jax.jit(lambda a: a * 2, out_shardings=F(1, 0), donate_argnums=0)(given)
        return [view.tolist(), made, given.is_deleted()]

    fact("donate.viewed")(viewed)
    fact("put.donate")(lambda: [(y := jax.device_put(x, sharding)), jax.device_put(y, F(1, 0), donate=True), y.is_deleted()][1:])

    fact("dlpack.out")(lambda: [(v := np.from_dlpack(columns)).strides, v.tolist(), (v := np.from_dlpack(deep)).strides, v.tolist()])
    fact("dlpack.own")(lambda: [jnp.from_dlpack(columns), jnp.from_dlpack(deep)])
    taken = jnp.from_dlpack(np.asfortranarray(np.tile(x, (40, 1))))
    fact("dlpack.in")(lambda: [np.asarray(taken).tolist(), (taken + 1).tolist(), jnp.sort(taken, axis=0).tolist()])

    fact("mismatch")(lambda: product(jax.device_put(x, sharding)))
    fact("mismatch.compiled")(lambda: compiled(jax.device_put(x, sharding)))
    fact("rank")(lambda: jax.jit(lambda a: a * 2, out_shardings=F(0, 2, 1))(x))
    fact("donate.auto")(lambda: jax.jit(lambda a: a * 2, in_shardings=F(1, 0), out_shardings=Format(Layout.AUTO), donate_argnums=0).lower(x).compile())

    if ours:
        # Below a byte an element has one here, whatever XLA packs.
        nibbles = jax.device_put(jnp.asarray(x, jnp.int4), F(1, 0))
        assert order(nibbles.format) == [1, 0] and np.array_equal(np.asarray(nibbles.astype(jnp.float32)), x)
        for make in (lambda f: jax.jit(lambda a: a * 2, out_shardings=f)(x), lambda f: jax.jit(lambda a: a * 2, in_shardings=f)(x)):
            try:
                make(Format(Layout((1, 0), ((2, 128),)), sharding))
                raise AssertionError("tiles were taken")
            except jax.errors.JaxRuntimeError as error:
                assert "UNIMPLEMENTED" in str(error) and "tiles" in str(error), error
        # An order that is no other than the program's takes no memory, and a transpose is only another order.
        large = np.zeros((512, 300), np.float32)
        for f, out in ((lambda a: a * 2 + 1, F(1, 0)), (lambda a: a.T, F(0, 1)), (lambda a: a.T + a.T, F(0, 1))):
            memory = jax.jit(f, in_shardings=F(1, 0), out_shardings=out).lower(large).compile().memory_analysis()
            assert memory.temp_size_in_bytes == 0, memory
    return found


def main():
    if are_missing("jax", "numpy"):
        return 0
    library, control = sys.argv[1], "--control" in sys.argv
    ran = [run_again(platform, __file__, "--child", **environment(library, JAX_PLATFORMS=platform)) for platform in ("cpu", "lowtide")]
    if None in ran:
        return 1
    wanted, got = (json.loads(text.splitlines()[-1]) for text in ran)
    if control:
        got["jit"][0][2][0][0] += 1
    wrong = [name for name in wanted if got[name] != wanted[name]]
    for name in wrong:
        print(f"{name}: found {got[name]}, expected {wanted[name]}")
    print(json.dumps({"facts": len(wanted), "wrong": wrong}))
    return (0 if wrong == ["jit"] else 1) if control else int(bool(wrong))


if __name__ == "__main__":
    sys.exit(print(json.dumps(facts())) if sys.argv[1:2] == ["--child"] else main())
