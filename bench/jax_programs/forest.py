"""Predictions of a forest of decision trees: six levels of lookups in tables, for each row and tree."""
import jax
import jax.numpy as jnp
import numpy as np

DEPTH = 6
INNER = 2 ** DEPTH - 1


@jax.jit
def predicted(rows, features, thresholds, values):
    def of_tree(row, features, thresholds, values):
        def deeper(_, node):
            return 2 * node + 1 + (row[features[node]] > thresholds[node])

        return values[jax.lax.fori_loop(0, DEPTH, deeper, 0) - INNER]

    trees = jax.vmap(of_tree, (None, 0, 0, 0))
    return jax.vmap(lambda row: trees(row, features, thresholds, values).sum())(rows)


def main(scale: float = 1.0) -> dict[str, np.ndarray]:
    keys = jax.random.split(jax.random.key(5), 4)
    trees, width = 50, 20
    rows = jax.random.normal(keys[0], (max(500, int(20_000 * scale)), width))
    features = jax.random.randint(keys[1], (trees, INNER), 0, width)
    thresholds = jax.random.normal(keys[2], (trees, INNER))
    values = jax.random.normal(keys[3], (trees, INNER + 1))
    return {"predicted": np.array(predicted(rows, features, thresholds, values)[:16])}


TOLERANCE = {"predicted": {"rtol": 1e-4, "atol": 1e-4}}


if __name__ == "__main__":
    for name, value in main().items():
        print(name, np.array2string(value, precision=4, threshold=20))
