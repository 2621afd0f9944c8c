"""Optimistix, Lineax and Equinox: least squares, BFGS, roots, linear systems, and a convolutional network in training."""
import equinox as eqx
import jax
import jax.numpy as jnp
import lineax
import numpy as np
import optax
import optimistix


class Network(eqx.Module):
    layers: list
    last: eqx.nn.Linear

    def __init__(self, key):
        first, second, last = jax.random.split(key, 3)
        self.layers = [
            eqx.nn.Conv2d(3, 32, 3, padding=1, key=first),
            eqx.nn.GroupNorm(8, 32),
            eqx.nn.Conv2d(32, 64, 3, stride=2, padding=1, key=second),
            eqx.nn.MaxPool2d(2, 2),
        ]
        self.last = eqx.nn.Linear(64 * 8 * 8, 10, key=last)

    def __call__(self, x):
        for layer in self.layers:
            x = jax.nn.relu(layer(x))
        return self.last(x.ravel())


def train(images):
    labels, optimiser, network = jnp.arange(images.shape[0]) % 10, optax.adamw(1e-3), Network(jax.random.key(3))
    state = optimiser.init(eqx.filter(network, eqx.is_array))

    @eqx.filter_jit
    def step(network, state):
        loss = lambda n: optax.softmax_cross_entropy_with_integer_labels(jax.vmap(n)(images), labels).mean()
        value, slopes = eqx.filter_value_and_grad(loss)(network)
        updates, state = optimiser.update(slopes, state, eqx.filter(network, eqx.is_array))
        return eqx.apply_updates(network, updates), state, value

    for _ in range(3):
        network, state, value = step(network, state)
    return value


def main(scale: float = 1.0) -> dict[str, np.ndarray]:
    n = max(200, int(20_000 * scale))
    t = jnp.linspace(0, 10, n)
    y = 2 * jnp.exp(-0.5 * t) * jnp.cos(3 * t) + 0.01 * jax.random.normal(jax.random.key(0), (n,))
    residuals = lambda p, _: p[0] * jnp.exp(-p[1] * t) * jnp.cos(p[2] * t) - y
    valley = lambda x, _: jnp.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)
    wave = optimistix.least_squares(residuals, optimistix.LevenbergMarquardt(1e-5, 1e-5), jnp.array([1.0, 0.3, 2.8]), max_steps=200, throw=False)
    low = optimistix.minimise(valley, optimistix.BFGS(1e-6, 1e-6), jnp.zeros(50), max_steps=800, throw=False)
    cubes = optimistix.root_find(lambda x, _: x**3 - jnp.arange(1.0, 200), optimistix.Newton(1e-4, 1e-4), jnp.full(199, 2.0), throw=False)
    a = jax.random.normal(jax.random.key(1), (400, 400))
    a = lineax.MatrixLinearOperator(a @ a.T + 400 * jnp.eye(400), lineax.positive_semidefinite_tag)
    band = lineax.TridiagonalLinearOperator(jnp.full(n, 4.0), jnp.ones(n - 1), jnp.ones(n - 1))
    results = {
        "wave": wave.value,
        "low": valley(low.value, None).round(1),
        "cubes": cubes.value[::20],
        "gradients": lineax.linear_solve(a, jnp.ones(400), lineax.CG(1e-5, 1e-5), throw=False).value[:4],
        "direct": lineax.linear_solve(a, jnp.ones(400)).value[:4],
        "band": lineax.linear_solve(band, y).value[:5],
        "loss": train(jax.random.normal(jax.random.key(4), (max(4, int(64 * scale)), 3, 32, 32))),
    }
    return {name: np.asarray(array) for name, array in results.items()}
