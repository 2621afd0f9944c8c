"""A physics-informed network: Burgers' equation from second derivatives of a multilayer perceptron at random points."""
import jax
import jax.numpy as jnp
import numpy as np
import optax

WIDTHS = (2, 128, 128, 128, 1)
optimiser = optax.adam(1e-3)


def parameters(key):
    return [(jax.random.normal(jax.random.fold_in(key, i), (a, b)) / np.sqrt(a), jnp.zeros(b)) for i, (a, b) in enumerate(zip(WIDTHS, WIDTHS[1:]))]


def network(params, t, x):
    h = jnp.stack([t, x])
    for w, b in params[:-1]:
        h = jnp.tanh(h @ w + b)
    w, b = params[-1]
    return (h @ w + b)[0] * (1 - x**2) - jnp.sin(np.pi * x)


def residual(params, t, x):
    u = network(params, t, x)
    u_t, u_x = jax.grad(network, (1, 2))(params, t, x)
    u_xx = jax.grad(jax.grad(network, 2), 2)(params, t, x)
    return u_t + u * u_x - 0.01 / np.pi * u_xx


@jax.jit
def train(key, params, state):
    def step(carry, key):
        params, state = carry
        t, x = jax.random.uniform(key, (2, 4096))
        loss_of = lambda p: jnp.mean(jax.vmap(residual, (None, 0, 0))(p, t, 2 * x - 1) ** 2)
        loss, gradient = jax.value_and_grad(loss_of)(params)
        update, state = optimiser.update(gradient, state)
        return (optax.apply_updates(params, update), state), loss

    return jax.lax.scan(step, (params, state), jax.random.split(key, 10))


@jax.jit
def field(params):
    t, x = jnp.meshgrid(jnp.linspace(0, 1, 100), jnp.linspace(-1, 1, 256), indexing="ij")
    return jax.vmap(jax.vmap(network, (None, 0, 0)), (None, 0, 0))(params, t, x)


def main(scale: float = 1.0) -> dict[str, np.ndarray]:
    params = parameters(jax.random.key(9))
    state, losses = optimiser.init(params), []
    for i in range(max(1, int(3 * scale))):
        (params, state), loss = train(jax.random.key(10 + i), params, state)
        losses.append(loss)
    return {"losses": np.array(losses)[:, -1], "field": np.array(field(params))[::20, ::32]}


TOLERANCE = {"losses": {"rtol": 5e-2}, "field": {"atol": 2e-2}}

if __name__ == "__main__":
    for name, value in main().items():
        print(name, np.array2string(value, precision=4, threshold=20))
