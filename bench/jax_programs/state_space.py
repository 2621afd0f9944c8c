"""A model of long sequences: diagonal state spaces by associative scans, gated, with layers in a scan, trained by AdamW."""
import jax
import jax.numpy as jnp
import numpy as np

LAYERS, WIDTH, STATE, SYMBOLS = 4, 128, 16, 256


def layer(x, p):
    mean, var = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    h = (x - mean) * jax.lax.rsqrt(var + 1e-5) * p["scale"]
    u, gate = jnp.split(h @ p["in"], 2, -1)
    step = jax.nn.softplus(u @ p["step"] + p["bias"])
    decay = jnp.exp(-step[..., None] * jnp.exp(p["log_a"]))
    drive = (step * u)[..., None] * (u @ p["b"])[..., None, :]
    join = lambda l, r: (l[0] * r[0], r[0] * l[1] + r[1])
    _, states = jax.lax.associative_scan(join, (decay, drive), axis=1)
    y = (states * (u @ p["c"])[..., None, :]).sum(-1) + u * p["d"]
    return x + (y * jax.nn.silu(gate)) @ p["out"]


def loss(params, tokens):
    x = params["embed"][tokens[:, :-1]]
    x, _ = jax.lax.scan(lambda x, p: (layer(x, p), None), x, params["layers"])
    logits = x @ params["embed"].T
    return -jnp.take_along_axis(jax.nn.log_softmax(logits), tokens[:, 1:, None], -1).mean()


@jax.jit
def train(params, moments, count, tokens):
    value, slopes = jax.value_and_grad(loss)(params, tokens)
    first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, moments[0], slopes)
    second = jax.tree.map(lambda m, g: 0.99 * m + 0.01 * g * g, moments[1], slopes)
    a, b = 1 - 0.9**count, 1 - 0.99**count
    params = jax.tree.map(lambda p, m, v: p - 1e-3 * (m / a / (jnp.sqrt(v / b) + 1e-8) + 0.01 * p), params, first, second)
    return params, (first, second), value


@jax.jit
def generate(params, key, prompt, length=64):
    def one(params, carry, token):
        def down(x, inputs):
            p, state = inputs
            h = (x - x.mean(-1, keepdims=True)) * jax.lax.rsqrt(x.var(-1, keepdims=True) + 1e-5) * p["scale"]
            u, gate = jnp.split(h @ p["in"], 2, -1)
            step = jax.nn.softplus(u @ p["step"] + p["bias"])
            state = jnp.exp(-step[..., None] * jnp.exp(p["log_a"])) * state + (step * u)[..., None] * (u @ p["b"])[..., None, :]
            y = (state * (u @ p["c"])[..., None, :]).sum(-1) + u * p["d"]
            return x + (y * jax.nn.silu(gate)) @ p["out"], state

        x, carry = jax.lax.scan(down, params["embed"][token], (params["layers"], carry))
        return carry, x @ params["embed"].T

    def turn(state, key):
        carry, token = state
        carry, logits = one(params, carry, token)
        token = jax.random.categorical(key, logits)
        return (carry, token), token

    carry = jnp.zeros((LAYERS, prompt.shape[0], WIDTH, STATE))
    return jax.lax.scan(turn, (carry, prompt), jax.random.split(key, 64))[1]


def main(scale: float = 1.0) -> dict[str, np.ndarray]:
    length = max(16, int(256 * scale))
    keys = iter(jax.random.split(jax.random.key(1), 12))
    normal = lambda *shape: jax.random.normal(next(keys), shape) / shape[-2] ** 0.5
    layers = {"scale": jnp.ones((LAYERS, WIDTH)), "in": normal(LAYERS, WIDTH, 2 * WIDTH), "step": normal(LAYERS, WIDTH, WIDTH), "bias": jnp.full((LAYERS, WIDTH), -3.0), "log_a": jnp.log(jnp.tile(jnp.arange(1.0, STATE + 1), (LAYERS, WIDTH, 1))), "b": normal(LAYERS, WIDTH, STATE), "c": normal(LAYERS, WIDTH, STATE), "d": jnp.ones((LAYERS, WIDTH)), "out": normal(LAYERS, WIDTH, WIDTH)}
    params = {"embed": 0.1 * jax.random.normal(next(keys), (SYMBOLS, WIDTH)), "layers": layers}
    tokens = jnp.cumsum(jax.random.randint(next(keys), (8, length + 1), 0, 5), 1) % SYMBOLS
    moments = (jax.tree.map(jnp.zeros_like, params),) * 2
    values = []
    for k in range(4):
        params, moments, value = train(params, moments, k + 1, tokens)
        values.append(value)
    drawn = generate(params, next(keys), tokens[:, 0])
    return {"loss": np.array(values), "drawn": np.array(drawn.shape)}


TOLERANCE = {"loss": {"rtol": 1e-2}}

if __name__ == "__main__":
    for name, value in main().items():
        print(name, np.array2string(value, precision=4, threshold=20))
