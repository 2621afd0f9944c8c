"""Track stochastic volatility with a bootstrap particle filter, systematic resampling in each step of a scan."""
import jax
import jax.numpy as jnp
import numpy as np

MU, PHI, SIGMA = -1.0, 0.95, 0.25


def simulate(key, steps):
    def step(h, k):
        a, b = jax.random.normal(k, (2,))
        h = MU + PHI * (h - MU) + SIGMA * a
        return h, (h, jnp.exp(h / 2) * b)

    return jax.lax.scan(step, jnp.float32(MU), jax.random.split(key, steps))[1]


def resample(key, weights):
    n = weights.shape[0]
    places = (jnp.arange(n) + jax.random.uniform(key)) / n
    return jnp.clip(jnp.searchsorted(jnp.cumsum(weights), places), 0, n - 1)


@jax.jit
def track(key, returns, start):
    def step(carry, given):
        particles, evidence = carry
        k, y = given
        k_move, k_pick = jax.random.split(k)
        particles = MU + PHI * (particles - MU) + SIGMA * jax.random.normal(k_move, particles.shape)
        log_weights = -0.5 * (particles + y**2 * jnp.exp(-particles) + jnp.log(2 * jnp.pi))
        total = jax.nn.logsumexp(log_weights)
        weights = jnp.exp(log_weights - total)
        mean = jnp.sum(weights * particles)
        alive = 1 / jnp.sum(weights**2)
        return (particles[resample(k_pick, weights)], evidence + total - jnp.log(particles.shape[0])), (mean, alive)

    keys = jax.random.split(key, returns.shape[0])
    (_, evidence), (means, alive) = jax.lax.scan(step, (start, jnp.float32(0)), (keys, returns))
    return evidence, means, alive


def main(scale: float = 1.0) -> dict[str, np.ndarray]:
    particles, steps = max(500, int(50_000 * scale)), max(20, int(200 * scale))
    k_truth, k_start, k_track = jax.random.split(jax.random.key(11), 3)
    truth, returns = jax.jit(simulate, static_argnums=1)(k_truth, steps)
    start = MU + SIGMA / np.sqrt(1 - PHI**2) * jax.random.normal(k_start, (particles,))
    evidence, means, alive = track(k_track, returns, start)
    many = jax.vmap(track, in_axes=(0, None, None))(jax.random.split(k_track, 4), returns[: steps // 2], start[: particles // 8])
    return {"truth": np.array(truth), "evidence": np.array(evidence), "means": np.array(means),
            "share_alive": np.array(alive / particles), "evidences": np.array(many[0])}


# A place between two sums of weights can fall to either particle.
TOLERANCE = {"means": {"atol": 2e-2}, "share_alive": {"atol": 2e-2}, "evidence": {"atol": 0.5}, "evidences": {"atol": 1.0}}

if __name__ == "__main__":
    for name, value in main().items():
        print(name, np.array2string(value, precision=4, threshold=20))
