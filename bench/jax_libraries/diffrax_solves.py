"""Diffrax: many Lorenz systems and the gradient of their ends, a stiff system, stochastic equations, a neural ODE in training."""
import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax


def lorenz(t, y, p):
    return jnp.stack([p[0] * (y[1] - y[0]), y[0] * (p[1] - y[2]) - y[1], y[0] * y[1] - p[2] * y[2]])


def robertson(t, y, _):
    slow, fast, square = 0.04 * y[0], 1e4 * y[1] * y[2], 3e7 * y[1] ** 2
    return jnp.stack([fast - slow, slow - fast - square, square])


def solve(field, method, end, first, y, args=None, save=None, control=None, most=512):
    save = diffrax.SaveAt(t1=True) if save is None else diffrax.SaveAt(ts=save)
    control = control or diffrax.PIDController(rtol=1e-5, atol=1e-6)
    return diffrax.diffeqsolve(field, method, 0.0, end, first, y, args=args, saveat=save, stepsize_controller=control, max_steps=most).ys


def main(scale: float = 1.0) -> dict[str, np.ndarray]:
    systems = max(8, int(256 * scale))
    starts = jax.random.normal(jax.random.key(0), (systems, 3)) + jnp.array([1.0, 1, 20])
    field, parameters = diffrax.ODETerm(lorenz), jnp.array([10.0, 28, 8 / 3])
    ways = jax.jit(jax.vmap(lambda y: solve(field, diffrax.Tsit5(), 1.0, 0.01, y, parameters, jnp.linspace(0, 1, 20))))(starts)
    ends = lambda p: jnp.mean(jax.vmap(lambda y: solve(field, diffrax.Tsit5(), 0.5, 0.01, y, p, most=128))(starts) ** 2)
    slopes = jax.jit(jax.grad(ends))(parameters)
    loose = diffrax.PIDController(rtol=1e-4, atol=1e-7)
    stiff = jax.jit(lambda y: solve(diffrax.ODETerm(robertson), diffrax.Kvaerno5(), 40.0, 1e-4, y, control=loose, most=4096))(jnp.array([1.0, 0, 0]))

    def noisy(key):
        noise = diffrax.ControlTerm(lambda t, y, _: 0.5, diffrax.VirtualBrownianTree(0.0, 1.0, 1e-2, (), key=key))
        return solve(diffrax.MultiTerm(diffrax.ODETerm(lambda t, y, _: -y), noise), diffrax.Heun(), 1.0, 0.02, jnp.array(1.0), control=diffrax.ConstantStepSize())

    spread = jax.jit(jax.vmap(noisy))(jax.random.split(jax.random.key(6), 8 * systems))
    times = jnp.linspace(0, 2, 40)
    circle, points = jnp.stack([jnp.cos(times), jnp.sin(times)], -1), jnp.tile(jnp.array([1.0, 0]), (64, 1))
    network, optimiser = eqx.nn.MLP(2, 2, 64, 2, key=jax.random.key(1)), optax.adam(3e-3)
    neural = diffrax.ODETerm(lambda t, y, network: network(y))
    state = optimiser.init(eqx.filter(network, eqx.is_array))

    @eqx.filter_jit
    def step(network, state):
        def loss(network):
            along = lambda y: solve(neural, diffrax.Tsit5(), 2.0, 0.05, y, network, times, diffrax.ConstantStepSize(), 64)
            return jnp.mean((jax.vmap(along)(points) - circle) ** 2)

        value, slopes = eqx.filter_value_and_grad(loss)(network)
        updates, state = optimiser.update(slopes, state)
        return eqx.apply_updates(network, updates), state, value

    for _ in range(5):
        network, state, value = step(network, state)
    results = {"ways": ways[:4, 3], "slopes": slopes, "stiff": stiff, "spread": spread.mean(), "loss": value}
    return {name: np.asarray(array) for name, array in results.items()}
