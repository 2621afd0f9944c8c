"""Jraph and Haiku: a graph network, attention over neighbours and a graph convolution, three training steps."""
import haiku as hk
import jax
import jax.numpy as jnp
import jraph
import numpy as np
import optax

GRAPHS, CLASSES = 8, 16


def network(graph):
    def layers(*sizes):
        return lambda *parts: hk.nets.MLP(sizes)(jnp.concatenate(parts, -1))

    graph = jraph.GraphNetwork(layers(64, 32), layers(64, 32), layers(32, 16))(graph)
    attend = lambda sent, received, _: jax.nn.leaky_relu(hk.Linear(1)(jnp.concatenate([sent, received], -1)))
    graph = jraph.GAT(lambda nodes: hk.Linear(32)(nodes), attend, jax.nn.elu)(graph._replace(edges=None))
    return jraph.GraphConvolution(lambda nodes: hk.Linear(CLASSES)(nodes), symmetric_normalization=True)(graph).nodes


def main(scale: float = 1.0) -> dict[str, np.ndarray]:
    nodes, edges = max(200, int(20_000 * scale)), max(800, int(100_000 * scale))
    keys = jax.random.split(jax.random.key(0), 6)
    graph = jraph.GraphsTuple(
        nodes=jax.random.normal(keys[2], (nodes, 32)),
        edges=jax.random.normal(keys[3], (edges, 8)),
        senders=jax.random.randint(keys[0], (edges,), 0, nodes),
        receivers=jnp.sort(jax.random.randint(keys[1], (edges,), 0, nodes)),
        globals=jnp.zeros((GRAPHS, 4)),
        n_node=jnp.full(GRAPHS, nodes // GRAPHS),
        n_edge=jnp.full(GRAPHS, edges // GRAPHS),
    )
    labels = jax.random.randint(keys[5], (nodes,), 0, CLASSES)
    model, optimiser = hk.without_apply_rng(hk.transform(network)), optax.adam(1e-3)
    parameters = model.init(keys[4], graph)
    state = optimiser.init(parameters)

    @jax.jit
    def step(parameters, state):
        loss = lambda p: optax.softmax_cross_entropy_with_integer_labels(model.apply(p, graph), labels).mean()
        value, slopes = jax.value_and_grad(loss)(parameters)
        updates, state = optimiser.update(slopes, state)
        return optax.apply_updates(parameters, updates), state, value

    for _ in range(3):
        parameters, state, value = step(parameters, state)
    return {"loss": np.asarray(value)}
