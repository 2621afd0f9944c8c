"""Boxes: all overlaps, suppression of neighbours, matching by Sinkhorn, features cut out of maps, a focal loss with gradients."""
import jax
import jax.numpy as jnp
import numpy as np
from functools import partial


def overlaps(a, b):
    low, high = jnp.maximum(a[:, None, :2], b[None, :, :2]), jnp.minimum(a[:, None, 2:], b[None, :, 2:])
    both = jnp.prod(jnp.clip(high - low, 0), -1)
    area = lambda x: jnp.prod(x[:, 2:] - x[:, :2], -1)
    return both / (area(a)[:, None] + area(b) - both)


@jax.jit
def suppressed(boxes, scores):
    order = jnp.argsort(-scores)
    boxes = boxes[order]
    near = overlaps(boxes, boxes) > 0.5

    def step(k, alive):
        return jnp.where(alive[k], alive & ~(near[k] & (jnp.arange(alive.shape[0]) > k)), alive)

    alive = jax.lax.fori_loop(0, boxes.shape[0], step, jnp.ones(boxes.shape[0], bool))
    return alive.sum(), order[jnp.argsort(~alive, stable=True)][:100]


@jax.jit
def matched(predicted, wanted):
    costs = jnp.abs(predicted[:, :, None] - wanted[:, None]).sum(-1) - jax.vmap(overlaps)(predicted, wanted)

    def turn(_, pair):
        f, g = pair
        f = -0.05 * jax.nn.logsumexp((g[:, None, :] - costs) / 0.05, -1)
        return f, -0.05 * jax.nn.logsumexp((f[:, :, None] - costs) / 0.05, 1)

    f, g = jax.lax.fori_loop(0, 40, turn, (jnp.zeros(costs.shape[:2]), jnp.zeros(costs.shape[::2])))
    return jnp.exp((f[:, :, None] + g[:, None] - costs) / 0.05).argmax(1)


@partial(jax.jit, static_argnums=2)
def cut(maps, boxes, size):
    def one(box):
        steps = (jnp.arange(size) + 0.5) / size
        x, y = box[0] + (box[2] - box[0]) * steps, box[1] + (box[3] - box[1]) * steps
        x0, y0 = jnp.clip(jnp.floor(x).astype(int), 0, maps.shape[1] - 2), jnp.clip(jnp.floor(y).astype(int), 0, maps.shape[0] - 2)
        dx, dy = (x - x0)[None, :, None], (y - y0)[:, None, None]
        at = lambda i, j: maps[(y0 + i)[:, None], (x0 + j)[None]]
        return (at(0, 0) * (1 - dx) + at(0, 1) * dx) * (1 - dy) + (at(1, 0) * (1 - dx) + at(1, 1) * dx) * dy

    return jax.vmap(one)(boxes)


@jax.jit
def focal(weights, features, labels):
    def loss(w):
        logits = features.reshape(features.shape[0], -1) @ w
        p = jax.nn.sigmoid(logits)
        y = jax.nn.one_hot(labels, logits.shape[-1])
        return -(y * (1 - p) ** 2 * jax.nn.log_sigmoid(logits) + 0.25 * (1 - y) * p**2 * jax.nn.log_sigmoid(-logits)).sum(-1).mean()

    return jax.value_and_grad(loss)(weights)


def main(scale: float = 1.0) -> dict[str, np.ndarray]:
    n = max(64, int(3000 * scale))
    keys = jax.random.split(jax.random.key(9), 8)
    corner = jax.random.uniform(keys[0], (n, 2)) * 55
    boxes = jnp.concatenate([corner, corner + 3 + 5 * jax.random.uniform(keys[1], (n, 2))], 1)
    count, kept = suppressed(boxes, jax.random.uniform(keys[2], (n,)))
    wanted = boxes[:480].reshape(8, 60, 4)
    places = matched(wanted[:, ::-1] + 0.1 * jax.random.normal(keys[3], wanted.shape), wanted)
    maps = jax.random.normal(keys[4], (64, 64, 128))
    features = cut(maps, boxes[kept], 7)
    value, slope = focal(0.01 * jax.random.normal(keys[5], (7 * 7 * 128, 80)), features, jax.random.randint(keys[6], (100,), 0, 80))
    return {"count": np.array(count), "kept": np.array(kept[:20]), "places": np.array((places == jnp.arange(60)[::-1]).mean()), "features": np.array(features.mean((0, 3))), "value": np.array(value), "slope": np.array(jnp.abs(slope).mean())}


TOLERANCE = {"places": {"atol": 0.05}, "features": {"atol": 1e-2}, "value": {"rtol": 1e-2}, "slope": {"rtol": 1e-2}}
if __name__ == "__main__":
    for name, value in main().items():
        print(name, np.array2string(value, precision=4, threshold=20))
