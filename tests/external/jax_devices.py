"""jax_devices.py LIBRARY: four devices in one process (LOWTIDE_DEVICES=4), against four of XLA:CPU's in a process of its own.

Arrays that lie on each, programs that run where their arguments lie, copies between devices, programs of arrays that are whole on
all of them, and what is refused. With --control a result is spoilt, which must be noticed."""
import json
import os
import subprocess
import sys

sys.dont_write_bytecode = True
from platforms import are_missing, environment, run_again  # noqa: E402

DEVICES = 4


def raises(kind, words, call):
    try:
        call()
    except kind as error:
        assert all(word in str(error) for word in words), error
        return
    raise AssertionError(f"nothing was raised, expected {words}")


def on_each(devices):
    """{name: result} of programs that run where their arguments lie."""
    import threading

    import jax
    import jax.numpy as jnp
    import numpy as np
    results = {}
    host = np.arange(600, dtype=np.float32).reshape(20, 30) / 100

    @jax.jit
    def step(x):
        return jnp.tanh(x @ x.T).sum(0), {"max": x.max(1)}

    slow = jax.jit(lambda x: jax.lax.fori_loop(0, 40, lambda i, a: jnp.tanh(a @ a * 0.01) + i, x))
    for k, device in enumerate(devices):
        x = jax.device_put(host + k, device)
        first, second = step(x)
        assert x.devices() == first.devices() == second["max"].devices() == {device}, (k, first.devices())
        eager = jnp.sin(x)[3:5] + 1
        assert eager.devices() == {device}
        results |= {f"{k}.first": first, f"{k}.max": second["max"], f"{k}.eager": eager}
        with jax.default_device(device):
            made = jnp.ones((3, 3)) * 2
            assert made.devices() == {device} and jax.random.normal(jax.random.key(k), (5,)).devices() == {device}
        # Given away where it lies.
        large = jax.device_put(jnp.zeros(1 << 18), device)
        bump = jax.jit(lambda a: a + 1, donate_argnums=0)
        large = bump(large)
        place = large.unsafe_buffer_pointer()
        moved = bump(large)
        assert large.is_deleted() and moved.unsafe_buffer_pointer() == place or "lowtide" not in device.client.platform_version
        assert moved.devices() == {device} and float(moved[-1]) == 2

    # From one device to another, of arrays that stand and of some that don't yet.
    x = jax.device_put(np.ones((300, 300), np.float32), devices[1])
    y = jax.device_put(x, devices[3])
    assert y.devices() == {devices[3]} and x.devices() == {devices[1]} and y.unsafe_buffer_pointer() != x.unsafe_buffer_pointer()
    for source in range(DEVICES):
        x = slow(jax.device_put(x, devices[source]))
        others = devices[:source] + devices[source + 1:]
        copies = [jax.device_put(x, device) for device in others]
        x.delete()
        sums = [slow(copy) for copy in copies]
        assert [total.devices() for total in sums] == [{device} for device in others]
        assert all(np.array_equal(sums[0], total) for total in sums)
        x = sums[source % 3]
    results["chain"] = x
    results["np"] = np.asarray(copies[2])
    raises(ValueError, ["devices"], lambda: copies[0] + copies[1])

    # A thread for each device.
    found = [None] * DEVICES

    def work(k):
        x = jax.device_put(np.full((200, 200), 1 + k / 10, np.float32), devices[k])
        for _ in range(6):
            x = slow(x)
        found[k] = (x.devices() == {devices[k]}, np.asarray(x))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(DEVICES)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert all(right for right, _ in found)
    return results | {f"thread.{k}": value for k, (_, value) in enumerate(found)}


