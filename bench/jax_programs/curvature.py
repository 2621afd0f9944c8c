"""Second derivatives: Hessians and Jacobians of a network, Gauss-Newton steps by conjugate gradients, Laplace's approximation, Fisher information."""
import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree


def network(p, x):
    for w, b in p[:-1]:
        x = jnp.tanh(x @ w + b)
    return x @ p[-1][0] + p[-1][1]


def make(key, widths):
    keys = jax.random.split(key, len(widths))
    return [(jax.random.normal(k, (a, b)) / a**0.5, jnp.zeros(b)) for k, a, b in zip(keys, widths, widths[1:])]


@jax.jit
def hessian(p, x, y):
    flat, build = ravel_pytree(p)
    loss = lambda v: ((network(build(v), x)[:, 0] - y) ** 2).mean()
    h = jax.hessian(loss)(flat)
    return h, jnp.linalg.eigvalsh(h)


@jax.jit
def gauss_newton(p, x, y):
    flat, build = ravel_pytree(p)
    rest = lambda v: network(build(v), x)[:, 0] - y

    def turn(v, _):
        r, along = jax.linearize(rest, v)
        back = jax.linear_transpose(along, v)
        step, _ = jax.scipy.sparse.linalg.cg(lambda u: back(along(u))[0] + 0.1 * u, back(r)[0], maxiter=12)
        return v - step, (r**2).mean()

    return jax.lax.scan(turn, flat, None, length=4)


@jax.jit
def laplace(p, x, at):
    flat, build = ravel_pytree(p)
    j = jax.jacrev(lambda v: network(build(v), x)[:, 0])(flat)
    precision = j.T @ j + 0.5 * jnp.eye(flat.shape[0])
    root = jax.scipy.linalg.cho_factor(precision)
    g = jax.jacfwd(lambda v: network(build(v), at)[:, 0])(flat)
    return jnp.einsum("ij,ji->i", g, jax.scipy.linalg.cho_solve(root, g.T))


@jax.jit
def fisher(p, x):
    flat, build = ravel_pytree(p)

    def each(row):
        score = jax.grad(lambda v: jax.nn.logsumexp(network(build(v), row[None])))(flat)
        return jnp.outer(score, score)

    return jax.lax.map(each, x, batch_size=64).mean(0)


@jax.jit
def mixed(p, x):
    one = lambda row: network(p, row[None])[0, 0]
    laplacian = lambda row: jnp.trace(jax.hessian(one)(row))
    third = jax.vmap(jax.grad(laplacian))(x)
    return jax.vmap(laplacian)(x), third


def main(scale: float = 1.0) -> dict[str, np.ndarray]:
    n = max(32, int(1024 * scale))
    keys = jax.random.split(jax.random.key(4), 3)
    p = make(keys[0], (8, 24, 24, 1))
    x = jax.random.normal(keys[1], (n, 8))
    y = jnp.sin(x[:, 0]) * x[:, 1]
    _, values = hessian(p, x, y)
    _, errors = gauss_newton(p, x, y)
    curve, third = mixed(p, x)
    return {"values": np.array(values[-5:]), "errors": np.array(errors), "laplace": np.array(laplace(p, x, x[:64])[:8]), "fisher": np.array(jnp.trace(fisher(p, x[: n // 4]))), "curve": np.array(curve[:8]), "third": np.array(third[:4])}


TOLERANCE = {k: {"rtol": 2e-2, "atol": 1e-3} for k in ("values", "errors", "laplace", "fisher", "curve", "third")}
if __name__ == "__main__":
    for name, value in main().items():
        print(name, np.array2string(value, precision=4, threshold=20))
