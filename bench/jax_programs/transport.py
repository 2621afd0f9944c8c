"""Optimal transport between point clouds: Sinkhorn's iteration on a kernel whose numbers decay below the normal ones, its gradient, a barycentre."""
import jax
import jax.numpy as jnp
import numpy as np

STEPS = 60


def kernel(x, y, width):
    return jnp.exp(-((x[:, None, :] - y[None, :, :]) ** 2).sum(-1) / width)


def scalings(k, a, b):
    def turn(state, _):
        u, v = state
        u = a / (k @ v + 1e-20)
        v = b / (k.T @ u + 1e-20)
        return (u, v), None

    return jax.lax.scan(turn, (jnp.ones_like(a), jnp.ones_like(b)), None, length=STEPS)[0]


@jax.jit
def transported(x, y, a, b):
    k = kernel(x, y, 0.4)
    u, v = scalings(k, a, b)
    plan = u[:, None] * k * v
    return plan @ y / (plan.sum(1, keepdims=True) + 1e-30), plan.sum(0)


@jax.jit
def pulled(x, y, a, b):
    def cost(x):
        k = kernel(x, y, 0.4)
        u, v = scalings(k, a, b)
        return (u[:, None] * k * v * ((x[:, None, :] - y[None, :, :]) ** 2).sum(-1)).sum()

    value, slope = jax.value_and_grad(cost)(x)
    return x - 0.5 * slope, value


@jax.jit
def barycentre(images, weights):
    size = images.shape[-1]
    place = jnp.arange(size) / size
    k = jnp.exp(-((place[:, None] - place) ** 2) / 2e-3)
    blurred = lambda v: jnp.einsum("ij,bjk,lk->bil", k, v, k)

    def turn(v, _):
        u = images / (blurred(v) + 1e-20)
        back = blurred(u)
        mean = jnp.exp((weights[:, None, None] * jnp.log(v * back + 1e-30)).sum(0))
        return mean / (back + 1e-30), mean.sum()

    return jax.lax.scan(turn, jnp.ones_like(images), None, length=STEPS)


def main(scale=1.0):
    n = max(64, int(1500 * scale))
    rng = np.random.default_rng(17)
    x, y = rng.standard_normal((n, 3)).astype(np.float32), (rng.standard_normal((n + 100, 3)) * 0.7 + 0.5).astype(np.float32)
    a, b = np.full(n, 1 / n, np.float32), np.full(n + 100, 1 / (n + 100), np.float32)
    moved, masses = transported(x, y, a, b)
    near, cost = pulled(x[: n // 2], y[: n // 2], a[: n // 2] * 2, a[: n // 2] * 2)
    size = max(32, int(128 * scale))
    place = (np.arange(size) / size)[:, None]
    spots = np.stack([np.exp(-((place - c) ** 2 + (place.T - d) ** 2) / 5e-3) for c, d in ((0.3, 0.3), (0.7, 0.4), (0.4, 0.8))]).astype(np.float32)
    spots /= spots.sum((1, 2), keepdims=True)
    _, sums = barycentre(spots, np.float32([0.5, 0.3, 0.2]))
    return {"moved": float(jnp.abs(moved).mean()), "masses": float(masses.std()), "near": float(jnp.abs(near).mean()), "cost": float(cost), "sums": float(sums[-1])}


if __name__ == "__main__":
    print(main())
