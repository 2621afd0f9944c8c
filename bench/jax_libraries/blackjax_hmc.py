"""BlackJAX: logistic regression by Hamiltonian Monte Carlo with eight chains, and by MALA."""
import blackjax
import jax
import jax.numpy as jnp
import numpy as np

FEATURES, CHAINS = 16, 8


def main(scale: float = 1.0) -> dict[str, np.ndarray]:
    n = max(500, int(10_000 * scale))
    x = jax.random.normal(jax.random.key(0), (n, FEATURES))
    y = jnp.where(x @ jnp.linspace(-1, 1, FEATURES) + jax.random.logistic(jax.random.key(1), (n,)) > 0, 1.0, -1.0)

    def log_density(slopes):
        return -jnp.sum(jnp.logaddexp(0, -y * (x @ slopes))) - 0.5 * slopes @ slopes

    hmc = blackjax.hmc(log_density, step_size=5e-3, inverse_mass_matrix=jnp.ones(FEATURES), num_integration_steps=10)
    mala = blackjax.mala(log_density, 1e-5)

    @jax.jit
    def chains(keys, states):
        def step(states, key):
            states, _ = jax.vmap(hmc.step)(jax.random.split(key, CHAINS), states)
            return states, states.position

        return jax.lax.scan(step, states, keys)[1]

    @jax.jit
    def chain(keys, state):
        def step(state, key):
            state, _ = mala.step(key, state)
            return state, state.position

        return jax.lax.scan(step, state, keys)[1]

    drawn = chains(jax.random.split(jax.random.key(2), 100), jax.vmap(hmc.init)(jnp.zeros((CHAINS, FEATURES))))
    walked = chain(jax.random.split(jax.random.key(4), 300), mala.init(jnp.zeros(FEATURES)))
    return {"slopes": np.asarray(drawn[50:].mean((0, 1))).round(1), "walked": np.asarray(jnp.isfinite(walked).all())}
