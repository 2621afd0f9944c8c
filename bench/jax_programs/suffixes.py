"""A suffix array by doubling: each turn sorts by two keys, the rank of a suffix and that of its continuation."""
import jax
import jax.numpy as jnp
import numpy as np

LENGTHS = (1, 2, 4, 8, 16)


@jax.jit
def ranks(text):
    def turn(rank, length):
        padded = jnp.concatenate([rank, jnp.full(LENGTHS[-1], -1)])
        after = jax.lax.dynamic_slice(padded, (length,), rank.shape)
        order = jnp.lexsort((after, rank))
        first, second = rank[order], after[order]
        differs = (first[1:] != first[:-1]) | (second[1:] != second[:-1])
        return jnp.zeros_like(rank).at[order[1:]].set(jnp.cumsum(differs)), None

    return jax.lax.scan(turn, text, jnp.array(LENGTHS))[0]


def main(scale: float = 1.0) -> dict[str, np.ndarray]:
    text = jax.random.randint(jax.random.key(4), (max(500, int(100_000 * scale)),), 0, 4)
    return {"ranks": np.array(ranks(text)[:16])}


if __name__ == "__main__":
    for name, value in main().items():
        print(name, np.array2string(value, precision=4, threshold=20))
