"""The largest eigenvectors of a symmetric matrix by subspace iteration: a matrix times four columns, until they settle."""
import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def largest(matrix, start):
    def goes_on(state):
        _, change, turns = state
        return (turns < 200) & (change > 1e-5)

    def turn(state):
        q, _, turns = state
        moved = matrix @ q
        moved = moved / jnp.linalg.norm(moved, axis=0)
        return moved, jnp.abs(jnp.abs(moved) - jnp.abs(q)).max(), turns + 1

    return jax.lax.while_loop(goes_on, turn, (start, 1.0, 0))


def main(scale: float = 1.0) -> dict[str, np.ndarray]:
    size = max(32, int(800 * scale))
    keys = jax.random.split(jax.random.key(6))
    factor = jax.random.normal(keys[0], (size, size))
    q, _, turns = largest(factor @ factor.T, jax.random.normal(keys[1], (size, 4)))
    return {"q": np.array(jnp.abs(q[:8, 0])), "turns": np.array(turns > 10)}


TOLERANCE = {"q": {"rtol": 1e-2, "atol": 1e-3}}


if __name__ == "__main__":
    for name, value in main().items():
        print(name, np.array2string(value, precision=4, threshold=20))
