"""steps.py [--command FILE] [--only NAME,..] [--keep FOLDER]: training steps of kinds that people bring, written
in plain JAX and lowered at sizes that don't fit a workstation. Nothing runs: the table has what XLA:CPU's memory-optimised
scheduler needs (temp, MiB), what Lowtide's free and tightest plans need as parts of that, the modelled time of the tightest
plan beside the fastest, and the seconds that `fit` takes to plan.

--keep FOLDER leaves the HLO text of each step there."""
import argparse
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
os.environ["XLA_FLAGS"] = "--xla_cpu_scheduler_type=CPU_SCHEDULER_TYPE_MEMORY_OPTIMIZED"
os.environ["JAX_PLATFORMS"] = "cpu"

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
from jax import lax  # noqa: E402

F32, BF16, I32 = jnp.float32, jnp.bfloat16, jnp.int32


def array(*shape, dtype=F32):
    return jax.ShapeDtypeStruct(shape, dtype)


def sgd_with_momentum(loss):
    def step(params, momenta, *batch):
        value, slope = jax.value_and_grad(loss)(params, *batch)
        momenta = jax.tree.map(lambda m, g: 0.9 * m + g, momenta, slope)
        return jax.tree.map(lambda p, m: p - 0.1 * m, params, momenta), momenta, value
    return step


def adam(loss, most_norm=None):
    def step(params, moments, *batch):
        value, slope = jax.value_and_grad(loss)(params, *batch)
        if most_norm is not None:
            norm = jnp.sqrt(sum(jnp.sum(g.astype(F32) ** 2) for g in jax.tree.leaves(slope)))
            slope = jax.tree.map(lambda g: g * jnp.minimum(1, most_norm / norm).astype(g.dtype), slope)
        first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, moments[0], slope)
        second = jax.tree.map(lambda m, g: 0.99 * m + 0.01 * g * g, moments[1], slope)
        change = lambda p, m, v: p - (1e-3 * m / (jnp.sqrt(v) + 1e-8)).astype(p.dtype)
        return jax.tree.map(change, params, first, second), (first, second), value
    return step


def cross_entropy(logits, labels):
    logits = logits.astype(F32)
    picked = jnp.take_along_axis(logits, labels[..., None], -1)[..., 0]
    return jnp.mean(jax.nn.logsumexp(logits, -1) - picked)


def convolve(x, w, stride=1, groups=1):
    return lax.conv_general_dilated(x, w, (stride, stride), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"),
                                    feature_group_count=groups)


def batch_norm(x, p):
    mean = jnp.mean(x, (0, 1, 2))
    variance = jnp.mean((x - mean) ** 2, (0, 1, 2))
    return (x - mean) * lax.rsqrt(variance + 1e-5) * p[0] + p[1]


