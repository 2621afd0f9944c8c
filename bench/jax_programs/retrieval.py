"""Search: bags of embeddings with their gradient, nearest codes by product quantisation, joins of sorted keys, unique values, ranking losses."""
import jax
import jax.numpy as jnp
import numpy as np

ROWS, WIDTH, PARTS, CODES = 50000, 64, 8, 256


@jax.jit
def bags(table, w, ids, segments, clicks):
    def loss(table, w):
        bag = jax.ops.segment_sum(table[ids], segments, clicks.shape[0]) / jnp.maximum(jax.ops.segment_sum(jnp.ones(ids.shape), segments, clicks.shape[0]), 1)[:, None]
        most = jax.ops.segment_max(table[ids], segments, clicks.shape[0])
        logits = jnp.concatenate([bag, jnp.where(jnp.isfinite(most), most, 0)], 1) @ w
        return (jnp.logaddexp(0, logits) - clicks * logits).mean()

    value, (a, b) = jax.value_and_grad(loss, (0, 1))(table, w)
    return table - 0.1 * a, w - 0.1 * b, value


@jax.jit
def coded(x, books):
    parts = x.reshape(x.shape[0], PARTS, -1)
    far = (parts**2).sum(-1)[..., None] - 2 * jnp.einsum("npd,pcd->npc", parts, books) + (books**2).sum(-1)
    return far.argmin(-1).astype(jnp.uint8)


@jax.jit
def searched(codes, books, queries):
    tables = jnp.einsum("qpd,pcd->qpc", queries.reshape(queries.shape[0], PARTS, -1), books)

    def one(table):
        scores = sum(table[p][codes[:, p]] for p in range(PARTS))
        return jax.lax.top_k(scores, 10)

    return jax.lax.map(one, tables)


@jax.jit
def joined(left, right):
    values, counts = jnp.unique(left, return_counts=True, size=4096, fill_value=-1)
    order = jnp.argsort(right, stable=True)
    low, high = jnp.searchsorted(right[order], values), jnp.searchsorted(right[order], values, side="right")
    pairs = jnp.where(values >= 0, counts * (high - low), 0)
    keys = jnp.lexsort((right, right % 7))
    runs = jnp.cumsum(jnp.concatenate([jnp.ones(1, int), (right[keys][1:] != right[keys][:-1]).astype(int)])) - 1
    return pairs.sum(), jax.ops.segment_sum(jnp.ones(right.shape), runs, 4096).max(), jnp.bincount(left % 97, length=97)


@jax.jit
def ranked(scores, wanted):
    order = jnp.argsort(-scores, axis=1)
    gains = jnp.take_along_axis(2.0**wanted - 1, order, 1)
    best = -jnp.sort(-(2.0**wanted - 1), axis=1)
    halved = 1 / jnp.log2(jnp.arange(scores.shape[1]) + 2)
    pairs = jax.nn.softplus(-(scores[:, :, None] - scores[:, None])) * (wanted[:, :, None] > wanted[:, None])
    return ((gains * halved).sum(1) / (best * halved).sum(1)).mean(), pairs.sum() / (wanted[:, :, None] > wanted[:, None]).sum()


def main(scale: float = 1.0) -> dict[str, np.ndarray]:
    n = max(256, int(ROWS * scale))
    keys = jax.random.split(jax.random.key(21), 8)
    table = jax.random.normal(keys[0], (n, WIDTH))
    ids, segments = jax.random.randint(keys[1], (n,), 0, n), jnp.sort(jax.random.randint(keys[2], (n,), 0, n // 10))
    w, values = jnp.zeros(2 * WIDTH), []
    clicks = (jax.random.uniform(keys[3], (n // 10,)) < 0.3).astype(jnp.float32)
    learned = table
    for _ in range(3):
        learned, w, value = bags(learned, w, ids, segments, clicks)
        values.append(value)
    books = table[:CODES].reshape(CODES, PARTS, -1).swapaxes(0, 1)
    codes = coded(table, books)
    best, _ = searched(codes, books, table[:64] + 0.1)
    total, most, _ = joined(jax.random.randint(keys[4], (n,), 0, 3000), jax.random.randint(keys[5], (n,), 0, 3000))
    quality, loss = ranked(jax.random.normal(keys[6], (256, 100)), jax.random.randint(keys[7], (256, 100), 0, 5))
    return {"values": np.array(values), "best": np.array(best[:8, 0]), "total": np.array(total), "most": np.array(most), "quality": np.array(quality), "loss": np.array(loss)}


TOLERANCE = {"values": {"rtol": 1e-2}, "best": {"rtol": 1e-2}, "quality": {"rtol": 1e-3}, "loss": {"rtol": 1e-3}}
if __name__ == "__main__":
    for name, value in main().items():
        print(name, np.array2string(value, precision=4, threshold=20))
