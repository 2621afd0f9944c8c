"""Pictures: blurred, resized, turned, their edges followed, and equalised by their histogram."""
import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.ndimage import map_coordinates


def blurred(x, width):
    taps = jnp.exp(-0.5 * (jnp.arange(-3 * width, 3 * width + 1) / width) ** 2)
    taps = taps / taps.sum()
    along = lambda rows: jnp.convolve(rows, taps, mode="same")
    return jax.vmap(jax.vmap(along))(jax.vmap(jax.vmap(along))(x).swapaxes(1, 2)).swapaxes(1, 2)


@jax.jit
def edges(x):
    smooth = blurred(x, 2)
    across = jnp.roll(smooth, -1, 2) - jnp.roll(smooth, 1, 2)
    down = jnp.roll(smooth, -1, 1) - jnp.roll(smooth, 1, 1)
    size, angle = jnp.hypot(across, down), jnp.round(jnp.arctan2(down, across) * 4 / jnp.pi) % 4
    sides = [jnp.maximum(jnp.roll(size, s, (1, 2)), jnp.roll(size, (-s[0], -s[1]), (1, 2))) for s in ((0, 1), (1, 1), (1, 0), (1, -1))]
    thin = jnp.where(size >= jnp.select([angle == k for k in range(4)], sides), size, 0)
    strong, weak = thin > 0.05, thin > 0.02

    def grow(state):
        found, _ = state
        near = jax.lax.reduce_window(found, False, jax.lax.bitwise_or, (1, 3, 3), (1, 1, 1), "SAME")
        more = near & weak
        return more, (more != found).any()

    return jax.lax.while_loop(lambda s: s[1], grow, (strong, True))[0]


@jax.jit
def turned(x, angle):
    rows, columns = jnp.meshgrid(jnp.arange(x.shape[1]) - x.shape[1] / 2, jnp.arange(x.shape[2]) - x.shape[2] / 2, indexing="ij")
    at = jnp.stack([jnp.cos(angle) * rows - jnp.sin(angle) * columns + x.shape[1] / 2, jnp.sin(angle) * rows + jnp.cos(angle) * columns + x.shape[2] / 2])
    return jax.vmap(lambda picture: map_coordinates(picture, at, order=1, mode="nearest"))(x)


@jax.jit
def resized(x):
    half = jax.image.resize(x, (x.shape[0], x.shape[1] // 2, x.shape[2] // 2), "cubic")
    return jax.image.resize(half, x.shape, "bilinear")


@jax.jit
def equalised(x):
    def one(picture):
        levels = (picture * 255).astype(jnp.uint8)
        counts = jnp.bincount(levels.ravel(), length=256)
        return (counts.cumsum() / levels.size)[levels]

    return jax.vmap(one)(x)


def main(scale: float = 1.0) -> dict[str, np.ndarray]:
    side = max(32, int(512 * scale))
    x = jax.random.uniform(jax.random.key(2), (8, side, side))
    x = jax.nn.sigmoid(40 * (jax.jit(blurred, static_argnums=1)(x, 5) - 0.5))
    return {"edges": np.array(edges(x).mean((1, 2))), "turned": np.array(turned(x, 0.3).mean((1, 2))), "resized": np.array(resized(x).std((1, 2))), "equalised": np.array(equalised(x).mean((1, 2)))}


TOLERANCE = {"edges": {"rtol": 3e-2}, "equalised": {"rtol": 1e-3}, "resized": {"rtol": 1e-3}}

if __name__ == "__main__":
    for name, value in main().items():
        print(name, np.array2string(value, precision=4, threshold=20))
