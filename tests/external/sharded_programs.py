"""Ten programs over eight devices, five with shard_map and five that the partitioner divides, as JAX lowers them. Each in its
text forms, with what XLA says of one device: the material of sharded_vs_xla.py.

usage: sharded_programs.py FOLDER      writes NAME.FORM.mlir, NAME.hlo and facts.json
"""
import functools
import json
import os
import sys

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=8 --xla_backend_optimization_level=0"

import jax
import jax.numpy as jnp
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P


def mesh_of(shape, names):
    return jax.make_mesh(shape, names, axis_types=(AxisType.Auto,) * len(names))


LINE = mesh_of((8,), ("i",))
GRID = mesh_of((4, 2), ("x", "y"))


def array(mesh, spec, *extents, dtype=jnp.float32):
    """An argument of these extents, divided so; with no spec, wherever XLA likes it."""
    return jax.ShapeDtypeStruct(extents, dtype, sharding=None if spec is None else NamedSharding(mesh, spec))


def manual(mesh, in_specs, out_specs, **more):
    return functools.partial(jax.shard_map, mesh=mesh, in_specs=in_specs, out_specs=out_specs, check_vma=False, **more)


# shard_map

def stencil():
    """Diffusion over a grid of devices: rows and columns of neighbours by ppermute, many steps."""
    def neighbour(edge, axis, by):
        n = GRID.shape[axis]
        return jax.lax.ppermute(edge, axis, [(d, (d + by) % n) for d in range(n)])

    def step(u):
        up, down = neighbour(u[-1:], "x", 1), neighbour(u[:1], "x", -1)
        tall = jnp.concatenate([up, u, down], 0)
        left, right = neighbour(tall[:, -1:], "y", 1), neighbour(tall[:, :1], "y", -1)
        v = jnp.concatenate([left, tall, right], 1)
        return u + 0.1 * (v[:-2, 1:-1] + v[2:, 1:-1] + v[1:-1, :-2] + v[1:-1, 2:] - 4 * u)

    @manual(GRID, (P("x", "y"),), P("x", "y"))
    def simulate(u):
        return jax.lax.fori_loop(0, 5, lambda _, u: step(u), u)

    return jax.jit(simulate, donate_argnums=0), [array(GRID, P("x", "y"), 512, 256, dtype=jnp.float64)]


def data_parallel():
    """A step of a model whose parameters are on every device: gradients are summed with psum."""
    def loss(p, x, y):
        return jnp.mean((jnp.tanh(x @ p["w0"] + p["b0"]) @ p["w1"] - y) ** 2)

    @manual(LINE, (P(), P("i"), P("i")), (P(), P()))
    def step(p, x, y):
        value, gradient = jax.value_and_grad(loss)(p, x, y)
        gradient = jax.lax.pmean(gradient, "i")
        return jax.tree.map(lambda a, g: a - 0.1 * g, p, gradient), jax.lax.pmean(value, "i")

    p = {"w0": array(LINE, P(), 96, 200), "b0": array(LINE, P(), 200), "w1": array(LINE, P(), 200, 40)}
    return jax.jit(step, donate_argnums=0), [p, array(LINE, P("i"), 256, 96), array(LINE, P("i"), 256, 40)]


def gathered_mlp():
    """Tensor parallel: weights in columns and rows, activations gathered before the first product, scattered after the last."""
    @manual(LINE, (P("i", None), P(None, "i"), P("i", None)), P("i", None))
    def mlp(x, w0, w1):
        whole = jax.lax.all_gather(x, "i", tiled=True)
        return jax.lax.psum_scatter(jax.nn.gelu(whole @ w0) @ w1, "i", tiled=True)

    return jax.jit(mlp), [array(LINE, P("i", None), 128, 64), array(LINE, P(None, "i"), 64, 512), array(LINE, P("i", None), 512, 64)]


