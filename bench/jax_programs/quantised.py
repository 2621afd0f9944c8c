"""A language model with weights of eight bits: dequantised products, rotary positions, a cache, nucleus sampling; hashes of tokens."""
import jax
import jax.numpy as jnp
import numpy as np

LAYERS, WIDTH, HEADS, INNER, SYMBOLS, ROOM = 4, 512, 8, 1376, 4096, 128


def product(x, w):
    return (x @ w["bits"].astype(jnp.bfloat16)).astype(jnp.float32) * w["scale"]


def quantised(w):
    scale = jnp.abs(w).max(0) / 127
    return {"bits": jnp.round(w / scale).astype(jnp.int8), "scale": scale}


def turned(x, at):
    half = x.shape[-1] // 2
    angle = at[:, None] * 10000.0 ** (-jnp.arange(half) / half)
    a, b = x[..., :half], x[..., half:]
    c, s = jnp.cos(angle)[:, None], jnp.sin(angle)[:, None]
    return jnp.concatenate([a * c - b * s, a * s + b * c], -1)


def layer(x, p, cache, at):
    h = (x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-6) * p["n1"]).astype(jnp.bfloat16)
    q, k, v = (product(h, p[n]).reshape(x.shape[:2] + (HEADS, -1)) for n in "qkv")
    places = at + jnp.arange(x.shape[1])
    q, k = turned(q, places), turned(k, places)
    keys = jax.lax.dynamic_update_slice(cache[0], k.astype(jnp.bfloat16), (0, at, 0, 0))
    values = jax.lax.dynamic_update_slice(cache[1], v.astype(jnp.bfloat16), (0, at, 0, 0))
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, keys.astype(jnp.float32)) * q.shape[-1] ** -0.5
    scores = jnp.where(jnp.arange(keys.shape[1]) <= places[:, None], scores, -1e9)
    seen = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), values.astype(jnp.float32)).reshape(x.shape)
    x = x + product(seen.astype(jnp.bfloat16), p["o"])
    h = (x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-6) * p["n2"]).astype(jnp.bfloat16)
    gate = jax.nn.silu(product(h, p["gate"])) * product(h, p["up"])
    return x + product(gate.astype(jnp.bfloat16), p["down"]), (keys, values)


def network(params, tokens, cache, at):
    def one(x, inputs):
        p, c = inputs
        return layer(x, p, c, at)

    x, cache = jax.lax.scan(one, params["embed"][tokens], (params["layers"], cache))
    return (x[:, -1] @ params["embed"].T), cache


@jax.jit
def prompt(params, tokens, cache):
    return network(params, tokens, cache, 0)


@jax.jit
def sample(params, key, logits, cache, at):
    def turn(state, key):
        logits, cache, at = state
        ordered = jnp.sort(logits, -1)[:, ::-1]
        kept = jnp.cumsum(jax.nn.softmax(ordered), -1) < 0.9
        least = jnp.where(kept, ordered, jnp.inf).min(-1, keepdims=True)
        token = jax.random.categorical(key, jnp.where(logits >= least, logits, -jnp.inf))
        logits, cache = network(params, token[:, None], cache, at)
        return (logits, cache, at + 1), token

    return jax.lax.scan(turn, (logits, cache, at), jax.random.split(key, 24))


@jax.jit
def hashed(tokens):
    def step(state, token):
        state = (state ^ token.astype(jnp.uint32)) * jnp.uint32(16777619)
        state = state ^ (state >> 15) ^ (state << 7)
        return state, state

    _, all_states = jax.lax.scan(step, jnp.full(tokens.shape[0], 2166136261, jnp.uint32), tokens.T)
    return jnp.zeros(1024, jnp.int32).at[(all_states % 1024).astype(int)].add(1), jax.lax.population_count(all_states).sum()


def main(scale: float = 1.0) -> dict[str, np.ndarray]:
    length = max(8, int(64 * scale))
    keys = iter(jax.random.split(jax.random.key(6), 64))
    normal = lambda i, o: quantised(jax.random.normal(next(keys), (i, o)) * i**-0.5)
    shapes = {n: (WIDTH, WIDTH) for n in "qkvo"} | {"gate": (WIDTH, INNER), "up": (WIDTH, INNER), "down": (INNER, WIDTH)}
    layers = [{n: normal(*s) for n, s in shapes.items()} | {"n1": jnp.ones(WIDTH), "n2": jnp.ones(WIDTH)} for _ in range(LAYERS)]
    params = {"embed": 0.3 * jax.random.normal(next(keys), (SYMBOLS, WIDTH)), "layers": jax.tree.map(lambda *x: jnp.stack(x), *layers)}
    tokens = jax.random.randint(next(keys), (4, length), 0, SYMBOLS)
    cache = (jnp.zeros((LAYERS, 4, ROOM, HEADS, WIDTH // HEADS), jnp.bfloat16),) * 2
    logits, cache = prompt(params, tokens, cache)
    (last, _, _), drawn = sample(params, next(keys), logits, cache, length)
    counts, bits = hashed(jax.random.randint(next(keys), (64, 2000), 0, SYMBOLS))
    return {"logits": np.array(logits[:, :16]), "drawn": np.array(drawn.shape), "counts": np.array(counts[:32]), "bits": np.array(bits)}


TOLERANCE = {"logits": {"rtol": 5e-2, "atol": 0.1}}
if __name__ == "__main__":
    for name, value in main().items():
        print(name, np.array2string(value, precision=4, threshold=20))
