"""PageRank and a spectral embedding of a random graph: gathers and scatters along its edges."""
import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def page_rank(source, target, degree):
    nodes = degree.shape[0]

    def turn(rank, _):
        given = rank[source] / jnp.maximum(degree[source], 1)
        return 0.15 / nodes + 0.85 * jnp.zeros(nodes).at[target].add(given), None

    return jax.lax.scan(turn, jnp.full(nodes, 1.0 / nodes), length=20)[0]


@jax.jit
def spectral(source, target, degree, start):
    scale = jax.lax.rsqrt(jnp.maximum(degree, 1))

    def turn(q, _):
        moved = q[source] * (scale[source] * scale[target])[:, None]
        return jnp.linalg.qr(q.at[target].add(moved))[0], None

    return jax.lax.scan(turn, jnp.linalg.qr(start)[0], length=10)[0]


def main(scale: float = 1.0) -> dict[str, np.ndarray]:
    nodes, edges = max(512, int(50_000 * scale)), max(4096, int(800_000 * scale))
    k_source, k_step, k_start = jax.random.split(jax.random.key(7), 3)
    source = jax.random.randint(k_source, (edges,), 0, nodes)
    target = (source + 8 * jax.random.randint(k_step, (edges,), 1, 200)) % nodes
    degree = jnp.zeros(nodes).at[source].add(1.0)
    rank = page_rank(source, target, degree)
    q = spectral(source, target, degree, jax.random.normal(k_start, (nodes, 8)))
    return {"rank": np.array(jnp.sort(rank)[-100:]), "aligned": np.array(jnp.abs(q.T @ q - jnp.eye(8)).max())}


TOLERANCE = {"aligned": {"atol": 1e-3}}

if __name__ == "__main__":
    for name, value in main().items():
        print(name, np.array2string(value, precision=4, threshold=20))