def ring():
    """Scores of all queries against keys that travel in a ring."""
    @manual(LINE, (P("i"), P("i"), P("i")), P("i"))
    def attend(q, k, v):
        def turn(carry, _):
            k, v, total, weight = carry
            e = jnp.exp(q @ k.T / 8)
            pass_on = lambda a: jax.lax.ppermute(a, "i", [(d, (d + 1) % 8) for d in range(8)])
            return (pass_on(k), pass_on(v), total + e @ v, weight + e.sum(-1, keepdims=True)), None
        start = (k, v, jnp.zeros_like(q), jnp.zeros((q.shape[0], 1), q.dtype))
        (_, _, total, weight), _ = jax.lax.scan(turn, start, None, length=8)
        return total / weight

    return jax.jit(attend), [array(LINE, P("i"), 512, 64) for _ in range(3)]


def nested():
    """Manual along one axis, left to the partitioner along the other; in it a region that is manual along that as well."""
    def body(x, w):
        h = jax.lax.with_sharding_constraint(jnp.sin(x) @ w, NamedSharding(jax.sharding.get_abstract_mesh(), P(None, "y")))
        inner = jax.shard_map(lambda a: a * jax.lax.psum(a.sum(), "y"), in_specs=P(None, "y"), out_specs=P(None, "y"),
                              axis_names={"y"}, check_vma=False)
        return inner(h) + jax.lax.psum(h.mean(), "x")

    outer = manual(GRID, (P("x", None), P(None, None)), P("x", None), axis_names={"x"})(body)
    return (jax.jit(lambda x, w: outer(x, w) * 2, out_shardings=NamedSharding(GRID, P("x", "y"))),
            [array(GRID, P("x", None), 256, 96), array(GRID, P(None, "y"), 96, 128)])


# what the partitioner divides

def fsdp():
    """A step of Adam on an MLP whose parameters and moments lie divided, the batch along the same axis; everything donated."""
    def loss(p, x, y):
        for w in p[:-1]:
            x = jax.nn.relu(x @ w)
        return jnp.mean((x @ p[-1] - y) ** 2)

    def step(p, m, v, x, y):
        value, g = jax.value_and_grad(loss)(p, x, y)
        m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, m, g)
        v = jax.tree.map(lambda v, g: 0.99 * v + 0.01 * g * g, v, g)
        p = jax.tree.map(lambda p, m, v: p - 1e-3 * m / (jnp.sqrt(v) + 1e-8), p, m, v)
        return p, m, v, value

    p = [array(LINE, P("i", None), 128, 256), array(LINE, P(None, "i"), 256, 256), array(LINE, P("i", None), 256, 64)]
    placed = [a.sharding for a in p]
    return (jax.jit(step, donate_argnums=(0, 1, 2), out_shardings=(placed, placed, placed, NamedSharding(LINE, P()))),
            [p, p, p, array(LINE, P("i"), 512, 128), array(LINE, P("i"), 512, 64)])


def two_dimensional():
    """Products divided over both axes of the grid, one operand along both at once."""
    def f(x, w0, w1):
        return jnp.tanh(x @ w0) @ w1
    return (jax.jit(f, out_shardings=NamedSharding(GRID, P("x", "y"))),
            [array(GRID, P("x", "y"), 256, 128), array(GRID, P("y", "x"), 128, 512), array(GRID, P(("x", "y"), None), 512, 64)])


def uneven():
    """Extents that the devices don't divide: the last of them hold less, and every one has room for the same."""
    def f(x, y):
        a = jax.lax.with_sharding_constraint(x * 2, NamedSharding(LINE, P("i", None)))
        return jax.lax.with_sharding_constraint(jnp.cumsum(a, 1) + y, NamedSharding(LINE, P(None, "i"))), a.sum(0)
    return jax.jit(f), [array(LINE, P(), 1001, 37), array(LINE, P(), 37)]


def constrained_scan():
    """Replicated weights, and constraints in the body of a loop; one result has a sharding, one has none."""
    def f(w, x):
        def layer(h, w):
            h = jax.lax.with_sharding_constraint(jnp.tanh(h @ w), NamedSharding(GRID, P("x", "y")))
            return h, h.mean()
        return jax.lax.scan(layer, x, w)
    return (jax.jit(f, out_shardings=(None, NamedSharding(GRID, P()))),
            [array(GRID, P(), 6, 128, 128), array(GRID, P("x"), 512, 128)])


