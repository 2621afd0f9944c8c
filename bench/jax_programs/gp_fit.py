"""Fit a Gaussian process with an RBF kernel by its marginal likelihood, then predict with error bars."""
import jax
import jax.numpy as jnp
import jax.scipy.linalg as linalg
import numpy as np
import optax


def kernel(p, x, y):
    apart = (x[:, None] - y[None]) / jnp.exp(p["length"])
    return jnp.exp(p["size"]) * jnp.exp(-0.5 * jnp.sum(apart**2, -1))


def factor(p, x):
    noise = jnp.exp(p["noise"]) + 1e-4
    return linalg.cho_factor(kernel(p, x, x) + noise * jnp.eye(x.shape[0]), lower=True)


def loss(p, x, y):
    c = factor(p, x)
    return (0.5 * y @ linalg.cho_solve(c, y) + jnp.sum(jnp.log(jnp.diagonal(c[0])))) / x.shape[0]


optimiser = optax.adam(5e-2)


@jax.jit
def step(p, state, x, y):
    value, slope = jax.value_and_grad(loss)(p, x, y)
    updates, state = optimiser.update(slope, state)
    return optax.apply_updates(p, updates), state, value


@jax.jit
def predict(p, x, y, at):
    c = factor(p, x)
    across = kernel(p, at, x)
    mean = across @ linalg.cho_solve(c, y)
    spread = linalg.solve_triangular(c[0], across.T, lower=True)
    return mean, jnp.exp(p["size"]) - jnp.sum(spread**2, 0)


def main(scale: float = 1.0) -> dict[str, np.ndarray]:
    n = max(64, int(1200 * scale))
    k1, k2, k3 = jax.random.split(jax.random.key(5), 3)
    x = jax.random.uniform(k1, (n, 3), minval=-2, maxval=2)
    y = jnp.sin(2 * x[:, 0]) * jnp.cos(x[:, 1]) + 0.3 * x[:, 2] + 0.1 * jax.random.normal(k2, (n,))
    p = {"length": jnp.zeros(3), "size": jnp.zeros(()), "noise": jnp.full((), -1.0)}
    state, losses = optimiser.init(p), []
    for _ in range(30):
        p, state, value = step(p, state, x, y)
        losses.append(value)
    mean, variance = predict(p, x, y, jax.random.uniform(k3, (512, 3), minval=-2, maxval=2))
    return {"losses": np.array(jnp.stack(losses)), "length": np.array(p["length"]), "noise": np.array(p["noise"]),
            "mean": np.array(mean), "deviation": np.array(jnp.sqrt(jnp.maximum(variance, 0)))}


TOLERANCE = {"deviation": {"atol": 5e-3}}

if __name__ == "__main__":
    for name, value in main().items():
        print(name, np.array2string(value, precision=4, threshold=20))
