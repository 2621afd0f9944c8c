"""Statistics of a sample: bootstrapped quantiles, a kernel density estimate, a permutation test and a histogram in two dimensions."""
import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def bootstrap(key, x):
    def once(key):
        drawn = x[jax.random.randint(key, x.shape, 0, x.shape[0])]
        return jnp.quantile(drawn, jnp.array([0.05, 0.5, 0.95])), drawn.mean(), drawn.std()

    quantiles, means, spreads = jax.lax.map(once, jax.random.split(key, 200), batch_size=20)
    return quantiles.mean(0), quantiles.std(0), means.std(), spreads.std()


@jax.jit
def density(x, at):
    width = 1.06 * x.std() * x.shape[0] ** -0.2
    return jnp.exp(-0.5 * ((at[:, None] - x) / width) ** 2).mean(1) / (width * jnp.sqrt(2 * jnp.pi))


@jax.jit
def permutation_test(key, x, y):
    both = jnp.concatenate([x, y])
    seen = x.mean() - y.mean()

    def once(key):
        shuffled = jax.random.permutation(key, both)
        return shuffled[: x.shape[0]].mean() - shuffled[x.shape[0] :].mean()

    differences = jax.vmap(once)(jax.random.split(key, 64))
    return (jnp.abs(differences) >= jnp.abs(seen)).mean(), differences.std()


@jax.jit
def histogram(x, y):
    counts, _, _ = jnp.histogram2d(x, y, bins=64, range=((-4, 4), (-4, 4)))
    ranks = jnp.argsort(jnp.argsort(x)).astype(jnp.float32), jnp.argsort(jnp.argsort(y)).astype(jnp.float32)
    return counts, jnp.corrcoef(*ranks)


def main(scale: float = 1.0) -> dict[str, np.ndarray]:
    n = max(512, int(40000 * scale))
    keys = jax.random.split(jax.random.key(3), 5)
    x = jax.random.gamma(keys[0], 3.0, (n,)) - 3
    y = 0.5 * x + jax.random.normal(keys[1], (n,))
    quantiles, _, mean, _ = bootstrap(keys[2], x)
    estimate = density(x, jnp.linspace(-3, 6, 400))
    p, spread = permutation_test(keys[3], x[: n // 2], y[: n // 2])
    counts, rank = histogram(x, y)
    return {"quantiles": np.array(quantiles), "mean": np.array(mean), "density": np.array(estimate), "spread": np.array(spread), "counts": np.array(counts.sum(0)), "rank": np.array(rank)}


TOLERANCE = {"mean": {"rtol": 1e-2}, "spread": {"rtol": 1e-2}, "rank": {"rtol": 1e-3}}

if __name__ == "__main__":
    for name, value in main().items():
        print(name, np.array2string(value, precision=4, threshold=20))
