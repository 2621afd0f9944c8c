"""jax_platform.py LIBRARY: programs of JAX's with JAX_PLATFORMS=lowtide, against XLA:CPU in a process of its own.

Jitted and eager functions, donation, views that outlive their array, errors, threads, executables from bytes. With --control a
result is spoilt, which must be noticed."""
import json
import os
import sys

sys.dont_write_bytecode = True
from platforms import are_missing, environment, run_again  # noqa: E402


def programs():
    """{name: result}; what isn't compared with XLA asserts for itself."""
    import threading

    import jax
    import jax.numpy as jnp
    import numpy as np
    ours = "lowtide" in jax.devices()[0].client.platform_version
    results = {}
    key = jax.random.key(7)
    x, y = jax.random.normal(key, (33, 17)), jnp.arange(12, dtype=jnp.int32).reshape(3, 4)

    eager = {
        "sin": jnp.sin(x), "sum": x.sum(0), "sort": jnp.sort(x, axis=1), "argmax": jnp.argmax(x, axis=0), "cumsum": jnp.cumsum(x, axis=1),
        "where": jnp.where(x > 0, x, -1), "take": x[jnp.array([3, 1, 3])], "at": x.at[2].add(1.0), "int": y // 5 + y % 3, "bool": (y > 4).any(1),
        "bf16": x.astype(jnp.bfloat16) * 3, "complex": jnp.fft.fft(x[0]), "solve": jnp.linalg.solve(x[:17] + 9 * jnp.eye(17), x[17]),
        "eigh": jnp.linalg.eigh(x.T @ x)[0], "svd": jnp.linalg.svd(x, compute_uv=False), "qr": jnp.abs(jnp.linalg.qr(x)[1]), "erf": jax.scipy.special.erf(x),
        "top_k": jax.lax.top_k(x, 4)[0], "uniform": jax.random.uniform(key, (50,)), "conv": jnp.convolve(x[0], x[1]), "scalar": jnp.float32(3) ** 2, "empty": jnp.zeros((0, 3)) + 1,
        "einsum": jnp.einsum("ij,kj->ik", x, x), "pad": jnp.pad(x, 2), "searchsorted": jnp.searchsorted(jnp.arange(9.0), x[0]),
    }
    results |= {f"eager.{name}": value for name, value in eager.items()}

    def loss(params, x):
        return jnp.mean((jnp.tanh(x @ params["in"]) @ params["out"] - x.sum(1, keepdims=True)) ** 2)

    @jax.jit
    def scanned(x):
        return jax.lax.scan(lambda c, row: (c * 0.9 + row, jnp.sin(c).sum()), jnp.zeros(17), x)

    def step(params, x):
        value, slope = jax.value_and_grad(loss)(params, x)
        return jax.tree.map(lambda p, g: p - 0.05 * g, params, slope), value

    donating = jax.jit(step, donate_argnums=0)
    params = {"in": jax.random.normal(key, (17, 64)) / 4, "out": jax.random.normal(key, (64, 1)) / 8}
    losses = []
    for _ in range(20):
        before = params
        params, value = donating(params, x)
        losses.append(value)
    assert before["in"].is_deleted() and not params["in"].is_deleted()
    results |= {"train.losses": jnp.stack(losses), "train.in": params["in"], "scan": scanned(x)[1]}
    results["while"] = jax.lax.while_loop(lambda v: v[0] < 10, lambda v: (v[0] + 1, v[1] * 1.5), (0, x))[1]
    results["cond"] = jax.jit(lambda x: jax.lax.cond(x.sum() > 0, jnp.sin, jnp.cos, x))(x)
    results["vmap"] = jax.vmap(lambda a, b: jnp.outer(a, b).sum(0))(x, x)

    # Kinds of memory are names, as on XLA:CPU: arguments and results have them, and they change no value.
    from jax.ad_checkpoint import checkpoint_name
    device = jax.devices()[0]
    here, host, other = (jax.sharding.SingleDeviceSharding(device, memory_kind=kind) for kind in ("device", "pinned_host", "unpinned_host"))
    assert [memory.kind for memory in device.addressable_memories()] == ["device", "pinned_host", "unpinned_host"] and device.default_memory().kind == "device"
    on_host, elsewhere = jax.device_put(x, host), jax.device_put(x, other)
    assert [jax.jit(jnp.sin)(a).sharding.memory_kind for a in (x, on_host, elsewhere)] == ["device", "pinned_host", "device"]
    placed = jax.jit(lambda a, b: (jax.device_put(a, here) * 2, a, b + 1), out_shardings=(here, host, None))
    moved = placed(on_host, elsewhere)
    assert [a.sharding.memory_kind for a in moved] == ["device", "pinned_host", "device"]
    compiled = placed.lower(on_host, elsewhere).compile()
    assert [s.memory_kind for s in jax.tree.leaves(compiled.input_shardings)] == ["pinned_host", "unpinned_host"]
    offload = jax.checkpoint_policies.save_and_offload_only_these_names(
        names_which_can_be_saved=[], names_which_can_be_offloaded=["wave"], offload_src="device", offload_dst="pinned_host")
    waves = jax.checkpoint(lambda a: jnp.sin(checkpoint_name(jnp.sin(a), "wave")).sum(), policy=offload)
    results |= {"memory.moved": moved[0] + jax.device_put(moved[1], here), "memory.kept": moved[2], "memory.offloaded": jax.jit(jax.grad(waves))(x)}
    results["memory.in_place"] = jax.jit(lambda a: a + 1, donate_argnums=0)(jax.device_put(x * 3, host))

    # A view outlives its array, and doesn't see what a donated run would have written.
    array = jnp.arange(1000.0)
    view = np.asarray(array)
    bumped = jax.jit(lambda a: a + 1, donate_argnums=0)(array)
    del array
    assert view[999] == 999 and bumped[999] == 1000
    # Arguments from numpy: strided, negative strides, broadcast, empty, small types, and the largest that may stay where it is.
    source = np.arange(24, dtype=np.float32).reshape(4, 6)
    for name, given in {"transposed": source.T, "reversed": source[::-1, ::2], "broadcast": np.broadcast_to(source[0], (3, 6)), "empty": source[:0],
                        "half": source.astype(np.float16), "bool": source > 5, "int8": source.astype(np.int8)}.items():
        assert np.array_equal(np.asarray(jnp.asarray(given)), given), name
    aligned = np.zeros(4096 + 16, np.float32)
    aligned = aligned[(-aligned.ctypes.data % 64) // 4:][:4096]
    aligned[:] = 3
    assert float(jax.jit(lambda a: a.sum(), donate_argnums=0)(jnp.asarray(aligned))) == 3 * 4096 and (aligned == 3).all()
    # Several threads call one function.
    doubled = jax.jit(lambda a: (a * 2).sum())
    seen = [None] * 4
    def call(i):
        seen[i] = [float(doubled(x + i)) for _ in range(50)]
    threads = [threading.Thread(target=call, args=(i,)) for i in range(4)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    results["threads"] = np.array([row[-1] for row in seen])
    assert all(len(set(row)) == 1 for row in seen)
    for name in ("nonsense", "lowtide_limits", "limit"):  # XLA knows none of these, either
        try:
            jax.jit(lambda a: a + 1, compiler_options={name: 1})(x)
            raise AssertionError(f"{name} was taken as a compile option")
        except jax.errors.JaxRuntimeError as error:
            assert f"No such compile option: '{name}'" in str(error), error
    if ours:
        jax.jit(lambda a: a + 2, compiler_options={"xla_cpu_enable_fast_math": True})(x)
        for extent in (1 << 45, 1 << 50):
            try:
                jnp.ones(extent).block_until_ready()
                raise AssertionError("memory was found that isn't there")
            except jax.errors.JaxRuntimeError as error:
                assert "RESOURCE_EXHAUSTED" in str(error), error
        gone = jnp.ones(3)
        gone.delete()
        try:
            gone + 1
            raise AssertionError("a deleted array was used")
        except RuntimeError as error:
            assert "deleted" in str(error), error
        try:
            jax.jit(lambda a: (a @ a.T).sum(), compiler_options={"lowtide_limit": "1KiB"})(x)
            raise AssertionError("a limit that nothing meets was met")
        except Exception as error:
            assert "RESOURCE_EXHAUSTED" in str(error), error
        compiled = jax.jit(lambda a: jnp.sin(a @ a.T).sum()).lower(x).compile()
        size = x.shape[0]
        flops = compiled.cost_analysis()["flops"]  # of the product, the sines and the sum
        assert flops == 2 * size * size * x.shape[1] + 2 * size * size, flops
        memory = compiled.memory_analysis()
        assert memory.argument_size_in_bytes == x.nbytes and memory.output_size_in_bytes == 4, memory
        rows = tuple(range(x.ndim))  # row by row, as arrays always lie
        assert x.format.layout.major_to_minor == rows and compiled.input_formats[0][0].layout.major_to_minor == rows, compiled.input_formats
        assert compiled.output_formats.layout.major_to_minor == (), compiled.output_formats
        from jax.experimental import serialize_executable
        again = serialize_executable.deserialize_and_load(*serialize_executable.serialize(compiled))
        assert np.array_equal(again(x), compiled(x))
        assert jax.devices()[0].memory_stats()["bytes_in_use"] > 0
        asynchronous()
        from_the_host()
        # Memory of arrays and arenas that are gone is the machine's again, but for a little.
        def resident():
            with open("/proc/self/status") as file:
                return next(int(line.split()[1]) for line in file if line.startswith("VmRSS:")) / 1024
        jnp.full((4 << 20,), 1.0).block_until_ready().delete()  # compiles, and leaves what is kept
        before = resident()
        arrays = [jnp.full((4 << 20,), float(i)) for i in range(10)]
        jax.block_until_ready(arrays)
        assert resident() - before > 120, "nothing was made"
        del arrays
        assert resident() - before < 80, resident() - before
    return {name: np.asarray(value) for name, value in results.items()}


def from_the_host():
    """Where XLA's CPU isn't asked for, the host is Lowtide's device; memory of others is taken in any layout."""
    import jax
    import jax.numpy as jnp
    import ml_dtypes
    import numpy as np
    assert jax.devices("cpu") == jax.devices() == jax.devices("lowtide")
    source = np.arange(24).reshape(2, 3, 4)
    for dtype in (np.float32, np.int8, np.complex64, np.bool_):
        for given in (source.astype(dtype), source.astype(dtype).T, np.asfortranarray(source.astype(dtype))):
            taken = jnp.from_dlpack(given)
            assert np.array_equal(taken, given) and np.array_equal(jnp.flip(taken), np.flip(given)), (dtype, given.strides)
    # ml_dtypes leaves anything in the bits beyond an element's.
    for dtype in (ml_dtypes.int4, ml_dtypes.uint4, ml_dtypes.int2, ml_dtypes.uint2):
        limits = ml_dtypes.iinfo(dtype)
        given = np.arange(int(limits.min), int(limits.max) + 1).astype(dtype)
        assert np.array_equal(np.asarray(jnp.asarray(-given).astype(jnp.int32)), (-given).astype(np.int32)), dtype


def asynchronous():
    """Runs that take time are waited for where their results are wanted, and nowhere else."""
    import resource
    import time

    import jax
    import jax.numpy as jnp
    import numpy as np
    x = jnp.ones((600, 600))
    slow = jax.jit(lambda x: jax.lax.fori_loop(0, 60, lambda i, a: jnp.tanh(a @ a * 0.01), x))
    wanted = np.asarray(slow(x))
    start = time.perf_counter()
    y = slow(x)
    handed_over, ready = time.perf_counter() - start, y.is_ready()
    y.block_until_ready()
    assert not ready and handed_over < (time.perf_counter() - start) / 4, (handed_over, ready)
    # Deleted, donated and looked at while it isn't there yet.
    y = slow(x)
    z = y + 1
    y.delete()
    assert np.array_equal(z, wanted + 1)
    halve = jax.jit(lambda a: a * 0.5, donate_argnums=0)
    y = slow(x)
    total, half = slow(y), halve(y)
    assert y.is_deleted() and np.array_equal(half, wanted * 0.5) and np.array_equal(total, slow(jnp.asarray(wanted)))
    # A donated array stays where it is, however many runs are waiting.
    large, bump = jnp.zeros(1 << 20), jax.jit(lambda a: jax.lax.fori_loop(0, 20, lambda i, b: jnp.sin(b) + 1, a), donate_argnums=0)
    large = bump(large)
    place = large.unsafe_buffer_pointer()
    for _ in range(50):
        large = bump(large)
    assert large.unsafe_buffer_pointer() == place
    # Arrays between eager operations, which nobody has any more, are where their results come to lie.
    def resident(key):
        with open("/proc/self/status") as file:
            return next(int(line.split()[1]) for line in file if line.startswith(key)) / 1024
    start = jnp.ones(32 << 20)  # 128 MiB
    for _ in range(2):
        before = resident("VmRSS:")
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")
        z = slow(x)[0, 0] * 0 + start  # the others wait after it
        for _ in range(4):
            z = z * 0.5 + 1
        z.block_until_ready()
        grown = resident("VmHWM:") - before
        assert float(z[-1]) == 0.0625 + 1.875 and float(start[0]) == 1
        view, z = np.asarray(z), z + 1
        z = z * 2
        assert view[0] == 0.0625 + 1.875 and float(z[0]) == 2 * (1.0625 + 1.875)
        del z, view
    assert grown < 200, grown
    # More than may wait, of which nobody waits for any.
    for _ in range(100):
        y = slow(x)[:1]
    assert np.array_equal(y, wanted[:1])
    # A run that fails says so to whoever waits for it, and for what was made of it.
    grown = jax.jit(lambda a: jnp.broadcast_to(slow(a).sum(), (1 << 27,))).lower(x).compile()
    doubled = jax.jit(lambda a: a * 2).lower(jax.ShapeDtypeStruct((1 << 27,), jnp.float32)).compile()
    with open("/proc/self/status") as file:
        size = next(int(line.split()[1]) for line in file if line.startswith("VmSize:")) << 10
    resource.setrlimit(resource.RLIMIT_AS, (size + (64 << 20), resource.RLIM_INFINITY))
    first = grown(x)
    second = doubled(first)
    for call in (first.block_until_ready, second.block_until_ready, lambda: np.asarray(second)):
        try:
            call()
            raise AssertionError("memory was found that isn't there")
        except jax.errors.JaxRuntimeError as error:
            assert "RESOURCE_EXHAUSTED" in str(error), error
    resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    assert np.array_equal(slow(x), wanted)
    slow(x)  # nobody waits for this one


def child(path):
    import numpy as np
    results = programs()
    np.savez(path, **{name: value.astype(np.float32) if value.dtype.name == "bfloat16" else value for name, value in results.items()})


def main():
    import tempfile
    if are_missing("jax", "numpy"):
        return 0
    import numpy as np
    library, control = sys.argv[1], "--control" in sys.argv
    with tempfile.TemporaryDirectory() as folder:
        files = {platform: os.path.join(folder, platform + ".npz") for platform in ("cpu", "lowtide")}
        ran = [run_again(platform, __file__, "--child", path, **environment(library, JAX_PLATFORMS=platform)) for platform, path in files.items()]
        if None in ran:
            return 1
        with np.load(files["cpu"]) as wanted, np.load(files["lowtide"]) as got:
            wrong = []
            for name in wanted.files:
                value = got[name] * 1.01 + 0.01 if control and name == "scan" else got[name]
                exact = wanted[name].dtype.kind in "biu"
                fits = value.shape == wanted[name].shape and (exact or np.allclose(value, wanted[name], rtol=1e-4, atol=1e-4))
                if not fits or (exact and not np.array_equal(value, wanted[name])) or value.dtype != wanted[name].dtype and not control:
                    wrong.append(name)
            print(json.dumps({"results": len(wanted.files), "wrong": wrong}))
    return (0 if wrong == ["scan"] else 1) if control else int(bool(wrong))


if __name__ == "__main__":
    sys.exit(child(sys.argv[2]) if sys.argv[1:2] == ["--child"] else main())
