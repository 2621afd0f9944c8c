"""jax_foreign.py LIBRARY: foreign functions (jax.ffi) with JAX_PLATFORMS=lowtide, against XLA:CPU in a process of its own.

The handlers of jax_foreign.cpp, compiled with jaxlib's headers: under jit, in loops, batches and derivatives; attributes of every kind,
arrays of every type, results in an operand's memory, states, tasks, scratch, futures, effects, errors; what a process with both platforms
and lowtide.jit make of them. With --control one result and one message are spoilt, which must be noticed."""
import ctypes
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from platforms import are_missing, environment, run_again  # noqa: E402

SPOILT = ("scan", "refused")
TARGETS = {"normalise": "Normalise", "attributes": "Attributes", "any": "Any", "add_in_place": "AddInPlace", "effect": "Effect", "in_tasks": "InTasks", "later": "Later",
           "by_scratch": "ByScratch"}


def registered(path):
    """The library, with its functions as targets."""
    import jax
    library = ctypes.CDLL(path)
    for target, symbol in TARGETS.items():
        jax.ffi.register_ffi_target(target, jax.ffi.pycapsule(getattr(library, symbol)), platform="cpu")
    library.counter_id.restype = library.counter_info.restype = ctypes.c_void_p
    capsule = lambda address: jax.ffi.pycapsule(ctypes.c_void_p(address))
    jax.ffi.register_ffi_type("counter", {"type_id": capsule(library.counter_id()), "type_info": capsule(library.counter_info())}, platform="cpu")
    stages = {"instantiate": jax.ffi.pycapsule(library.CountInstantiate), "execute": jax.ffi.pycapsule(library.CountExecute)}
    jax.ffi.register_ffi_target("count", stages, platform="cpu")
    library.effects_so_far.restype = ctypes.c_int64
    return library


def normaliser(jax, np):
    def normalise(x, eps=1e-5):
        return jax.ffi.ffi_call("normalise", jax.ShapeDtypeStruct(x.shape, x.dtype), vmap_method="broadcast_all")(x, eps=np.float32(eps))

    @jax.custom_vjp
    def with_slope(x):
        return normalise(x)
    with_slope.defvjp(lambda x: (normalise(x), x), lambda x, g: (jax.vjp(plain, x)[1](g)[0],))

    def plain(x):
        return x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-5)
    return normalise, with_slope


