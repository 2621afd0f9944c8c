"""Hamiltonian Monte Carlo for a logistic regression: 64 chains at once, leapfrog steps, the step size adapted."""
import jax
import jax.numpy as jnp
import numpy as np

FEATURES, CHAINS = 16, 64


def log_posterior(theta, x, y):
    logits = x @ theta
    return jnp.sum(y * jax.nn.log_sigmoid(logits) + (1 - y) * jax.nn.log_sigmoid(-logits)) - 0.5 * jnp.sum(theta**2)


def leapfrog(theta, momentum, x, y, size, steps):
    gradient = jax.vmap(jax.grad(log_posterior), (0, None, None))

    def step(_, state):
        theta, momentum = state
        momentum = momentum + size / 2 * gradient(theta, x, y)
        theta = theta + size * momentum
        return theta, momentum + size / 2 * gradient(theta, x, y)

    return jax.lax.fori_loop(0, steps, step, (theta, momentum))


@jax.jit
def sample(key, theta, size, x, y):
    value = jax.vmap(log_posterior, (0, None, None))

    def transition(carry, key):
        theta, size = carry
        k_momentum, k_accept = jax.random.split(key)
        momentum = jax.random.normal(k_momentum, theta.shape)
        moved, ended = leapfrog(theta, momentum, x, y, size, 4)
        gain = value(moved, x, y) - value(theta, x, y) - 0.5 * (ended**2).sum(1) + 0.5 * (momentum**2).sum(1)
        chance = jnp.minimum(1.0, jnp.exp(gain))
        accepted = jax.random.uniform(k_accept, chance.shape) < chance
        size = size * jnp.exp(0.1 * (chance.mean() - 0.8))
        return (jnp.where(accepted[:, None], moved, theta), size), (theta.mean(0), chance.mean())

    return jax.lax.scan(transition, (theta, size), jax.random.split(key, 10))


def main(scale: float = 1.0) -> dict[str, np.ndarray]:
    rows = max(256, int(28_000 * scale))
    k_x, k_theta, k_y, k_start, k_run = jax.random.split(jax.random.key(5), 5)
    x = jax.random.normal(k_x, (rows, FEATURES))
    truth = jax.random.normal(k_theta, (FEATURES,))
    y = jax.random.bernoulli(k_y, jax.nn.sigmoid(x @ truth)).astype(jnp.float32)
    theta = truth + 0.05 * jax.random.normal(k_start, (CHAINS, FEATURES))
    (theta, size), (means, chance) = sample(k_run, theta, 0.3 / jnp.sqrt(rows), x, y)
    return {"mean": np.array(theta.mean(0)), "size": np.array(size), "chance": np.array(chance[-3:].mean())}


TOLERANCE = {"mean": {"atol": 0.1}, "size": {"rtol": 0.3}, "chance": {"atol": 0.2}}

if __name__ == "__main__":
    for name, value in main().items():
        print(name, np.array2string(value, precision=4, threshold=20))
