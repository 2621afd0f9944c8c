"""A small U-Net of depthwise and transposed convolutions in three dimensions, group norms, Dice loss, SGD with momentum."""
import jax
import jax.numpy as jnp
import numpy as np


def convolved(x, w, stride=1, groups=1):
    return jax.lax.conv_general_dilated(x, w, (stride,) * 3, "SAME", dimension_numbers=("NDHWC", "DHWIO", "NDHWC"), feature_group_count=groups)


def norm(x, p, groups=4):
    parts = x.reshape(x.shape[:-1] + (groups, -1))
    mean, var = parts.mean((1, 2, 3, 5), keepdims=True), parts.var((1, 2, 3, 5), keepdims=True)
    return ((parts - mean) * jax.lax.rsqrt(var + 1e-5)).reshape(x.shape) * p[0] + p[1]


def block(x, p):
    y = jax.nn.gelu(norm(convolved(x, p["depth"], groups=x.shape[-1]), p["norm"]))
    return x + convolved(jax.nn.gelu(convolved(y, p["wide"])), p["narrow"])


def network(p, x):
    x = convolved(x, p["stem"])
    first = block(x, p["a"])
    low = block(convolved(first, p["down"], 2), p["b"])
    up = jax.lax.conv_transpose(low, p["up"], (2, 2, 2), "SAME", dimension_numbers=("NDHWC", "DHWIO", "NDHWC"))
    return convolved(block(jnp.concatenate([first, up], -1), p["c"]), p["head"])


def loss(p, x, y):
    shown = jax.nn.sigmoid(network(p, x))
    return 1 - (2 * (shown * y).sum((1, 2, 3)) + 1).mean() / ((shown + y).sum((1, 2, 3)) + 1).mean() + jnp.mean((shown - y) ** 2)


@jax.jit
def train(p, v, x, y):
    value, slopes = jax.value_and_grad(loss)(p, x, y)
    v = jax.tree.map(lambda v, g: 0.9 * v + g, v, slopes)
    return jax.tree.map(lambda p, v: p - 0.05 * v, p, v), v, value


evaluate = jax.jit(lambda p, x: (jax.nn.sigmoid(network(p, x)) > 0.5).mean((1, 2, 3)))


def main(scale: float = 1.0) -> dict[str, np.ndarray]:
    side = max(8, int(32 * scale) // 4 * 4)
    keys = iter(jax.random.split(jax.random.key(0), 32))
    kernel = lambda size, i, o: jax.random.normal(next(keys), (size,) * 3 + (i, o)) / (size**3 * i) ** 0.5
    blocks = lambda c: {"depth": kernel(3, 1, c), "norm": jnp.stack([jnp.ones(c), jnp.zeros(c)]), "wide": kernel(1, c, 2 * c), "narrow": kernel(1, 2 * c, c)}
    p = {"stem": kernel(3, 1, 16), "a": blocks(16), "down": kernel(2, 16, 32), "b": blocks(32), "up": kernel(2, 32, 16), "c": blocks(32), "head": kernel(1, 32, 1)}
    at = jnp.stack(jnp.meshgrid(*[jnp.arange(side)] * 3, indexing="ij"), -1)
    centres = jax.random.uniform(next(keys), (4, 1, 1, 1, 3)) * side
    y = (((at - centres) ** 2).sum(-1, keepdims=True) < (side / 4) ** 2).astype(jnp.float32)
    x = y + 0.5 * jax.random.normal(next(keys), y.shape)
    v, values = jax.tree.map(jnp.zeros_like, p), []
    for _ in range(4):
        p, v, value = train(p, v, x, y)
        values.append(value)
    return {"loss": np.array(values), "part": np.array(evaluate(p, x))}


TOLERANCE = {"loss": {"rtol": 1e-2}, "part": {"rtol": 0.2, "atol": 0.02}}
if __name__ == "__main__":
    for name, value in main().items():
        print(name, np.array2string(value, precision=4, threshold=20))