def arrays_of(jax, jnp, np, library):
    normalise, with_slope = normaliser(jax, np)
    x = jnp.linspace(-1, 2, 24, dtype=jnp.float32).reshape(4, 6)
    like = jax.ShapeDtypeStruct
    call = jax.ffi.ffi_call
    attributes = {
        "a": np.int8(-5), "b": np.uint8(250), "c": np.int16(-300), "d": np.int32(-70000), "e": np.int64(-5000000000), "f": np.uint64(1 << 40), "g": np.float32(0.1234567),
        "h": 0.1 + 1e-15, "i": True, "name": 'a "b\\\n', "numbers": np.arange(-1, 4, dtype=np.int32), "reals": np.array([1 / 3, -2.5e300]),
        "inner": {"x": np.float32(7.25), "word": "inner"}}
    results = {
        "eager": normalise(x), "jit": jax.jit(lambda x: normalise(x + 1) * 2)(x), "eps": jax.jit(lambda x: normalise(x, 0.5))(x),
        "vmap": jax.vmap(normalise)(x), "scan": jax.lax.scan(lambda c, r: (normalise(c + r), c.sum()), x[0], x),
        "while": jax.lax.fori_loop(0, 5, lambda i, c: normalise(c) + 0.1, x), "grad": jax.jit(jax.grad(lambda x: (with_slope(x) ** 3).sum()))(x),
        "cond": jax.lax.cond(x[0, 0] < 0, normalise, lambda x: x, x), "empty": normalise(jnp.zeros((3, 0), jnp.float32)),
        "fused": jax.jit(lambda x: jnp.tanh(normalise(jnp.sin(x).T)).sum(0))(x),
        "in place": jax.jit(lambda x: (call("add_in_place", like(x.shape, x.dtype), input_output_aliases={0: 0})(x * 2), x))(x),
        "tasks": jax.jit(lambda x: call("in_tasks", like(x.shape, x.dtype))(x))(x.ravel()), "later": jax.jit(lambda x: call("later", like(x.shape, x.dtype))(x, fails=False))(x),
    }
    # The handler walks what it is given element after element: other orders give other numbers.
    deep = jnp.arange(24, dtype=jnp.float32).reshape(2, 3, 4)
    for name, value, ins, outs in (("columns", x, (1, 0), (1, 0)), ("from columns", x, (1, 0), None), ("to columns", x, None, (1, 0)), ("deep", deep, (1, 2, 0), (2, 0, 1))):
        ordered = call("normalise", like(value.shape, value.dtype), input_layouts=[ins], output_layouts=outs)
        results[name] = [ordered(value, eps=np.float32(1e-5)), jax.jit(lambda v: jnp.sin(ordered(v * 2, eps=np.float32(1e-5))).T)(value)]
    with jax.enable_x64(True):
        results["attributes"] = jax.jit(lambda: call("attributes", like((21,), jnp.float64))(**attributes))()
        ones = [jnp.ones((2, k + 1), dtype) for k, dtype in enumerate(("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "bfloat16",
                                                                         "float32", "float64", "complex64", "complex128", "float8_e4m3fn", "float8_e5m2"))]
        made = jax.jit(lambda *ones: call("any", [like((64,), jnp.int32), like((3, 2), jnp.uint8), like((), jnp.bfloat16), like((0, 4), jnp.float32)])(*ones))(*ones, jnp.zeros((0, 2)), 3)
        results["any"] = [made[0][:len(ones) * 3 + 6], *made[1:]]
    count = jax.jit(lambda x: x + call("count", like((), jnp.int32))(step=np.int64(3)))
    results["state"] = [count(0), count(100), count(200)]
    before = library.effects_so_far()
    told = jax.jit(lambda x: (call("effect", [], has_side_effect=True)(x), jax.lax.fori_loop(0, 3, lambda i, c: (call("effect", [], has_side_effect=True)(c), c + 1)[1], x))[1])
    results["effect"] = [jax.block_until_ready(told(jnp.full((2,), 4.0))), np.int64(library.effects_so_far() - before)]
    leaves = lambda value: [np.asarray(v) for v in jax.tree.leaves(value)]
    plain = lambda v: v.astype(np.float32) if v.dtype.kind not in "?biufc" else v
    return {f"{name} {k}": plain(leaf) for name, value in results.items() for k, leaf in enumerate(leaves(value))}


def messages_of(jax, jnp, np):
    """What is wrong is said by whoever waits, and all goes on."""
    call, like, x = jax.ffi.ffi_call, jax.ShapeDtypeStruct, jnp.ones(3)

    def said(make, words):
        try:
            jax.block_until_ready(jax.jit(make)(x))
        except Exception as error:  # noqa: BLE001: its words are compared
            return words if words in str(error) else f"{type(error).__name__}: {error}"
        return "nothing"
    return {
        "refused": said(lambda x: call("normalise", like((), x.dtype))(x[0], eps=np.float32(1)), "normalise takes an array, and was given a number"),
        "attribute": said(lambda x: call("normalise", like(x.shape, x.dtype))(x), "Wrong number of attributes: expected 1 but got 0"),
        "type": said(lambda x: call("normalise", like(x.shape, x.dtype))(x, eps=1), "Wrong scalar data type: expected F32 but got S64"),
        "count": said(lambda x: call("normalise", like(x.shape, x.dtype))(x, x, eps=np.float32(1)), "Wrong number of arguments"),
        "later": said(lambda x: call("later", like(x.shape, x.dtype))(x, fails=True), "it failed later"),
        "unknown": said(lambda x: call("no such target", like(x.shape, x.dtype))(x), "no such target"),
        "after": said(lambda x: call("normalise", like(x.shape, x.dtype))(x, eps=np.float32(1)), "?"),
    }


def child(library, out):
    import jax
    import jax.numpy as jnp
    import numpy as np
    opened = registered(library)
    np.savez(out, **arrays_of(jax, jnp, np, opened))
    print(json.dumps(messages_of(jax, jnp, np)))