def resnet(sizes, batch, bottleneck, side=224):
    """He et al. 2015, with batch norms that see the whole batch."""
    params = {"stem": (array(7, 7, 3, 64), array(2, 64))}
    inputs = 64
    for stage, blocks in enumerate(sizes):
        width = 64 << stage
        outputs = width * 4 if bottleneck else width
        for b in range(blocks):
            convs = [(1, inputs, width), (3, width, width), (1, width, outputs)] if bottleneck else [
                (3, inputs, width), (3, width, width)]
            p = [(array(k, k, i, o), array(2, o)) for k, i, o in convs]
            if inputs != outputs:
                p.append((array(1, 1, inputs, outputs), array(2, outputs)))
            params[f"{stage}.{b}"] = p
            inputs = outputs
    params["head"] = array(inputs, 1000)

    def loss(params, images, labels):
        w, n = params["stem"]
        x = jax.nn.relu(batch_norm(convolve(images, w, 2), n))
        x = lax.reduce_window(x, -jnp.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME")
        strided = 1 if bottleneck else 0
        count = 3 if bottleneck else 2
        for stage, blocks in enumerate(sizes):
            for b in range(blocks):
                p = params[f"{stage}.{b}"]
                stride = 2 if stage > 0 and b == 0 else 1
                y = x
                for k, (w, n) in enumerate(p[:count]):
                    y = batch_norm(convolve(y, w, stride if k == strided else 1), n)
                    y = jax.nn.relu(y) if k + 1 < count else y
                if len(p) > count:
                    x = batch_norm(convolve(x, p[count][0], stride), p[count][1])
                x = jax.nn.relu(x + y)
        return cross_entropy(jnp.mean(x, (1, 2)) @ params["head"], labels)

    return sgd_with_momentum(loss), (params, params, array(batch, side, side, 3), array(batch, dtype=I32)), (0, 1)


def unet():
    """A denoiser of four levels with group norms, skips and attention at the lowest."""
    widths, side, batch = (64, 128, 256, 256), 128, 32
    params, inputs = {"in": array(3, 3, 3, 64), "time": array(64, 64)}, 64
    for level, width in enumerate(widths):
        params[f"down{level}"] = [(array(3, 3, inputs, width), array(2, width), array(3, 3, width, width), array(2, width),
                                   array(64, width))]
        inputs = width
    params["attention"] = (array(inputs, 3 * inputs), array(inputs, inputs))
    for level, width in reversed(list(enumerate(widths))):
        params[f"up{level}"] = [(array(3, 3, inputs + width, width), array(2, width), array(3, 3, width, width),
                                 array(2, width), array(64, width))]
        inputs = width
    params["out"] = array(3, 3, inputs, 3)

    def group_norm(x, p, groups=8):
        n, h, w, c = x.shape
        g = x.reshape(n, h, w, groups, c // groups)
        mean = g.mean((1, 2, 4), keepdims=True)
        variance = ((g - mean) ** 2).mean((1, 2, 4), keepdims=True)
        return ((g - mean) * lax.rsqrt(variance + 1e-5)).reshape(x.shape) * p[0] + p[1]

    def block(x, moment, p):
        a, na, b, nb, t = p
        h = jax.nn.silu(group_norm(convolve(x, a), na)) + (moment @ t)[:, None, None]
        return jax.nn.silu(group_norm(convolve(h, b), nb))

    def loss(params, images, noise, times):
        angles = times[:, None] * jnp.exp(-jnp.arange(32) * 0.3)
        moment = jax.nn.silu(jnp.concatenate([jnp.sin(angles), jnp.cos(angles)], -1) @ params["time"])
        kept, x = [], convolve(images + noise * times[:, None, None, None], params["in"])
        for level in range(len(widths)):
            x = block(x, moment, params[f"down{level}"][0])
            kept.append(x)
            x = lax.reduce_window(x, 0.0, lax.add, (1, 2, 2, 1), (1, 2, 2, 1), "VALID") / 4
        n, h, w, c = x.shape
        q, k, v = jnp.split(x.reshape(n, h * w, c) @ params["attention"][0], 3, -1)
        weights = jax.nn.softmax(jnp.einsum("nqc,nkc->nqk", q, k) / math.sqrt(c))
        x = x + (jnp.einsum("nqk,nkc->nqc", weights, v) @ params["attention"][1]).reshape(x.shape)
        for level in reversed(range(len(widths))):
            x = jnp.repeat(jnp.repeat(x, 2, 1), 2, 2)
            x = block(jnp.concatenate([x, kept[level]], -1), moment, params[f"up{level}"][0])
        return jnp.mean((convolve(x, params["out"]) - noise) ** 2)

    images = array(batch, side, side, 3)
    return adam(loss), (params, (params, params), images, images, array(batch)), (0, 1)


def convnext():
    """Liu et al. 2022: depthwise 7x7, layer norm, two dense layers."""
    depths, widths, batch = (3, 3, 9, 3), (96, 192, 384, 768), 64
    params, inputs = {"stem": array(4, 4, 3, 96)}, 96
    for stage, (depth, width) in enumerate(zip(depths, widths)):
        if stage:
            params[f"down{stage}"] = (array(2, inputs), array(2, 2, inputs, width))
        params[f"stage{stage}"] = [(array(7, 7, 1, width), array(2, width), array(width, 4 * width), array(4 * width, width),
                                    array(width)) for _ in range(depth)]
        inputs = width
    params["head"] = array(inputs, 1000)

    def layer_norm(x, p):
        mean = x.mean(-1, keepdims=True)
        return (x - mean) * lax.rsqrt(((x - mean) ** 2).mean(-1, keepdims=True) + 1e-6) * p[0] + p[1]

    def loss(params, images, labels):
        x = convolve(images, params["stem"], 4)
        for stage in range(len(depths)):
            if stage:
                n, w = params[f"down{stage}"]
                x = convolve(layer_norm(x, n), w, 2)
            for d, n, a, b, scale in params[f"stage{stage}"]:
                h = layer_norm(convolve(x, d, groups=x.shape[-1]), n)
                x = x + (jax.nn.gelu(h @ a) @ b) * scale
        return cross_entropy(x.mean((1, 2)) @ params["head"], labels)

    return adam(loss), (params, (params, params), array(batch, 224, 224, 3), array(batch, dtype=I32)), (0, 1)


def attention(x, p, heads):
    b, t, c = x.shape
    q, k, v = jnp.split((x @ p[0]).reshape(b, t, 3 * heads, c // heads), 3, 2)
    scores = jnp.einsum("bqhc,bkhc->bhqk", q, k) / math.sqrt(c // heads)
    scores = jnp.where(jnp.tril(jnp.ones((t, t), bool)), scores, -1e9)
    return jnp.einsum("bhqk,bkhc->bqhc", jax.nn.softmax(scores.astype(F32)).astype(x.dtype), v).reshape(b, t, c) @ p[1]


def rms_norm(x, scale):
    wide = x.astype(F32)
    return (wide * lax.rsqrt((wide ** 2).mean(-1, keepdims=True) + 1e-6)).astype(x.dtype) * scale


def mixture(kind, layers=6, most_norm=None, unrolled=False, remat=False):
    """A decoder whose layers choose two of eight experts for each token: by sorting tokens, or by one-hot products."""
    width, hidden, experts, words, batch, length, heads = 1024, 2048, 8, 32000, 8, 1024, 16
    tokens, chosen = batch * length, 2
    capacity = tokens * chosen // experts * 5 // 4
    layer = (array(width, dtype=BF16), array(width, 3 * width, dtype=BF16), array(width, width, dtype=BF16),
             array(width, dtype=BF16), array(width, experts, dtype=BF16), array(experts, width, hidden, dtype=BF16),
             array(experts, hidden, width, dtype=BF16))
    stacked = jax.tree.map(lambda a: array(layers, *a.shape, dtype=a.dtype), layer)
    params = {"embed": array(words, width, dtype=BF16), "layers": [layer] * layers if unrolled else stacked,
              "norm": array(width, dtype=BF16)}

    def by_sorting(x, gates, which, up, down):
        flat = which.reshape(-1)
        order = jnp.argsort(flat)
        ranks = jnp.arange(flat.size) - jnp.searchsorted(flat[order], jnp.arange(experts))[flat[order]]
        slot = jnp.where(ranks < capacity, flat[order] * capacity + ranks, experts * capacity)
        source = order // chosen
        boxes = jnp.zeros((experts * capacity + 1, width), x.dtype).at[slot].set(x[source])[:-1]
        h = jax.nn.gelu(jnp.einsum("ecw,ewh->ech", boxes.reshape(experts, capacity, width), up))
        out = jnp.einsum("ech,ehw->ecw", h, down).reshape(-1, width)
        out = jnp.concatenate([out, jnp.zeros((1, width), out.dtype)])[slot] * gates.reshape(-1)[order][:, None]
        return jnp.zeros_like(x).at[source].add(out)

    def by_one_hot(x, gates, which, up, down):
        weights = jnp.sum(jax.nn.one_hot(which, experts, dtype=x.dtype) * gates[..., None], 1)
        h = jax.nn.gelu(jnp.einsum("tw,ewh->teh", x, up))
        return jnp.einsum("teh,ehw,te->tw", h, down, weights)

    def layer_of(x, p):
        x = x + attention(rms_norm(x, p[0]), p[1:3], heads)
        flat = rms_norm(x, p[3]).reshape(tokens, width)
        gates, which = lax.top_k(jax.nn.softmax((flat @ p[4]).astype(F32)), chosen)
        mix = by_sorting if kind == "sort" else by_one_hot
        return x + mix(flat, gates.astype(x.dtype), which, p[5], p[6]).reshape(x.shape)

    body = jax.checkpoint(layer_of) if remat else layer_of

    def loss(params, words, labels):
        x = params["embed"][words]
        if unrolled:
            for p in params["layers"]:
                x = body(x, p)
        else:
            x, _ = lax.scan(lambda x, p: (body(x, p), None), x, params["layers"])
        return cross_entropy(rms_norm(x, params["norm"]) @ params["embed"].T, labels)

    batch = array(batch, length, dtype=I32)
    return adam(loss, most_norm), (params, (params, params), batch, batch), (0, 1)


def offload():
    """Layers whose inputs are kept in the host's memory between the passes (jax.checkpoint's offloading policy)."""
    from jax.ad_checkpoint import checkpoint_name
    width, layers, words, batch, length = 1024, 12, 32000, 8, 1024
    layer = (array(width), array(width, 3 * width), array(width, width), array(width), array(width, 4 * width),
             array(4 * width, width))
    params = {"embed": array(words, width), "layers": jax.tree.map(lambda a: array(layers, *a.shape), layer)}
    policy = jax.checkpoint_policies.save_and_offload_only_these_names(
        names_which_can_be_saved=[], names_which_can_be_offloaded=["input"], offload_src="device", offload_dst="pinned_host")

    def layer_of(x, p):
        x = checkpoint_name(x, "input")
        x = x + attention(rms_norm(x, p[0]), p[1:3], 16)
        return x + jax.nn.gelu(rms_norm(x, p[3]) @ p[4]) @ p[5], None

    def loss(params, words, labels):
        x, _ = lax.scan(jax.checkpoint(layer_of, policy=policy), params["embed"][words], params["layers"])
        return cross_entropy(x @ params["embed"].T, labels)

    batch = array(batch, length, dtype=I32)
    return adam(loss), (params, (params, params), batch, batch), (0, 1)


def recommender():
    """Embedding tables, whose gradients are scatters as large as the tables, and all products of two embeddings; adagrad."""
    tables, rows, width, batch = 26, 100_000, 64, 2048
    stack = lambda *widths: [(array(a, b), array(b)) for a, b in zip(widths[:-1], widths[1:])]
    pairs = tables * (tables + 1) // 2
    params = {"tables": array(tables, rows, width), "below": stack(13, 512, 256, width),
              "above": stack(width + pairs, 512, 256, 1)}

    def dense(x, layers):
        for k, (w, b) in enumerate(layers):
            x = x @ w + b
            x = jax.nn.relu(x) if k + 1 < len(layers) else x
        return x

    def loss(params, numbers, which, clicked):
        first = dense(numbers, params["below"])
        rows = jax.vmap(lambda table, i: table[i], (0, 1), 1)(params["tables"], which)
        all_rows = jnp.concatenate([first[:, None], rows], 1)
        one, other = jnp.triu_indices(tables + 1, 1)
        products = jnp.einsum("bie,bje->bij", all_rows, all_rows)[:, one, other]
        logit = dense(jnp.concatenate([first, products], 1), params["above"])[:, 0]
        return jnp.mean(jax.nn.softplus(logit) - clicked * logit)

    def step(params, squares, *data):
        value, slope = jax.value_and_grad(loss)(params, *data)
        squares = jax.tree.map(lambda s, g: s + g * g, squares, slope)
        params = jax.tree.map(lambda p, g, s: p - 0.01 * g / (jnp.sqrt(s) + 1e-8), params, slope, squares)
        return params, squares, value

    return step, (params, params, array(batch, 13), array(batch, tables, dtype=I32), array(batch)), (0, 1)


def graph():
    """Messages along a million edges, summed where they arrive, in three layers."""
    nodes, edges, width, given, classes = 100_000, 1_000_000, 64, 8, 16
    layer = (array(width, width), array(width, width), array(given, width), array(2 * width, width), array(width))
    params = [layer] * 3

    def loss(params, x, source, target, about, labels):
        for ws, wt, wa, wo, b in params:
            message = jax.nn.relu(x[source] @ ws + x[target] @ wt + about @ wa)
            arrived = jax.ops.segment_sum(message, target, num_segments=nodes)
            x = jax.nn.relu(jnp.concatenate([x, arrived], 1) @ wo + b)
        return cross_entropy(x[:, :classes], labels)

    data = (array(nodes, width), array(edges, dtype=I32), array(edges, dtype=I32), array(edges, given), array(nodes, dtype=I32))
    return sgd_with_momentum(loss), (params, params, *data), (0, 1)


def pairs(count=16384):
    """Radford et al. 2021: a loss over all pairs of images and texts, along rows and along columns."""
    params = {"image": array(2048, 1024), "text": array(768, 1024), "scale": array()}

    def loss(p, images, texts):
        left, right = images @ p["image"], texts @ p["text"]
        left = left / jnp.linalg.norm(left, axis=-1, keepdims=True)
        right = right / jnp.linalg.norm(right, axis=-1, keepdims=True)
        logits, labels = jnp.exp(p["scale"]) * left @ right.T, jnp.arange(count)
        return (cross_entropy(logits, labels) + cross_entropy(logits.T, labels)) / 2
    return adam(loss), (params, (params, params), array(count, 2048), array(count, 768)), (0, 1)


def triangles(nodes=384, width=128, heads=4, layers=4):
    """Jumper et al. 2021: products and attention over triangles of a representation of pairs."""
    def layer(z, p):
        x = rms_norm(z, p["norms"][0])
        left, right = (jax.nn.sigmoid(x @ p["gate"][k]) * (x @ p["mix"][k]) for k in (0, 1))
        z = z + jax.nn.sigmoid(x @ p["gate"][2]) * (rms_norm(jnp.einsum("ikc,jkc->ijc", left, right), p["norms"][1]) @ p["mix"][2])
        x = rms_norm(z, p["norms"][2])
        q, k, v = ((x @ p["qkv"][n]).reshape(nodes, nodes, heads, -1) for n in range(3))
        scores = jnp.einsum("ijhd,ikhd->ihjk", q, k) * (width // heads) ** -0.5 + jnp.einsum("jkc,ch->hjk", x, p["bias"])
        mixed = jnp.einsum("ihjk,ikhd->ijhd", jax.nn.softmax(scores), v).reshape(nodes, nodes, width)
        z = z + (jax.nn.sigmoid(x @ p["gate"][3]) * mixed) @ p["mix"][3]
        return z + jax.nn.relu(rms_norm(z, p["norms"][3]) @ p["up"]) @ p["down"], None

    params = {"norms": array(layers, 4, width), "gate": array(layers, 4, width, width), "mix": array(layers, 4, width, width),
              "qkv": array(layers, 3, width, width), "bias": array(layers, width, heads),
              "up": array(layers, width, 4 * width), "down": array(layers, 4 * width, width)}
    loss = lambda p, z, wanted: jnp.mean((lax.scan(layer, z, p)[0] - wanted) ** 2)
    return sgd_with_momentum(loss), (params, params, array(nodes, nodes, width), array(nodes, nodes, width)), (0, 1)


def beams(layers=6, beam=64, length=512, heads=12, size=64, words=32000):
    """A beam search: each step puts the rows of all key and value caches into another order."""
    width = heads * size
    params = {"embedding": array(words, width), "layers": {
        "qkvo": array(layers, 4, width, width), "up": array(layers, width, 4 * width), "down": array(layers, 4 * width, width)}}

    def search(p, keys, values, tokens, scores, steps):
        def step(n, state):
            keys, values, tokens, scores = state

            def layer(x, given):
                p, keys, values = given
                q, k, v = ((x @ p["qkvo"][i]).reshape(beam, heads, size) for i in range(3))
                keys, values = keys.at[:, n].set(k), values.at[:, n].set(v)
                weights = jnp.where(jnp.arange(length) <= n, jnp.einsum("bhd,bthd->bht", q, keys), -1e9)
                x = x + jnp.einsum("bht,bthd->bhd", jax.nn.softmax(weights), values).reshape(beam, width) @ p["qkvo"][3]
                return x + jax.nn.gelu(x @ p["up"]) @ p["down"], (keys, values)
            x, (keys, values) = lax.scan(layer, p["embedding"][tokens], (p["layers"], keys, values))
            next_scores = jax.nn.log_softmax(x @ p["embedding"].T) + scores[:, None]
            scores, best = lax.top_k(next_scores.reshape(-1), beam)
            return keys[:, best // words], values[:, best // words], best % words, scores
        return lax.fori_loop(0, steps, step, (keys, values, tokens, scores))
    cache = array(layers, beam, length, heads, size)
    return search, (params, cache, cache, array(beam, dtype=I32), array(beam), array(dtype=I32)), (1, 2)


STEPS = {
    "resnet18": lambda: resnet((2, 2, 2, 2), 128, False),
    "resnet50": lambda: resnet((3, 4, 6, 3), 64, True),
    "unet": unet,
    "convnext": convnext,
    "moe_sort": lambda: mixture("sort"),
    "moe_sort_unrolled": lambda: mixture("sort", unrolled=True, remat=True),
    "moe_onehot_norm": lambda: mixture("one_hot", most_norm=1.0),
    "offload": offload,
    "recommender": recommender,
    "graph": graph,
    "pairs": pairs,
    "triangles": triangles,
    "beams": beams,
}


def geomean(values):
    return math.exp(sum(math.log(max(v, 1e-6)) for v in values) / max(len(values), 1))


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--command", default=str(ROOT / "build" / "lowtide"))
    arguments.add_argument("--only", default="")
    arguments.add_argument("--keep", default="")
    options = arguments.parse_args()
    names = [n for n in options.only.split(",") if n] or list(STEPS)
    folder = pathlib.Path(options.keep or tempfile.mkdtemp())
    folder.mkdir(parents=True, exist_ok=True)
    print(f"{'step':20} {'XLA:CPU':>9} {'free':>6} {'tightest':>8} {'time':>5} {'planned in':>10}")
    tightest = []
    for name in names:
        step, given, donated = STEPS[name]()
        traced = jax.jit(step, donate_argnums=donated).trace(*given)
        lowered = traced.lower()
        path = folder / f"{name}.hlo"
        # As a GPU gets it: for CPUs JAX drops where values are to lie.
        path.write_text(traced.lower(lowering_platforms=("cuda",)).as_text(dialect="hlo"))
        try:
            xla = lowered.compile().memory_analysis().temp_size_in_bytes
        except jax.errors.JaxRuntimeError as error:
            xla = 0
            print(f"{name}: XLA: {str(error).splitlines()[0]}", file=sys.stderr)
        start = time.perf_counter()
        found = subprocess.run([options.command, "fit", str(path), "--json"], capture_output=True, text=True)
        took = time.perf_counter() - start
        if not found.stdout:
            print(f"{name:20} {xla / 2**20:9.0f}  {found.stderr.strip()[:60]}")
            continue
        plan = json.loads(found.stdout)
        free_temp = plan["free_peak_bytes"] - plan["peak_bytes"] + plan["temp_bytes"]  # arguments and results are the same
        parts = [temp / xla if xla else math.nan for temp in (free_temp, plan["temp_bytes"])]
        tightest.append(parts[1])
        slower = plan["modelled_seconds"] / min(p["modelled_seconds"] for p in plan["frontier"])
        print(f"{name:20} {xla / 2**20:9.0f} {parts[0]:6.3f} {parts[1]:8.3f} {slower:5.2f} {took:8.1f} s", flush=True)
    print(f"{'geometric mean':20} {'':9} {'':6} {geomean([t for t in tightest if t == t]):8.3f}")


if __name__ == "__main__":
    main()
