"""Densities: a normalising flow of couplings, a variational autoencoder of convolutions, a fixed point with an implicit gradient."""
import jax
import jax.numpy as jnp
import numpy as np
from functools import partial

WIDTH = 64


def coupled(x, p, mask):
    h = jnp.tanh((x * mask) @ p["a"] + p["b"])
    h = jnp.tanh(h @ p["c"])
    scale, shift = jnp.split(h @ p["d"], 2, -1)
    scale = jnp.tanh(scale) * (1 - mask)
    return x * jnp.exp(scale) + shift * (1 - mask), scale.sum(-1)


@jax.jit
def flow(params, x):
    masks = (jnp.arange(8)[:, None] + jnp.arange(x.shape[-1])) % 2

    def loss(params):
        def layer(state, inputs):
            y, change = coupled(state[0], inputs[0], inputs[1])
            return (y, state[1] + change), None

        (z, change), _ = jax.lax.scan(layer, (x, jnp.zeros(x.shape[0])), (params, masks.astype(jnp.float32)))
        return (0.5 * (z**2).sum(-1) - change).mean()

    def turn(params, _):
        value, slopes = jax.value_and_grad(loss)(params)
        return jax.tree.map(lambda p, g: p - 0.01 * g, params, slopes), value

    return jax.lax.scan(turn, params, None, length=8)


@jax.jit
def autoencoder(params, key, x):
    convolve = partial(jax.lax.conv_general_dilated, window_strides=(2, 2), padding="SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
    widen = partial(jax.lax.conv_transpose, strides=(2, 2), padding="SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))

    def loss(p):
        h = jax.nn.elu(convolve(jax.nn.elu(convolve(x, p["e1"])), p["e2"]))
        mean, spread = jnp.split(h.reshape(h.shape[0], -1) @ p["m"], 2, -1)
        z = mean + jnp.exp(0.5 * spread) * jax.random.normal(key, mean.shape)
        h = jax.nn.elu(widen(jax.nn.elu(z @ p["n"]).reshape(h.shape), p["d1"]))
        logits = widen(h, p["d2"])
        return (jnp.maximum(logits, 0) - logits * x + jnp.log1p(jnp.exp(-jnp.abs(logits)))).sum((1, 2, 3)).mean() + 0.5 * (jnp.exp(spread) + mean**2 - 1 - spread).sum(-1).mean()

    value, slopes = jax.value_and_grad(loss)(params)
    return jax.tree.map(lambda p, g: p - 1e-4 * g, params, slopes), value


@jax.custom_vjp
def settled(w, x):
    step = lambda z: jnp.tanh(z @ w + x)
    return jax.lax.while_loop(lambda s: (s[1] > 1e-5) & (s[2] < 80), lambda s: (step(s[0]), jnp.abs(step(s[0]) - s[0]).max(), s[2] + 1), (jnp.zeros_like(x), jnp.float32(1), 0))[0]


def forward(w, x):
    z = settled(w, x)
    return z, (w, x, z)


def backward(kept, g):
    w, x, z = kept
    _, pull = jax.vjp(lambda z: jnp.tanh(z @ w + x), z)
    u = jax.lax.fori_loop(0, 40, lambda _, u: g + pull(u)[0], g)
    return jax.vjp(lambda w, x: jnp.tanh(z @ w + x), w, x)[1](u)


settled.defvjp(forward, backward)


@jax.jit
def equilibrium(w, v, x, y):
    loss = lambda w, v: ((settled(w, x) @ v - y) ** 2).mean()

    def turn(state, _):
        w, v = state
        value, (a, b) = jax.value_and_grad(loss, (0, 1))(w, v)
        return (w - 0.05 * a, v - 0.05 * b), value

    return jax.lax.scan(turn, (w, v), None, length=4)[1]


def main(scale: float = 1.0) -> dict[str, np.ndarray]:
    n = max(64, int(4096 * scale))
    keys = iter(jax.random.split(jax.random.key(7), 24))
    normal = lambda *s: jax.random.normal(next(keys), s)
    params = {"a": 0.1 * normal(8, 16, WIDTH), "b": jnp.zeros((8, 1, WIDTH)), "c": 0.1 * normal(8, WIDTH, WIDTH), "d": 0.1 * normal(8, WIDTH, 32)}
    x = normal(n, 16)
    _, flows = flow(params, x.at[:, ::2].set(x[:, ::2] ** 2))
    pictures = jax.random.uniform(next(keys), (max(8, n // 16), 32, 32, 3))
    p = {"e1": 0.1 * normal(4, 4, 3, 32), "e2": 0.05 * normal(4, 4, 32, 64), "m": 0.02 * normal(4096, 128), "n": 0.1 * normal(64, 4096), "d1": 0.05 * normal(4, 4, 64, 32), "d2": 0.05 * normal(4, 4, 32, 3)}
    values = []
    for _ in range(2):
        p, value = autoencoder(p, next(keys), pictures)
        values.append(value)
    rest = equilibrium(0.5 * normal(256, 256) / 16, 0.1 * normal(256, 8), normal(n // 4, 256), normal(n // 4, 8))
    return {"flows": np.array(flows), "values": np.array(values), "rest": np.array(rest)}


TOLERANCE = {"flows": {"rtol": 1e-2}, "values": {"rtol": 1e-2}, "rest": {"rtol": 1e-2}}
if __name__ == "__main__":
    for name, value in main().items():
        print(name, np.array2string(value, precision=4, threshold=20))
