"""tinygp: a Gaussian process, dense and as a state-space model, fitted by gradients, and its predictions."""
import jax
import jax.numpy as jnp
import numpy as np
import optax
import tinygp


def main(scale: float = 1.0) -> dict[str, np.ndarray]:
    n = max(60, int(1200 * scale))
    x = jnp.sort(jax.random.uniform(jax.random.key(0), (n,), maxval=10.0))
    y = jnp.sin(x) + 0.1 * jax.random.normal(jax.random.key(1), (n,))

    def process(p, kernel):
        return tinygp.GaussianProcess(jnp.exp(p["height"]) * kernel(scale=jnp.exp(p["length"])), x, diag=jnp.exp(2 * p["noise"]))

    def loss(kernel):
        return jax.jit(jax.value_and_grad(lambda p: -process(p, kernel).log_probability(y) / n))

    dense, sparse = tinygp.kernels.Matern32, tinygp.kernels.quasisep.Matern32
    parameters = {"height": jnp.array(0.0), "length": jnp.array(0.0), "noise": jnp.array(-1.0)}
    optimiser, fit = optax.adam(0.05), loss(dense)
    state = optimiser.init(parameters)
    for _ in range(4):
        value, slopes = fit(parameters)
        updates, state = optimiser.update(slopes, state)
        parameters = optax.apply_updates(parameters, updates)
    predict = jax.jit(lambda p: process(p, dense).condition(y, jnp.linspace(0, 10, 200)).gp.variance)
    results = {"loss": value, "sparse": loss(sparse)(parameters)[0], "variance": predict(parameters)[::20]}
    return {name: np.asarray(array) for name, array in results.items()}
