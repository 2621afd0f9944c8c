"""Sums over the edges of graphs and the triangles of meshes: page rank, connected components, and Poisson's equation on linear
elements by conjugate gradients."""
import jax
import jax.numpy as jnp
import numpy as np


def page_rank(sources, targets, pages, rounds=20):
    links = jnp.zeros(pages).at[sources].add(1.0)
    weights = jnp.where(links > 0, 1 / jnp.maximum(links, 1), 0)
    give = lambda _, ranks: 0.15 / pages + 0.85 * jnp.zeros(pages).at[targets].add((ranks * weights)[sources])
    return jax.lax.fori_loop(0, rounds, give, jnp.full(pages, 1 / pages))


def components(sources, targets, pages):
    def spread(state):
        labels, _ = state
        least = jnp.minimum(labels[sources], labels[targets])
        new = labels.at[sources].min(least).at[targets].min(least)
        return new, jnp.any(new != labels)

    return jax.lax.while_loop(lambda state: state[1], spread, (jnp.arange(pages), True))[0]


def stiffness(points, triangles):
    corner = points[triangles]
    edges = jnp.stack([corner[:, 2] - corner[:, 1], corner[:, 0] - corner[:, 2], corner[:, 1] - corner[:, 0]], 1)
    area = 0.5 * jnp.abs(edges[:, 0, 0] * edges[:, 1, 1] - edges[:, 0, 1] * edges[:, 1, 0])
    load = jnp.zeros(len(points)).at[triangles].add((area / 3)[:, None] * jnp.ones(3))
    return jnp.einsum("tid,tjd->tij", edges, edges) / (4 * area[:, None, None]), load


def solve(matrices, load, triangles, inside):
    def apply(u):
        parts = jnp.einsum("tij,tj->ti", matrices, (u * inside)[triangles])
        return inside * jnp.zeros_like(u).at[triangles].add(parts) + (1 - inside) * u

    return jax.scipy.sparse.linalg.cg(apply, load * inside, maxiter=100, tol=0)[0]


def main(scale: float = 1.0) -> dict[str, np.ndarray]:
    pages, links, side = int(40_000 * scale), int(400_000 * scale), int(160 * scale)
    sources, targets = jax.random.randint(jax.random.key(0), (2, links), 0, pages)
    ranks = jax.jit(page_rank, static_argnums=2)(sources, targets, pages)
    labels = jax.jit(components, static_argnums=2)(sources, targets, pages)

    x, y = jnp.meshgrid(jnp.linspace(0, 1, side), jnp.linspace(0, 1, side))
    points = jnp.stack([x.ravel(), y.ravel()], 1)
    at = np.arange(side * side).reshape(side, side)
    lower = np.stack([at[:-1, :-1], at[1:, :-1], at[:-1, 1:]], -1).reshape(-1, 3)
    upper = np.stack([at[1:, 1:], at[:-1, 1:], at[1:, :-1]], -1).reshape(-1, 3)
    triangles = jnp.asarray(np.concatenate([lower, upper]))
    inside = jnp.all((points > 0) & (points < 1), 1).astype(jnp.float32)
    matrices, load = jax.jit(stiffness)(points, triangles)
    u = jax.jit(solve)(matrices, load, triangles, inside)
    return {"rank": np.asarray(ranks.max()), "labels": np.asarray(labels.sum()), "solution": np.asarray(u.max())}