def on_all(devices):
    """{name: result} of arrays that are whole on all devices, or divided, and of programs of those that are whole."""
    import jax
    import jax.numpy as jnp
    import numpy as np
    from jax.sharding import Mesh, NamedSharding, PartitionSpec
    ours = "lowtide" in devices[0].client.platform_version
    results = {}
    host = np.arange(64, dtype=np.float32).reshape(8, 8) / 64
    mesh = Mesh(np.array(devices), ("x",))
    whole, rows = NamedSharding(mesh, PartitionSpec()), NamedSharding(mesh, PartitionSpec("x"))
    x = jax.device_put(host, whole)
    assert x.is_fully_replicated and len(x.addressable_shards) == DEVICES

    @jax.jit
    def train(params, x):
        value, slope = jax.value_and_grad(lambda p: ((jnp.tanh(x @ p["w"]) + p["b"] - x) ** 2).mean())(params)
        return jax.tree.map(lambda p, g: p - 0.1 * g, params, slope), value

    params = jax.device_put({"w": host.T, "b": host[0]}, whole)
    losses = []
    for _ in range(5):
        params, loss = train(params, x)
        losses.append(loss)
    for leaf in [*jax.tree.leaves(params), loss]:
        assert leaf.is_fully_replicated and leaf.devices() == set(devices), leaf.sharding
        shards = [np.asarray(shard.data) for shard in leaf.addressable_shards]
        assert all(np.array_equal(shards[0], shard) for shard in shards) and len(shards) == DEVICES
    results |= {"losses": np.array([float(loss) for loss in losses]), "w": params["w"], "b": params["b"]}
    bump = jax.jit(lambda a: a + 1, donate_argnums=0, out_shardings=whole)
    given = bump(x)
    assert x.is_deleted()
    results["given"] = bump(given)
    compiled = bump.lower(jax.ShapeDtypeStruct((8, 8), jnp.float32, sharding=whole)).compile()
    results["compiled"] = compiled(jax.device_put(host, whole))
    # Two of the four, in another order.
    pair = NamedSharding(Mesh(np.array([devices[2], devices[1]]), ("x",)), PartitionSpec())
    of_two = jax.jit(lambda a: jnp.cumsum(a, 0))(jax.device_put(host, pair))
    assert of_two.devices() == {devices[1], devices[2]}
    results["pair"] = of_two
    # A region of parts that is all of the program: each device does its own.
    mapped = jax.pmap(lambda a, b: (jnp.tanh(a) * b, a.sum() + b.max()), in_axes=(0, None))
    first, second = mapped(host[:4], host[0])
    assert first.devices() == set(devices) and first.addressable_shards[2].data.shape == (1, 8)
    results |= {"pmap.first": first, "pmap.second": second, "pmap.again": mapped(first, host[1])[0]}
    def shared(function, **how):
        return jax.jit(jax.shard_map(function, mesh=mesh, in_specs=PartitionSpec("x"), out_specs=PartitionSpec("x")), **how)
    sums = shared(lambda a: jnp.sort(a, 1) + a.mean(), out_shardings=rows)(jax.device_put(host, rows))
    assert sums.sharding == rows and sums.addressable_shards[3].data.shape == (2, 8)
    results["shard_map"] = sums
    grid = Mesh(np.array(devices).reshape(2, 2), ("x", "y"))
    columns = NamedSharding(grid, PartitionSpec(None, "y"))
    parts = jax.shard_map(lambda a: jnp.cumsum(a, 1), mesh=grid, in_specs=columns.spec, out_specs=columns.spec)
    results["shard_map.columns"] = jax.jit(parts, out_shardings=columns)(jax.device_put(host, columns))
    divided = jax.device_put(host, rows)
    results["shard_map.given"] = shared(lambda a: a * 2, donate_argnums=0, out_shardings=rows)(divided)
    assert divided.is_deleted()
    # Divided arrays lie where they should and come back whole.
    divided = jax.device_put(host, rows)
    assert [shard.device for shard in divided.addressable_shards] == devices and divided.addressable_shards[1].data.shape == (2, 8)
    assert np.array_equal(divided, host) and np.array_equal(jax.device_put(divided, devices[3]), host)
    results["divided"] = divided
    if ours:
        words = ["UNIMPLEMENTED", "divide arrays over devices", "jax.device_put", "4 devices"]
        raises(Exception, words, lambda: jax.jit(lambda a: a @ a.T)(divided).block_until_ready())
        raises(Exception, words, lambda: jax.block_until_ready(jax.pmap(lambda a: jax.lax.psum(a, "i"), axis_name="i")(host[:4])))
        raises(Exception, ["UNIMPLEMENTED", "out_shardings"], lambda: shared(lambda a: a * 2)(divided).block_until_ready())
        shares = jax.shard_map(lambda a: jax.lax.pmean(a, "x"), mesh=mesh, in_specs=PartitionSpec("x"), out_specs=PartitionSpec())
        raises(Exception, words, lambda: jax.jit(shares)(divided).block_until_ready())
    return results


