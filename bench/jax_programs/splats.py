"""An image fitted by Gaussian splats: sorted by depth, composited along each row by a product of transparencies, ten steps of Adam."""
import jax
import jax.numpy as jnp
import numpy as np
import optax

SIDE = 64


def main(scale: float = 1.0) -> dict[str, np.ndarray]:
    count = int(256 * scale)
    places, colours, depths, image = jax.random.split(jax.random.key(0), 4)
    splats = {
        "place": jax.random.uniform(places, (count, 2)) * SIDE, "size": jnp.ones((count, 2)), "angle": jnp.zeros(count),
        "colour": jax.random.uniform(colours, (count, 3)), "opacity": jnp.zeros(count), "depth": jax.random.uniform(depths, (count,)),
    }
    wanted = jax.random.uniform(image, (SIDE, SIDE, 3))

    def render(splats):
        order = jnp.argsort(splats["depth"])
        s = jax.tree.map(lambda each: each[order], splats)
        cosine, sine = jnp.cos(s["angle"]), jnp.sin(s["angle"])

        def row(y):
            dx, dy = jnp.arange(SIDE)[:, None] - s["place"][:, 0], y - s["place"][:, 1]
            along = (cosine * dx + sine * dy) / jnp.exp(s["size"][:, 0])
            across = (cosine * dy - sine * dx) / jnp.exp(s["size"][:, 1])
            covered = jnp.clip(jax.nn.sigmoid(s["opacity"]) * jnp.exp(-0.5 * (along**2 + across**2)), 0, 0.99)
            seen = jnp.cumprod(jnp.concatenate([jnp.ones((SIDE, 1)), 1 - covered[:, :-1]], 1), 1)
            return (covered * seen) @ s["colour"]

        return jax.lax.map(row, jnp.arange(SIDE).astype(jnp.float32))

    optimiser = optax.adam(1e-2)

    @jax.jit
    def step(splats, state):
        loss, slopes = jax.value_and_grad(lambda s: jnp.mean((render(s) - wanted) ** 2))(splats)
        updates, state = optimiser.update(slopes, state, splats)
        return optax.apply_updates(splats, updates), state, loss

    state = optimiser.init(splats)
    for _ in range(10):
        splats, state, loss = step(splats, state)
    return {"loss": np.asarray(loss)}
