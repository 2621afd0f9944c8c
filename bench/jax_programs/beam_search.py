"""Translate with a beam: a small decoder with its keys and values kept, eight beams for each of eight sentences."""
import zlib

import jax
import jax.numpy as jnp
import numpy as np

VOCABULARY, WIDTH, HEADS, LAYERS, BEAMS, BATCH = 16_384, 384, 6, 4, 8, 8


def parameters(key):
    def matrix(name, *shape):
        return jax.random.normal(jax.random.fold_in(key, zlib.crc32(name.encode())), shape) / np.sqrt(shape[0])
    layer = lambda i: {"qkv": matrix(f"q{i}", WIDTH, 3 * WIDTH), "out": matrix(f"o{i}", WIDTH, WIDTH),
                       "up": matrix(f"u{i}", WIDTH, 4 * WIDTH), "down": matrix(f"d{i}", 4 * WIDTH, WIDTH)}
    return {"embed": matrix("e", VOCABULARY, WIDTH) * 10, "layers": [layer(i) for i in range(LAYERS)], "head": matrix("h", WIDTH, VOCABULARY)}


def norm(x):
    return x * jax.lax.rsqrt(jnp.mean(x**2, -1, keepdims=True) + 1e-6)


def decode(params, token, caches, at):
    x = params["embed"][token]
    kept = []
    for layer, (keys, values) in zip(params["layers"], caches):
        q, k, v = jnp.split(norm(x) @ layer["qkv"], 3, -1)
        heads = lambda a: a.reshape(a.shape[0], HEADS, -1)
        keys = jax.lax.dynamic_update_slice_in_dim(keys, heads(k)[:, None], at, 1)
        values = jax.lax.dynamic_update_slice_in_dim(values, heads(v)[:, None], at, 1)
        scores = jnp.einsum("bhd,bthd->bht", heads(q), keys) / np.sqrt(WIDTH / HEADS)
        weights = jax.nn.softmax(jnp.where(jnp.arange(keys.shape[1]) <= at, scores, -jnp.inf), -1)
        x = x + jnp.einsum("bht,bthd->bhd", weights, values).reshape(x.shape) @ layer["out"]
        x = x + jax.nn.gelu(norm(x) @ layer["up"]) @ layer["down"]
        kept.append((keys, values))
    return jax.nn.log_softmax(norm(x) @ params["head"]), kept


@jax.jit
def search(params, first, tokens):
    steps = tokens.shape[-1]
    empty = jnp.zeros((BATCH * BEAMS, steps, HEADS, WIDTH // HEADS))
    scores = jnp.where(jnp.arange(BEAMS) == 0, 0.0, -jnp.inf) + jnp.zeros((BATCH, 1))

    def step(at, state):
        tokens, scores, last, caches = state
        logp, caches = decode(params, last.reshape(-1), caches, at)
        total = scores[..., None] + logp.reshape(BATCH, BEAMS, VOCABULARY)
        scores, flat = jax.lax.top_k(total.reshape(BATCH, -1), BEAMS)
        parent, token = flat // VOCABULARY, flat % VOCABULARY
        rows = (jnp.arange(BATCH)[:, None] * BEAMS + parent).reshape(-1)
        caches = jax.tree.map(lambda c: c[rows], caches)
        tokens = jnp.take_along_axis(tokens, parent[..., None], 1).at[:, :, at].set(token)
        return tokens, scores, token, caches

    start = (tokens, scores, jnp.broadcast_to(first[:, None], (BATCH, BEAMS)), [(empty, empty)] * LAYERS)
    tokens, scores, _, _ = jax.lax.fori_loop(0, steps, step, start)
    return tokens, scores


def main(scale: float = 1.0) -> dict[str, np.ndarray]:
    steps = max(4, int(24 * scale))
    params = parameters(jax.random.key(3))
    tokens, scores = search(params, jnp.arange(BATCH) * 7, jnp.zeros((BATCH, BEAMS, steps), jnp.int32))
    return {"scores": np.array(scores[:, 0]), "first": np.array(tokens[:, 0, 0])}


TOLERANCE = {"scores": {"rtol": 1e-2}, "first": {"off": 0.2}}

if __name__ == "__main__":
    for name, value in main().items():
        print(name, np.array2string(value, precision=4, threshold=20))
