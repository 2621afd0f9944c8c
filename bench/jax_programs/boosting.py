"""Gradient boosted trees of depth 3 on binned features: histograms of residuals, the best split of each node."""
import jax
import jax.numpy as jnp
import numpy as np

FEATURES, BINS, LEAVES = 24, 32, 8


def best_splits(node, residual, x):
    def histogram(column):
        place = node * BINS + column
        sums = jax.ops.segment_sum(residual, place, LEAVES * BINS)
        return jnp.stack([sums, jax.ops.segment_sum(jnp.ones_like(residual), place, LEAVES * BINS)])

    counts = jax.vmap(histogram, 1)(x).reshape(FEATURES, 2, LEAVES, BINS)
    left = jnp.cumsum(counts, -1)
    right = left[..., -1:] - left
    gain = left[:, 0] ** 2 / (left[:, 1] + 1) + right[:, 0] ** 2 / (right[:, 1] + 1)
    best = jnp.argmax(gain.transpose(1, 0, 2).reshape(LEAVES, -1), -1)
    return best // BINS, best % BINS


@jax.jit
def tree(x, residual):
    node = jnp.zeros(x.shape[0], jnp.int32)
    for _ in range(3):
        feature, threshold = best_splits(node, residual, x)
        taken = jnp.take_along_axis(x, feature[node][:, None], 1)[:, 0]
        node = node * 2 % LEAVES + (taken > threshold[node])
    total = jax.ops.segment_sum(residual, node, LEAVES)
    return 0.3 * (total / (jax.ops.segment_sum(jnp.ones_like(residual), node, LEAVES) + 1))[node]


def main(scale: float = 1.0) -> dict[str, np.ndarray]:
    k_x, k_noise = jax.random.split(jax.random.key(0))
    x = jax.random.randint(k_x, (max(1024, int(60_000 * scale)), FEATURES), 0, BINS)
    y = jnp.sin(x[:, 0] / 5.0) + (x[:, 1] > 16) * x[:, 2] / 16.0 + 0.1 * jax.random.normal(k_noise, x.shape[:1])
    predicted = jnp.zeros(x.shape[0])
    for _ in range(8):
        predicted = predicted + tree(x, y - predicted)
    return {"error": np.array(jnp.mean((y - predicted) ** 2))}


if __name__ == "__main__":
    for name, value in main().items():
        print(name, np.array2string(value, precision=4, threshold=20))
