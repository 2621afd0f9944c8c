"""Distributions: gamma, beta and Poisson draws with their densities, regression of counts, a Cox model, Gibbs sampling, quadrature of special functions."""
import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy import special, stats


@jax.jit
def draws(key, rates):
    k = jax.random.split(key, 6)
    gamma, beta = jax.random.gamma(k[0], rates), jax.random.beta(k[1], rates, 2.0)
    counts, t = jax.random.poisson(k[2], rates), jax.random.t(k[3], 5.0, rates.shape)
    mixed = jax.random.dirichlet(k[4], jnp.ones(8), rates.shape[:1])
    return gamma, beta, counts, stats.gamma.logpdf(gamma, rates).mean() + stats.beta.logpdf(beta, rates, 2.0).mean() + stats.t.logpdf(t, 5.0).mean(), mixed.max(1), jax.random.choice(k[5], rates.shape[0], (100,), False)


@jax.jit
def counted(x, y):
    loss = lambda w: (jnp.exp(x @ w) - y * (x @ w) + special.gammaln(y + 1.0)).mean()

    def newton(w, _):
        slope, curve = jax.grad(loss)(w), jax.hessian(loss)(w)
        return w - jnp.linalg.solve(curve + 1e-3 * jnp.eye(w.shape[0]), slope), loss(w)

    return jax.lax.scan(newton, jnp.zeros(x.shape[1]), None, length=8)


@jax.jit
def cox(x, times, seen):
    order = jnp.argsort(-times)
    x, seen = x[order], seen[order]

    def loss(w):
        risk = x @ w
        return -(seen * (risk - jax.lax.associative_scan(jnp.logaddexp, risk))).sum() / seen.sum()

    def turn(w, _):
        value, slope = jax.value_and_grad(loss)(w)
        return w - 0.5 * slope, value

    return jax.lax.scan(turn, jnp.zeros(x.shape[1]), None, length=20)


@jax.jit
def gibbs(key, y):
    def sweep(state, key):
        mean, precision, z = state
        a, b, c = jax.random.split(key, 3)
        z = jax.random.categorical(a, -0.5 * precision * (y[:, None] - mean) ** 2)
        count = jnp.zeros(4).at[z].add(1)
        total = jnp.zeros(4).at[z].add(y)
        mean = (total * precision + 0.01) / (count * precision + 0.01) + jax.random.normal(b, (4,)) / jnp.sqrt(count * precision + 0.01)
        precision = jax.random.gamma(c, 1 + y.shape[0] / 2) / (1 + 0.5 * ((y - mean[z]) ** 2).sum())
        return (mean, precision, z), (jnp.sort(mean), precision)

    start = (jnp.linspace(y.min(), y.max(), 4), jnp.float32(1), jnp.zeros(y.shape[0], int))
    return jax.lax.scan(sweep, start, jax.random.split(key, 60))[1]


@jax.jit
def functions(x):
    parts = [special.gammaln(x), special.digamma(x), special.erf(x), special.gammainc(x, 2.0), special.betainc(x, 2.0, 0.3), special.i0e(x), special.ndtri(jnp.clip(x / 20, 1e-3, 0.999)), special.expit(x), special.xlogy(x, x), special.zeta(x + 1.1, 1.0), special.polygamma(1, x)]
    return jnp.stack([p.mean() for p in parts])


def main(scale: float = 1.0) -> dict[str, np.ndarray]:
    n = max(64, int(20000 * scale))
    keys = jax.random.split(jax.random.key(13), 6)
    gamma, beta, counts, density, largest, chosen = draws(keys[0], 0.5 + 3 * jax.random.uniform(keys[1], (n,)))
    x = jax.random.normal(keys[2], (n, 12)) / 3
    w, values = counted(x, counts)
    _, risks = cox(x, gamma, (beta > 0.3).astype(jnp.float32))
    means, _ = gibbs(keys[3], jnp.concatenate([jax.random.normal(keys[4], (n // 2,)), 5 + jax.random.normal(keys[5], (n // 2,))]))
    return {"density": np.array(density), "values": np.array(values), "risks": np.array(risks), "means": np.array(means[-20:].mean(0)), "functions": np.array(functions(gamma + 0.05))}


TOLERANCE = {"density": {"rtol": 2e-2}, "values": {"rtol": 1e-2}, "risks": {"rtol": 1e-2}, "means": {"rtol": 0.2, "atol": 0.3}, "functions": {"rtol": 2e-2, "atol": 1e-2}}
if __name__ == "__main__":
    for name, value in main().items():
        print(name, np.array2string(value, precision=4, threshold=20))