def gpt_block():
    """Forward and backward of a block of a transformer: batch along x, heads and features along y, vocabulary along both."""
    def block(p, t):
        h = p["e"][t]
        n = h / jnp.sqrt(jnp.mean(h * h, -1, keepdims=True) + 1e-6)
        q, k, v = (jnp.einsum("bsd,dhk->bhsk", n, p[name]) for name in "qkv")
        s = jnp.einsum("bhsk,bhtk->bhst", q, k) / 4
        s = jnp.where(jnp.tril(jnp.ones(s.shape[-2:], bool)), s, -1e9)
        h = h + jnp.einsum("bhst,bhtk,hkd->bsd", jax.nn.softmax(s), v, p["o"])
        h = h + jax.nn.gelu(h @ p["w0"]) @ p["w1"]
        h = jax.lax.with_sharding_constraint(h, NamedSharding(GRID, P("x", None, None)))
        return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(h @ p["e"].T), t[..., None], -1))

    def step(p, t):
        value, g = jax.value_and_grad(block)(p, t)
        return jax.tree.map(lambda a, b: a - b, p, g), value

    d, heads, k, f, vocabulary = 64, 8, 16, 256, 512
    p = {"e": array(GRID, P(("x", "y"), None), vocabulary, d), "o": array(GRID, P("y", None, None), heads, k, d),
         "w0": array(GRID, P(None, "y"), d, f), "w1": array(GRID, P("y", None), f, d)}
    p.update({name: array(GRID, P(None, "y", None), d, heads, k) for name in "qkv"})
    placed = {name: a.sharding for name, a in p.items()}
    return (jax.jit(step, donate_argnums=0, out_shardings=(placed, NamedSharding(GRID, P()))),
            [p, array(GRID, P("x", None), 16, 64, dtype=jnp.int32)])


PROGRAMS = [stencil, data_parallel, gathered_mlp, ring, nested, fsdp, two_dimensional, uneven, constrained_scan, gpt_block]
FORMS = ("pretty.mlir", "generic.mlir", "located.mlir", "located_generic.mlir", "hlo", "located.hlo")


def texts(lowered):
    """The program by form."""
    operation = lowered.compiler_ir().operation
    return {"pretty.mlir": lowered.as_text(), "generic.mlir": operation.get_asm(print_generic_op_form=True),
            "located.mlir": lowered.as_text(debug_info=True),
            "located_generic.mlir": operation.get_asm(print_generic_op_form=True, enable_debug_info=True),
            "hlo": lowered.as_text("hlo"), "located.hlo": lowered.as_text("hlo", debug_info=True)}


def facts(lowered):
    """What XLA says of one device. It counts 8 bytes for each element of a result that is a tuple."""
    compiled = lowered.compile()
    memory = compiled.memory_analysis()
    results = len(jax.tree.leaves(lowered.out_info))
    tuple_bytes = 8 * results if results != 1 else 0
    return {"argument_bytes": memory.argument_size_in_bytes, "output_bytes": memory.output_size_in_bytes - tuple_bytes,
            "peak_bytes": memory.argument_size_in_bytes + memory.output_size_in_bytes - tuple_bytes
            - memory.alias_size_in_bytes + memory.temp_size_in_bytes, "results": results}, compiled


def write_all(folder):
    """All programs in all forms; returns their facts by name."""
    jax.config.update("jax_enable_x64", True)
    known = {}
    for program in PROGRAMS:
        f, arguments = program()
        lowered = f.lower(*arguments)
        for form, text in texts(lowered).items():
            with open(os.path.join(folder, f"{program.__name__}.{form}"), "w") as out:
                out.write(text)
        known[program.__name__], compiled = facts(lowered)
        with open(os.path.join(folder, f"{program.__name__}.compiled.hlo"), "w") as out:
            out.write(compiled.as_text())
    with open(os.path.join(folder, "facts.json"), "w") as out:
        json.dump(known, out, indent=1)
    return known


if __name__ == "__main__":
    os.makedirs(sys.argv[1], exist_ok=True)
    for name, fact in write_all(sys.argv[1]).items():
        print(name, fact)
