"""Sparse matrices: finite elements assembled by scatters, conjugate gradients, GMRES, Lanczos, PageRank, matrix functions."""
import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import sparse
from jax.scipy.sparse.linalg import bicgstab, cg, gmres


def grid(side):
    index = np.arange(side * side).reshape(side, side)
    pairs = [(index[:, :-1], index[:, 1:]), (index[:-1], index[1:])]
    a, b = (np.concatenate([np.ravel(p[k]) for p in pairs]) for k in (0, 1))
    rows = np.concatenate([a, b, np.arange(side * side)])
    columns = np.concatenate([b, a, np.arange(side * side)])
    values = np.concatenate([-np.ones(2 * len(a)), 4.01 * np.ones(side * side)]).astype(np.float32)
    return rows, columns, values


@jax.jit
def by_segments(rows, columns, values, b):
    product = lambda x: jax.ops.segment_sum(values * x[columns], rows, b.shape[0])
    x, _ = cg(product, b, maxiter=60, tol=0)
    y, _ = bicgstab(product, b, maxiter=30, tol=0)
    return x, y


@jax.jit
def by_bcoo(matrix, b):
    x, _ = gmres(lambda x: matrix @ x, b, restart=15, maxiter=4, tol=1e-7)
    return x, matrix @ jnp.stack([b, x, x * x], 1)


@jax.jit
def lanczos(rows, columns, values, start):
    product = lambda x: jax.ops.segment_sum(values * x[columns], rows, start.shape[0])

    def step(k, state):
        basis, alpha, beta = state
        w = product(basis[k])
        a = w @ basis[k]
        w = w - basis.T @ (basis @ w)
        w = w - basis.T @ (basis @ w)
        b = jnp.linalg.norm(w)
        return basis.at[k + 1].set(w / b), alpha.at[k].set(a), beta.at[k].set(b)

    count = 30
    basis = jnp.zeros((count + 1, start.shape[0])).at[0].set(start / jnp.linalg.norm(start))
    _, alpha, beta = jax.lax.fori_loop(0, count, step, (basis, jnp.zeros(count), jnp.zeros(count)))
    return jnp.linalg.eigvalsh(jnp.diag(alpha) + jnp.diag(beta[:-1], 1) + jnp.diag(beta[:-1], -1))


@jax.jit
def rank(sources, targets, start):
    degree = jnp.zeros_like(start).at[sources].add(1)

    def turn(state):
        x, _, k = state
        flow = jnp.zeros_like(x).at[targets].add(x[sources] / degree[sources])
        now = 0.15 / x.shape[0] + 0.85 * (flow + jnp.where(degree == 0, x, 0).sum() / x.shape[0])
        return now, jnp.abs(now - x).sum(), k + 1

    return jax.lax.while_loop(lambda s: (s[1] > 1e-5) & (s[2] < 60), turn, (start, jnp.float32(1), 0))


@jax.jit
def functions(a):
    whole = a @ a.T / a.shape[0] + jnp.eye(a.shape[0])
    return jax.scipy.linalg.expm(-whole), jax.scipy.linalg.cholesky(whole), jnp.linalg.slogdet(whole)[1], jnp.linalg.lstsq(a, whole[0])[0], jnp.linalg.matrix_power(whole / 4, 9)


def main(scale: float = 1.0) -> dict[str, np.ndarray]:
    side = max(12, int(200 * scale))
    rows, columns, values = grid(side)
    b = jax.random.normal(jax.random.key(0), (side * side,))
    x, y = by_segments(rows, columns, values, b)
    matrix = sparse.BCOO((jnp.array(values), jnp.stack([rows, columns], 1)), shape=(side * side, side * side))
    z, _ = by_bcoo(matrix, b)
    keys = jax.random.split(jax.random.key(1), 3)
    nodes = side * side // 2
    sources, targets = jax.random.randint(keys[0], (nodes * 8,), 0, nodes), (jax.random.uniform(keys[1], (nodes * 8,)) ** 3 * nodes).astype(int)
    ranks, _, turns = rank(sources, targets, jnp.full(nodes, 1 / nodes))
    exponential, _, logdet, _, _ = functions(jax.random.normal(keys[2], (max(16, int(256 * scale)),) * 2))
    return {"x": np.array(x[:20]), "y": np.array(y[:20]), "z": np.array(z[:20]), "lanczos": np.array(lanczos(rows, columns, values, b)[-5:]), "ranks": np.array(jnp.sort(ranks)[-10:]), "trace": np.array(jnp.trace(exponential)), "logdet": np.array(logdet)}


TOLERANCE = {k: {"rtol": 1e-2, "atol": 1e-3} for k in ("x", "y", "z", "lanczos", "ranks", "trace", "logdet")}
if __name__ == "__main__":
    for name, value in main().items():
        print(name, np.array2string(value, precision=4, threshold=20))
