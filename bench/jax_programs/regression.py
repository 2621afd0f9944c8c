"""A logistic regression by L-BFGS with a line search, and bootstrap errors of its weights by Newton steps."""
import jax
import jax.numpy as jnp
import numpy as np
import optax

FEATURES, RESAMPLES = 64, 16


def fit(x, y):
    def loss(w):
        logits = x @ w
        return jnp.mean(jnp.logaddexp(0.0, logits) - y * logits) + 1e-4 * w @ w

    solver = optax.lbfgs()
    value_and_slope = optax.value_and_grad_from_state(loss)

    def turn(carry, _):
        w, state = carry
        value, slope = value_and_slope(w, state=state)
        change, state = solver.update(slope, state, w, value=value, grad=slope, value_fn=loss)
        return (optax.apply_updates(w, change), state), value

    w = jnp.zeros(x.shape[1])
    (w, _), values = jax.lax.scan(turn, (w, solver.init(w)), length=12)
    return w, values[-1]


def resampled(key, w, x, y):
    weights = jax.random.poisson(key, 1.0, y.shape).astype(jnp.float32)

    def newton(w, _):
        p = jax.nn.sigmoid(x @ w)
        slope = x.T @ (weights * (p - y)) + 1e-2 * w
        curve = (x.T * (weights * p * (1 - p))) @ x + 1e-2 * jnp.eye(x.shape[1])
        return w - jnp.linalg.solve(curve, slope), None

    return jax.lax.scan(newton, w, length=2)[0]


def main(scale: float = 1.0) -> dict[str, np.ndarray]:
    k_x, k_w, k_y, k_again = jax.random.split(jax.random.key(6), 4)
    x = jax.random.normal(k_x, (max(512, int(40_000 * scale)), FEATURES))
    truth = 0.3 * jax.random.normal(k_w, (FEATURES,))
    y = jax.random.bernoulli(k_y, jax.nn.sigmoid(x @ truth)).astype(jnp.float32)
    w, value = jax.jit(fit)(x, y)
    errors = jax.jit(lambda keys: jax.lax.map(lambda k: resampled(k, w, x, y), keys).std(0))
    return {"w": np.array(w), "value": np.array(value), "errors": np.array(errors(jax.random.split(k_again, RESAMPLES)))}


TOLERANCE = {"w": {"atol": 0.02}, "errors": {"rtol": 0.1, "atol": 5e-3}}

if __name__ == "__main__":
    for name, value in main().items():
        print(name, np.array2string(value, precision=4, threshold=20))
