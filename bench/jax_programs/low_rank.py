"""A low-rank approximation by random projections, its error, ridge regression on its factors, and principal components."""
import jax
import jax.numpy as jnp
import numpy as np

RANK = 48


@jax.jit
def sketch(key, x):
    probe = jax.random.normal(key, (x.shape[1], RANK + 16))
    q, _ = jnp.linalg.qr(x @ probe)
    for _ in range(2):
        q, _ = jnp.linalg.qr(x.T @ q)
        q, _ = jnp.linalg.qr(x @ q)
    u, s, vt = jnp.linalg.svd(q.T @ x, full_matrices=False)
    return (q @ u)[:, :RANK], s[:RANK], vt[:RANK]


@jax.jit
def error(x, u, s, vt):
    return jnp.sqrt(jnp.sum((x - (u * s) @ vt) ** 2) / jnp.sum(x**2))


@jax.jit
def components(x):
    centred = x - x.mean(0)
    values, vectors = jnp.linalg.eigh(centred.T @ centred / x.shape[0])
    return values[::-1], jnp.abs(vectors[:, ::-1])


@jax.jit
def alternate(key, x):
    """Alternating least squares with a ridge: ten turns."""
    right = jax.random.normal(key, (x.shape[1], RANK))

    def turn(_, pair):
        left, right = pair
        solve = lambda a, b: jax.scipy.linalg.cho_solve(jax.scipy.linalg.cho_factor(a.T @ a + 0.1 * jnp.eye(RANK)), a.T @ b).T
        left = solve(right, x.T)
        return left, solve(left, x)

    left, right = jax.lax.fori_loop(0, 10, turn, (jnp.zeros((x.shape[0], RANK)), right))
    return jnp.sqrt(jnp.mean((x - left @ right.T) ** 2))


def main(scale: float = 1.0) -> dict[str, np.ndarray]:
    rows, columns = max(256, int(6000 * scale)), max(128, int(1200 * scale))
    k_left, k_right, k_noise, k_sketch, k_als = jax.random.split(jax.random.key(6), 5)
    x = jax.random.normal(k_left, (rows, 40)) @ jax.random.normal(k_right, (40, columns)) + 0.1 * jax.random.normal(k_noise, (rows, columns))
    u, s, vt = sketch(k_sketch, x)
    values, _ = components(x)
    return {"error": np.array(error(x, u, s, vt)), "singular": np.array(s[:40]), "values": np.array(values[:40]), "als": np.array(alternate(k_als, x))}


TOLERANCE = {"error": {"rtol": 1e-2}, "singular": {"rtol": 1e-3}, "values": {"rtol": 1e-3}, "als": {"rtol": 1e-2}}

if __name__ == "__main__":
    for name, value in main().items():
        print(name, np.array2string(value, precision=4, threshold=20))
