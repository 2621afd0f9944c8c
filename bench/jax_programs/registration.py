"""Align images: translation by phase correlation, then a smooth displacement field by gradient descent on warped pixels."""
import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.ndimage import map_coordinates


def smooth(image, sigma=2.0):
    at = jnp.arange(-6, 7)
    kernel = jnp.exp(-0.5 * (at / sigma) ** 2)
    kernel = kernel / kernel.sum()
    rows = jax.vmap(lambda r: jnp.convolve(r, kernel, mode="same"))(image)
    return jax.vmap(lambda c: jnp.convolve(c, kernel, mode="same"), 1, 1)(rows)


@jax.jit
def translation(a, b):
    cross = jnp.fft.rfft2(a) * jnp.conj(jnp.fft.rfft2(b))
    peak = jnp.argmax(jnp.fft.irfft2(cross / (jnp.abs(cross) + 1e-9)))
    return jnp.stack([peak // a.shape[1], peak % a.shape[1]])


def warp(image, field):
    grid = jnp.stack(jnp.meshgrid(*(jnp.arange(n, dtype=jnp.float32) for n in image.shape), indexing="ij"))
    return map_coordinates(image, grid + field, order=1, mode="nearest")


@jax.jit
def align(a, b, steps):
    def loss_of(field):
        bend = sum(jnp.mean(jnp.diff(field, axis=k) ** 2) for k in (1, 2))
        return jnp.mean((warp(b, field) - a) ** 2) + 0.1 * bend

    def step(_, state):
        field, speed = state
        gradient = jax.vmap(smooth)(jax.grad(loss_of)(field))
        speed = 0.9 * speed - 2e4 * gradient
        return field + speed, speed

    zero = jnp.zeros((2, *a.shape))
    field, _ = jax.lax.fori_loop(0, steps, step, (zero, zero))
    return field, loss_of(field), loss_of(zero)


@jax.jit
def shift(image, by):
    return jnp.roll(image, by, (0, 1))


def main(scale: float = 1.0) -> dict[str, np.ndarray]:
    n = max(64, int(512 * scale))
    a = smooth(jax.random.normal(jax.random.key(12), (n, n)), 3.0)
    moved = shift(a, jnp.array([17, -9]))
    found = translation(a, moved)
    back = shift(moved, found)
    grid = jnp.arange(n) / n
    bent = warp(back, 2.0 * jnp.stack([jnp.sin(6 * grid)[:, None] * jnp.ones(n), jnp.cos(5 * grid)[None] * jnp.ones((n, 1))]))
    field, after, before = align(bent, a, 20)
    return {"found": np.array(found), "losses": np.array([before, after]), "field": np.array(field[:, ::64, ::64])}


TOLERANCE = {"losses": {"rtol": 5e-2}, "field": {"atol": 0.1}}

if __name__ == "__main__":
    for name, value in main().items():
        print(name, np.array2string(value, precision=4, threshold=20))