def facts(devices):
    """What is said of the devices, and what they take."""
    import jax
    import jax.numpy as jnp
    import numpy as np
    from jax.experimental import serialize_executable
    assert jax.device_count() == jax.local_device_count() == DEVICES and [device.id for device in devices] == list(range(DEVICES))
    assert all(device.platform == "cpu" and device.process_index == 0 and device.local_hardware_id == k for k, device in enumerate(devices))
    assert len({str(device) for device in devices}) == DEVICES and all(f"id={k}" in repr(device) for k, device in enumerate(devices))
    assert all([memory.kind for memory in device.addressable_memories()] == ["device", "pinned_host", "unpinned_host"] for device in devices)
    assert len({str(device.default_memory()) for device in devices}) == DEVICES
    before = [device.memory_stats()["bytes_in_use"] for device in devices]
    kept = jax.block_until_ready(jax.device_put(jnp.zeros(1 << 20) + 1, devices[3]))
    after = [device.memory_stats()["bytes_in_use"] for device in devices]
    grown = [now - was for now, was in zip(after, before)]
    assert grown[3] == 4 << 20 and max(grown[:3]) < 1 << 20, grown
    # An executable for one device, as bytes and back.
    compiled = jax.jit(lambda a: jnp.cos(a) + 1).lower(jax.ShapeDtypeStruct(kept.shape, kept.dtype, sharding=kept.sharding)).compile()
    again = serialize_executable.deserialize_and_load(*serialize_executable.serialize(compiled), execution_devices=[devices[3]])
    result = again(kept)
    assert result.devices() == {devices[3]} and np.array_equal(result, compiled(kept)) and np.allclose(result, np.cos(1.0) + 1)


def child(path):
    import jax
    import numpy as np
    devices = jax.devices()
    assert len(devices) == DEVICES, devices
    if "lowtide" in devices[0].client.platform_version:
        facts(devices)
    results = on_each(devices) | on_all(devices)
    np.savez(path, **{name: np.asarray(value) for name, value in results.items()})


def count_with(library, options, variable):
    """How many devices there are, or the error's last line."""
    code = f"import jax; {options}print(len(jax.devices()), jax.numpy.ones(3).sum())"
    ran = subprocess.run([sys.executable, "-c", code], env=environment(library, JAX_PLATFORMS="lowtide", **variable), capture_output=True, text=True, timeout=300)
    return ran.stdout.strip() or ran.stderr.strip().splitlines()[-1]


def counts_are_wrong(library):
    option = 'jax.config.update("jax_pjrt_client_create_options", "devices:{}"); '
    wanted = [("", {}, "1 3.0"), ("", {"LOWTIDE_DEVICES": "3"}, "3 3.0"), (option.format(2), {"LOWTIDE_DEVICES": "3"}, "2 3.0"),
              ("", {"LOWTIDE_DEVICES": "0"}, "devices: found '0', expected a number from 1"), (option.format("many"), {}, "devices: found 'many'")]
    found = [(count_with(library, options, variable), expected) for options, variable, expected in wanted]
    return [f"{got} instead of {expected}" for got, expected in found if expected not in got]


def main():
    import tempfile
    if are_missing("jax", "numpy"):
        return 0
    import numpy as np
    library, control = sys.argv[1], "--control" in sys.argv
    with tempfile.TemporaryDirectory() as folder:
        files = {}
        for platform, more in {"cpu": {"XLA_FLAGS": f"--xla_force_host_platform_device_count={DEVICES}"}, "lowtide": {"LOWTIDE_DEVICES": str(DEVICES)}}.items():
            files[platform] = os.path.join(folder, platform + ".npz")
            if run_again(platform, __file__, "--child", files[platform], **environment(library, JAX_PLATFORMS=platform, **more)) is None:
                return 1
        wrong = [] if control else counts_are_wrong(library)
        with np.load(files["cpu"]) as wanted, np.load(files["lowtide"]) as got:
            assert wanted.files == got.files
            for name in wanted.files:
                value = got[name] * 1.01 + 0.01 if control and name == "2.first" else got[name]
                if value.shape != wanted[name].shape or not np.allclose(value, wanted[name], rtol=1e-4, atol=1e-4):
                    wrong.append(name)
            print(json.dumps({"results": len(wanted.files), "wrong": wrong}))
    return (0 if wrong == ["2.first"] else 1) if control else int(bool(wrong))


if __name__ == "__main__":
    sys.exit(child(sys.argv[2]) if sys.argv[1:2] == ["--child"] else main())
