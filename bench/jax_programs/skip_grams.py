"""Word vectors: skip-grams with negative samples, rows gathered and gradients scattered, and the nearest words."""
import jax
import jax.numpy as jnp
import numpy as np

WORDS, WIDTH, NEGATIVES = 30_000, 128, 8


def loss_of(tables, centre, context, negative):
    inner, outer = tables
    c, o, n = inner[centre], outer[context], outer[negative]
    good = jax.nn.log_sigmoid((c * o).sum(-1))
    bad = jax.nn.log_sigmoid(-jnp.einsum("bd,bnd->bn", c, n)).sum(-1)
    return -(good + bad).mean()


@jax.jit
def train(key, tables, centres, contexts):
    def step(tables, batch):
        key, centre, context = batch
        negative = jax.random.randint(key, (centre.shape[0], NEGATIVES), 0, WORDS)
        loss, gradient = jax.value_and_grad(loss_of)(tables, centre, context, negative)
        return jax.tree.map(lambda t, g: t - 20.0 * g, tables, gradient), loss

    return jax.lax.scan(step, tables, (jax.random.split(key, centres.shape[0]), centres, contexts))


@jax.jit
def nearest(table, chosen):
    unit = table / (jnp.linalg.norm(table, axis=1, keepdims=True) + 1e-6)
    return jax.lax.top_k(unit[chosen] @ unit.T, 10)


def main(scale: float = 1.0) -> dict[str, np.ndarray]:
    steps, batch = max(2, int(12 * scale)), 8192
    k_text, k_table, k_run = jax.random.split(jax.random.key(11), 3)
    text = jnp.exp(jax.random.uniform(k_text, (steps, batch + 1)) * np.log(WORDS)).astype(jnp.int32) % WORDS
    tables = (0.1 * jax.random.normal(k_table, (WORDS, WIDTH)), jnp.zeros((WORDS, WIDTH)))
    tables, losses = train(k_run, tables, text[:, :-1], text[:, 1:])
    near, _ = nearest(tables[0], jnp.arange(512))
    return {"losses": np.array(losses), "near": np.array(near[:, 1].mean())}


TOLERANCE = {"losses": {"rtol": 1e-2}, "near": {"atol": 1e-2}}

if __name__ == "__main__":
    for name, value in main().items():
        print(name, np.array2string(value, precision=4, threshold=20))