def both(library):
    """On both platforms of one process, registered before and after they begin; lowtide.jit; an executable as bytes."""
    import jax
    import jax.numpy as jnp
    import numpy as np
    import lowtide
    opened = registered(library)
    normalise, _ = normaliser(jax, np)
    x = jnp.arange(6.0).reshape(2, 3)
    ours, theirs = jax.devices("lowtide")[0], jax.devices("cpu")[0]
    jax.ffi.register_ffi_target("normalise again", jax.ffi.pycapsule(opened.Normalise), platform="cpu")
    again = jax.jit(lambda x: jax.ffi.ffi_call("normalise again", jax.ShapeDtypeStruct(x.shape, x.dtype))(x, eps=np.float32(1e-5)))
    want = np.asarray(x) / np.sqrt((np.asarray(x) ** 2).mean(-1, keepdims=True) + 1e-5)
    for device in (ours, theirs):
        for function in (jax.jit(normalise), again):
            value = function(jax.device_put(x, device))
            assert value.devices() == {device} and np.allclose(value, want, rtol=1e-5), (device, value)
    scratch = jax.jit(lambda x: jax.ffi.ffi_call("by_scratch", jax.ShapeDtypeStruct(x.shape, x.dtype))(x))
    assert np.array_equal(scratch(jax.device_put(x, ours)), x)
    assert np.allclose(lowtide.jit(normalise)(np.asarray(x)), want, rtol=1e-5)
    from jax.experimental import serialize_executable
    with jax.default_device(ours):
        compiled = jax.jit(normalise).lower(x).compile()
        reloaded = serialize_executable.deserialize_and_load(*serialize_executable.serialize(compiled), execution_devices=[ours])
        assert np.allclose(reloaded(jax.device_put(x, ours)), want, rtol=1e-5)


def main():
    if len(sys.argv) > 2 and sys.argv[2] == "--child":
        return child(sys.argv[3], sys.argv[4])
    if len(sys.argv) > 2 and sys.argv[2] == "--both":
        return both(sys.argv[3])
    if are_missing("jax"):
        return 0
    import jax
    import numpy as np
    compiler = shutil.which(os.environ.get("CXX", "g++"))
    if not compiler:
        print("SKIP: no compiler")
        return 0
    plugin, control, here = sys.argv[1], "--control" in sys.argv, pathlib.Path(__file__)
    with tempfile.TemporaryDirectory() as folder:
        handlers = f"{folder}/handlers.so"
        subprocess.run([compiler, "-std=c++17", "-O1", "-shared", "-fPIC", "-pthread", "-isystem", jax.ffi.include_dir(), str(here.with_suffix(".cpp")), "-o", handlers], check=True)
        arrays, messages = {}, {}
        for platform in ("cpu", "lowtide"):
            out = f"{folder}/{platform}.npz"
            said = run_again(platform, str(here), plugin, "--child", handlers, out, **environment(plugin, JAX_PLATFORMS=platform))
            if said is None:
                return 1
            arrays[platform], messages[platform] = dict(np.load(out)), json.loads(said.splitlines()[-1])
        if run_again("both", str(here), plugin, "--both", handlers, **environment(plugin, JAX_PLATFORMS="lowtide,cpu")) is None:
            return 1
    if control:
        arrays["lowtide"][f"{SPOILT[0]} 0"] = arrays["lowtide"][f"{SPOILT[0]} 0"] + 1
        messages["lowtide"][SPOILT[1]] += "!"
    wrong = [name for name, value in arrays["cpu"].items()
             if name not in arrays["lowtide"] or value.shape != arrays["lowtide"][name].shape or value.dtype != arrays["lowtide"][name].dtype
             or not np.allclose(value, arrays["lowtide"][name], rtol=1e-5, atol=1e-6, equal_nan=True)]
    wrong += [f"{name}: {messages['lowtide'][name]!r}, with XLA:CPU {said!r}" for name, said in messages["cpu"].items() if messages["lowtide"][name] != said]
    for line in wrong:
        print(line)
    print(f"{len(arrays['cpu'])} arrays and {len(messages['cpu'])} messages of foreign functions, {len(wrong)} differ")
    if control:
        return 0 if len(wrong) == 2 else 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
