"""Heston's equation by alternating directions: tridiagonal systems along the rows of a grid, then along its columns."""
import jax
import jax.numpy as jnp
import numpy as np


def solved(below, diagonal, above, right):
    """Thomas' algorithm along the first dimension, for all columns."""
    def forward(carry, row):
        above_before, right_before = carry
        b, d, a, r = row
        factor = 1 / (d - b * above_before)
        now = a * factor, (r - b * right_before) * factor
        return now, now

    def backward(x, row):
        above, right = row
        x = right - above * x
        return x, x

    zeros = jnp.zeros_like(right[0])
    rows = jax.lax.scan(forward, (zeros, zeros), (below, diagonal, above, right))[1]
    return jax.lax.scan(backward, zeros, rows, reverse=True)[1]


@jax.jit
def diffused(u, below, diagonal, above):
    def step(u, _):
        u = solved(below, diagonal, above, u)
        return solved(below.T, diagonal.T, above.T, u.T).T, None

    return jax.lax.scan(step, u, length=10)[0]


def main(scale: float = 1.0) -> dict[str, np.ndarray]:
    side = max(32, int(512 * scale))
    keys = jax.random.split(jax.random.key(2), 4)
    below, above = (-0.3 - 0.1 * jax.random.uniform(k, (side, side)) for k in keys[:2])
    diagonal = 2 + jax.random.uniform(keys[2], (side, side))
    return {"u": np.array(diffused(jax.random.normal(keys[3], (side, side)), below, diagonal, above)[:8, :8])}


if __name__ == "__main__":
    for name, value in main().items():
        print(name, np.array2string(value, precision=4, threshold=20))
