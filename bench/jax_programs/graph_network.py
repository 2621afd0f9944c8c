"""A graph network: messages along edges, sums at nodes, six rounds, trained to tell communities apart."""
import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax

WIDTH, ROUNDS, COMMUNITIES = 64, 6, 8


class Network(nn.Module):
    @nn.compact
    def __call__(self, x, senders, receivers):
        h = nn.Dense(WIDTH)(x)
        degree = jax.ops.segment_sum(jnp.ones_like(senders, jnp.float32), receivers, x.shape[0])[:, None]
        for _ in range(ROUNDS):
            message = nn.relu(nn.Dense(WIDTH)(jnp.concatenate([h[senders], h[receivers]], -1)))
            gathered = jax.ops.segment_sum(message, receivers, x.shape[0]) / jnp.maximum(degree, 1)
            h = nn.LayerNorm()(h + nn.Dense(WIDTH)(nn.relu(nn.Dense(2 * WIDTH)(jnp.concatenate([h, gathered], -1)))))
        return nn.Dense(COMMUNITIES)(h)


model = Network()
optimiser = optax.adamw(3e-3)


@jax.jit
def step(params, state, x, senders, receivers, labels):
    def loss_of(params):
        logits = model.apply(params, x, senders, receivers)
        return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()

    loss, gradient = jax.value_and_grad(loss_of)(params)
    update, state = optimiser.update(gradient, state, params)
    return optax.apply_updates(params, update), state, loss


@jax.jit
def evaluate(params, x, senders, receivers, labels):
    return jnp.mean(model.apply(params, x, senders, receivers).argmax(-1) == labels)


def main(scale: float = 1.0) -> dict[str, np.ndarray]:
    nodes, edges = max(64, int(6000 * scale)), max(512, int(60_000 * scale))
    k_label, k_send, k_same, k_pick, k_x, k_init = jax.random.split(jax.random.key(8), 6)
    labels = jnp.arange(nodes) % COMMUNITIES
    senders = jax.random.randint(k_send, (edges,), 0, nodes)
    near = (senders + COMMUNITIES * jax.random.randint(k_same, (edges,), 1, nodes // COMMUNITIES)) % nodes
    receivers = jnp.where(jax.random.uniform(k_pick, (edges,)) < 0.7, near, jax.random.randint(k_same, (edges,), 0, nodes))
    x = jax.nn.one_hot(labels, 16) * 0.3 + jax.random.normal(k_x, (nodes, 16))
    params = jax.jit(model.init)(k_init, x, senders, receivers)
    state, losses = optimiser.init(params), []
    for _ in range(max(2, int(6 * scale))):
        params, state, loss = step(params, state, x, senders, receivers, labels)
        losses.append(loss)
    return {"losses": np.array(losses), "accuracy": np.array(evaluate(params, x, senders, receivers, labels))}


TOLERANCE = {"losses": {"rtol": 2e-2}, "accuracy": {"atol": 3e-2}}

if __name__ == "__main__":
    for name, value in main().items():
        print(name, np.array2string(value, precision=4, threshold=20))
