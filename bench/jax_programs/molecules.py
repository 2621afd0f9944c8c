"""Molecular dynamics: particles in a periodic box, by all pairs and by lists of neighbours, with a thermostat."""
import jax
import jax.numpy as jnp
import numpy as np

NEIGHBOURS = 48


def shift(a, b, side):
    d = a - b
    return d - side * jnp.round(d / side)


def pair_energy(squared):
    inverse = 1 / jnp.maximum(squared, 0.6) ** 3
    return jnp.where(squared < 6.25, 4 * (inverse * inverse - inverse), 0.0)


def all_pairs(x, side):
    squared = (shift(x[:, None], x[None], side) ** 2).sum(-1)
    return 0.5 * jnp.where(jnp.eye(x.shape[0], dtype=bool), 0, pair_energy(squared)).sum()


def listed(x, side, near):
    squared = (shift(x[:, None], x[near], side) ** 2).sum(-1)
    return 0.5 * pair_energy(squared).sum()


@jax.jit
def neighbours(x, side):
    squared = (shift(x[:, None], x[None], side) ** 2).sum(-1) + jnp.where(jnp.eye(x.shape[0], dtype=bool), 1e9, 0)
    return jax.lax.top_k(-squared, NEIGHBOURS)[1]


@jax.jit
def moved(key, x, v, side, near):
    force = lambda x: -jax.grad(listed)(x, side, near)

    def step(state, key):
        x, v, f = state
        v = v + 0.0005 * f
        x = (x + 0.001 * v) % side
        f = force(x)
        v = (v + 0.0005 * f) * 0.999 + 0.02 * jax.random.normal(key, v.shape)
        return (x, v, f), (listed(x, side, near), (v**2).sum() / 2)

    (x, v, _), energies = jax.lax.scan(step, (x, v, force(x)), jax.random.split(key, 40))
    return x, v, energies


@jax.jit
def exact(x, side):
    return jax.value_and_grad(all_pairs)(x, side)


@jax.jit
def distribution(x, side):
    distance = jnp.sqrt((shift(x[:, None], x[None], side) ** 2).sum(-1)).ravel()
    return jnp.histogram(distance, bins=80, range=(0.1, 4.0))[0]


def main(scale: float = 1.0) -> dict[str, np.ndarray]:
    edge = max(5, int(13 * scale))
    n, side = edge**3, 1.12 * edge
    grid = jnp.stack(jnp.meshgrid(*[jnp.arange(edge)] * 3), -1).reshape(n, 3) * 1.12
    keys = jax.random.split(jax.random.key(5), 3)
    x, v = grid + 0.05 * jax.random.normal(keys[0], (n, 3)), jax.random.normal(keys[1], (n, 3))
    near = neighbours(x, side)
    x, v, (potential, kinetic) = moved(keys[2], x, v, side, near)
    energy, force = exact(x, side)
    return {"potential": np.array(potential), "kinetic": np.array(kinetic), "energy": np.array(energy), "force": np.array(jnp.abs(force).mean(0)), "distribution": np.array(distribution(x, side))}


TOLERANCE = {"potential": {"rtol": 1e-2}, "kinetic": {"rtol": 1e-2}, "energy": {"rtol": 1e-2}, "force": {"rtol": 3e-2}, "distribution": {"rtol": 0.1}}

if __name__ == "__main__":
    for name, value in main().items():
        print(name, np.array2string(value, precision=4, threshold=20))
