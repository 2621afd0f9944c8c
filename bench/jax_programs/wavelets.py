"""Haar's wavelets in two dimensions: five levels of an image, small coefficients removed, and the image again."""
import jax
import jax.numpy as jnp
import numpy as np

LEVELS = 5
ROOT = 0.70710678


def parts(x):
    low, high = (x[0::2] + x[1::2]) * ROOT, (x[0::2] - x[1::2]) * ROOT
    return [(y[:, 0::2] + sign * y[:, 1::2]) * ROOT for y in (low, high) for sign in (1, -1)]


def side_by_side(low, high):
    return jnp.stack([(low + high) * ROOT, (low - high) * ROOT], -1).reshape(low.shape[0], -1)


@jax.jit
def without_noise(image, threshold):
    kept = []
    for _ in range(LEVELS):
        image, *details = parts(image)
        kept.append([jnp.sign(d) * jnp.maximum(jnp.abs(d) - threshold, 0) for d in details])
    for a, b, c in reversed(kept):
        low, high = side_by_side(image, a), side_by_side(b, c)
        image = jnp.stack([(low + high) * ROOT, (low - high) * ROOT], 1).reshape(2 * low.shape[0], -1)
    return image


def main(scale: float = 1.0) -> dict[str, np.ndarray]:
    side = 2 ** LEVELS * max(2, int(64 * scale))
    image = without_noise(jax.random.normal(jax.random.key(1), (side, side)), 0.3)
    return {"image": np.array(image[:8, :8])}


if __name__ == "__main__":
    for name, value in main().items():
        print(name, np.array2string(value, precision=4, threshold=20))
