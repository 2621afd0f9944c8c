"""Stein variational gradient descent: 128 particles, each all weights of a small network, pushed apart by a kernel."""
import jax
import jax.numpy as jnp
import numpy as np

FEATURES, HIDDEN, ROWS = 8, 32, 1000
WEIGHTS = FEATURES * HIDDEN + 2 * HIDDEN


def log_posterior(w, x, y):
    first = w[: FEATURES * HIDDEN].reshape(FEATURES, HIDDEN)
    bias, last = jnp.split(w[FEATURES * HIDDEN :], 2)
    return -5.0 * ((jnp.tanh(x @ first + bias) @ last - y) ** 2).sum() - 0.5 * w @ w


@jax.jit
def descend(particles, x, y):
    count = particles.shape[0]

    def turn(w, _):
        slope = jax.vmap(jax.grad(log_posterior), (0, None, None))(w, x, y)
        apart = ((w[:, None] - w[None]) ** 2).sum(-1)
        width = jnp.median(apart) / jnp.log(count) + 1e-6
        near = jnp.exp(-apart / width)
        push = (near.sum(1)[:, None] * w - near @ w) * 2 / width
        return w + 1e-4 * (near @ slope + push) / count, apart.mean()

    return jax.lax.scan(turn, particles, length=40)


def main(scale: float = 1.0) -> dict[str, np.ndarray]:
    k_x, k_noise, k_start = jax.random.split(jax.random.key(8), 3)
    x = jax.random.normal(k_x, (ROWS, FEATURES))
    y = jnp.sin(x[:, 0]) + 0.1 * jax.random.normal(k_noise, (ROWS,))
    start = 0.3 * jax.random.normal(k_start, (max(8, int(128 * scale)), WEIGHTS))
    particles, apart = descend(start, x, y)
    return {"mean": np.array(particles.mean(0)), "apart": np.array(apart)}


if __name__ == "__main__":
    for name, value in main().items():
        print(name, np.array2string(value, precision=4, threshold=20))
