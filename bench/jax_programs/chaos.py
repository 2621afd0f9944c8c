"""Lyapunov exponents of Lorenz' model of 1996: a tangent flow that a QR decomposition keeps orthogonal in each step."""
import jax
import jax.numpy as jnp
import numpy as np


def slope(x):
    return (jnp.roll(x, -1) - jnp.roll(x, 2)) * jnp.roll(x, 1) - x + 8


def moved(x, h=0.05):
    a = slope(x)
    b = slope(x + h / 2 * a)
    c = slope(x + h / 2 * b)
    return x + h / 6 * (a + 2 * b + 2 * c + slope(x + h * c))


@jax.jit
def exponents(x, q):
    def step(carry, _):
        x, q = carry
        tangents = jax.vmap(lambda direction: jax.jvp(moved, (x,), (direction,))[1], 1, 1)(q)
        q, r = jnp.linalg.qr(tangents)
        return (moved(x), q), jnp.log(jnp.abs(jnp.diagonal(r)))

    return jax.lax.scan(step, (x, q), length=50)[1].mean(0)


def main(scale: float = 1.0) -> dict[str, np.ndarray]:
    size = max(16, int(256 * scale))
    count = max(4, size // 8)
    start = 2 + jax.random.normal(jax.random.key(3), (size,))
    return {"exponents": np.array(exponents(start, jnp.eye(size)[:, :count])[:4])}


TOLERANCE = {"exponents": {"rtol": 5e-2, "atol": 5e-2}}


if __name__ == "__main__":
    for name, value in main().items():
        print(name, np.array2string(value, precision=4, threshold=20))
