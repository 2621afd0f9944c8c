"""Distrax and Haiku: a flow of rational splines, trained and sampled, and an LSTM's training step."""
import distrax
import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np
import optax

SIZE, BINS, LAYERS = 16, 8, 4


def flow():
    def conditioner(x):
        numbers = 3 * BINS + 1
        return hk.Sequential([hk.nets.MLP([64, 64]), jax.nn.relu, hk.Linear(SIZE * numbers), hk.Reshape((SIZE, numbers))])(x)

    spline = lambda numbers: distrax.RationalQuadraticSpline(numbers, -3.0, 3.0)
    layers = [distrax.MaskedCoupling((jnp.arange(SIZE) + k) % 2 == 0, conditioner, spline) for k in range(LAYERS)]
    normal = distrax.Independent(distrax.Normal(jnp.zeros(SIZE), jnp.ones(SIZE)), 1)
    return distrax.Transformed(normal, distrax.Inverse(distrax.Chain(layers)))


def tagger(x):
    core = hk.LSTM(128)
    states, _ = hk.dynamic_unroll(core, x, core.initial_state(x.shape[1]))
    return jax.nn.log_softmax(hk.Linear(10)(states))


def train(loss, parameters, steps):
    optimiser = optax.adam(1e-3)
    state = optimiser.init(parameters)

    @jax.jit
    def step(parameters, state):
        value, slopes = jax.value_and_grad(loss)(parameters)
        updates, state = optimiser.update(slopes, state)
        return optax.apply_updates(parameters, updates), state, value

    for _ in range(steps):
        parameters, state, value = step(parameters, state)
    return parameters, value


def main(scale: float = 1.0) -> dict[str, np.ndarray]:
    batch = max(64, int(4096 * scale))
    x = 2 * jnp.tanh(jax.random.normal(jax.random.key(0), (batch, SIZE)))
    density = hk.without_apply_rng(hk.transform(lambda x: flow().log_prob(x)))
    parameters, likelihood = train(lambda p: -density.apply(p, x).mean(), density.init(jax.random.key(1), x), 3)
    sampler = hk.transform(lambda: flow().sample(seed=hk.next_rng_key(), sample_shape=[batch]))
    drawn = jax.jit(sampler.apply)(parameters, jax.random.key(3))
    words = jax.random.normal(jax.random.key(4), (64, max(8, int(128 * scale)), 32))
    model = hk.without_apply_rng(hk.transform(tagger))
    _, loss = train(lambda p: jnp.mean(model.apply(p, words)[..., 0] ** 2), model.init(jax.random.key(5), words), 3)
    results = {"likelihood": likelihood, "drawn": drawn.mean(0).round(2), "loss": loss}
    return {name: np.asarray(array) for name, array in results.items()}
