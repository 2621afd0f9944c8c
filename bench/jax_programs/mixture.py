"""A transformer whose layers choose among experts: sorted tokens, grouped products; one step of training, and an evaluation."""
import jax
import jax.numpy as jnp
import numpy as np

LAYERS, WIDTH, HEADS, EXPERTS, CHOSEN, INNER, SYMBOLS = 2, 256, 4, 8, 2, 512, 1000


def norm(x, scale):
    return x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-6) * scale


def attention(x, p):
    q, k, v = (jnp.einsum("btd,dhe->bthe", x, p[n]) for n in ("q", "k", "v"))
    return jnp.einsum("bthe,hed->btd", jax.nn.dot_product_attention(q, k, v, is_causal=True), p["o"])


def experts(x, p):
    tokens = x.reshape(-1, WIDTH)
    weights, chosen = jax.lax.top_k(jax.nn.softmax(tokens @ p["router"]), CHOSEN)
    order = jnp.argsort(chosen.ravel())
    sizes = jnp.bincount(chosen.ravel(), length=EXPERTS)
    inputs = tokens[order // CHOSEN]
    inner = jax.nn.silu(jax.lax.ragged_dot(inputs, p["up"], sizes))
    made = jax.lax.ragged_dot(inner, p["down"], sizes) * weights.ravel()[order][:, None]
    return jnp.zeros_like(tokens).at[order // CHOSEN].add(made).reshape(x.shape)


def loss(params, tokens):
    x = params["embed"][tokens[:, :-1]]

    def layer(x, p):
        x = x + attention(norm(x, p["s1"]), p)
        return x + experts(norm(x, p["s2"]), p), None

    x, _ = jax.lax.scan(jax.checkpoint(layer), x, params["layers"])
    logits = norm(x, params["scale"]) @ params["embed"].T
    return (jax.nn.logsumexp(logits, -1) - jnp.take_along_axis(logits, tokens[:, 1:, None], -1)[..., 0]).mean()


@jax.jit
def train(params, tokens):
    value, slopes = jax.value_and_grad(loss)(params, tokens)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, slopes), value


evaluate = jax.jit(loss)


def main(scale: float = 1.0) -> dict[str, np.ndarray]:
    length = max(16, int(256 * scale))
    keys = iter(jax.random.split(jax.random.key(1), 12))
    normal = lambda *shape: jax.random.normal(next(keys), shape) * WIDTH**-0.5
    layers = {n: normal(LAYERS, WIDTH, HEADS, WIDTH // HEADS) for n in "qkv"} | {"o": normal(LAYERS, HEADS, WIDTH // HEADS, WIDTH), "router": normal(LAYERS, WIDTH, EXPERTS), "up": normal(LAYERS, EXPERTS, WIDTH, INNER), "down": normal(LAYERS, EXPERTS, INNER, WIDTH), "s1": jnp.ones((LAYERS, WIDTH)), "s2": jnp.ones((LAYERS, WIDTH))}
    params = {"embed": normal(SYMBOLS, WIDTH), "scale": jnp.ones(WIDTH), "layers": layers}
    tokens = jax.random.randint(next(keys), (4, length + 1), 0, SYMBOLS)
    values = []
    for _ in range(3):
        params, value = train(params, tokens)
        values.append(value)
    return {"loss": np.array(values), "after": np.array(evaluate(params, tokens))}


TOLERANCE = {"loss": {"rtol": 1e-2}, "after": {"rtol": 1e-2}}

if __name__ == "__main__":
    for name, value in main().items():
        print(name, np.array2string(value, precision=4, threshold=20))
