"""Brax: ants in a batch, moved at random, and the gradient of a pendulum's steps by its force."""
import jax
import jax.numpy as jnp
import numpy as np
from brax import envs


def main(scale: float = 1.0) -> dict[str, np.ndarray]:
    batch = max(4, int(128 * scale))
    ants, pendulum = envs.get_environment("ant", backend="positional"), envs.get_environment("inverted_pendulum", backend="generalized")
    keys = jax.random.split(jax.random.key(0), batch)

    @jax.jit
    def walk(states, key):
        def step(states, key):
            action = jax.random.uniform(key, (batch, ants.action_size), minval=-1, maxval=1)
            states = jax.vmap(ants.step)(states, action)
            return states, states.reward

        return jax.lax.scan(step, states, jax.random.split(key, 20))[1]

    @jax.jit
    @jax.grad
    def push(force, states):
        def step(states, _):
            return jax.vmap(pendulum.step)(states, jnp.broadcast_to(force, (batch, 1))), None

        return jax.lax.scan(step, states, None, length=5)[0].obs.mean()

    rewards = walk(jax.jit(jax.vmap(ants.reset))(keys), jax.random.key(1))
    slope = push(jnp.array([0.1]), jax.jit(jax.vmap(pendulum.reset))(keys))
    return {"reward": np.asarray(rewards.mean()).round(2), "slope": np.asarray(slope).round(2)}
