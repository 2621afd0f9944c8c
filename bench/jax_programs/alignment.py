"""Sequences: a hidden Markov model (forwards, backwards, Viterbi, Baum-Welch), dynamic time warping and edit distances."""
import jax
import jax.numpy as jnp
import numpy as np

STATES, SYMBOLS = 48, 64


def forwards(start, move, emit, seen):
    def step(carry, symbol):
        now = jax.nn.logsumexp(carry[:, None] + move, 0) + emit[:, symbol]
        return now, now

    first = start + emit[:, seen[0]]
    _, rest = jax.lax.scan(step, first, seen[1:])
    return jnp.concatenate([first[None], rest])


@jax.jit
def fit(start, move, emit, seen):
    likelihood = lambda parameters: jax.vmap(lambda s: jax.nn.logsumexp(forwards(*(jax.nn.log_softmax(p) for p in parameters), s)[-1]))(seen).mean()

    def turn(parameters, _):
        value, slopes = jax.value_and_grad(likelihood)(parameters)
        return jax.tree.map(lambda p, g: p + 2.0 * g, parameters, slopes), value

    return jax.lax.scan(turn, (start, move, emit), None, length=5)


@jax.jit
def viterbi(start, move, emit, seen):
    def one(seen):
        def step(carry, symbol):
            paths = carry[:, None] + move
            return paths.max(0) + emit[:, symbol], paths.argmax(0)

        last, back = jax.lax.scan(step, start + emit[:, seen[0]], seen[1:])
        _, states = jax.lax.scan(lambda s, b: (b[s], s), last.argmax(), back, reverse=True)
        return last.max(), states

    return jax.vmap(one)(seen)


@jax.jit
def warped(x, y):
    def pair(a, b):
        costs = jnp.abs(a[:, None] - b)

        def row(above, cost):
            def cell(left, inputs):
                c, up, corner = inputs
                now = c + jnp.minimum(jnp.minimum(left, up), corner)
                return now, now

            corners = jnp.concatenate([jnp.array([jnp.inf]), above[:-1]])
            _, line = jax.lax.scan(cell, jnp.inf, (cost, above, corners))
            return line, None

        return jax.lax.scan(row, jnp.cumsum(costs[0]), costs[1:])[0][-1]

    return jax.vmap(pair)(x, y)


@jax.jit
def edits(x, y):
    def pair(a, b):
        def row(above, symbol):
            def cell(left, inputs):
                other, up, corner = inputs
                now = jnp.minimum(jnp.minimum(left, up) + 1, corner + (other != symbol))
                return now, now

            first = above[0] + 1
            _, line = jax.lax.scan(cell, first, (b, above[1:], above[:-1]))
            return jnp.concatenate([first[None], line]), None

        return jax.lax.scan(row, jnp.arange(b.shape[0] + 1), a)[0][-1]

    return jax.vmap(pair)(x, y)


def main(scale: float = 1.0) -> dict[str, np.ndarray]:
    length = max(16, int(160 * scale))
    keys = jax.random.split(jax.random.key(8), 6)
    start, move, emit = jax.random.normal(keys[0], (STATES,)), jax.random.normal(keys[1], (STATES, STATES)), jax.random.normal(keys[2], (STATES, SYMBOLS))
    seen = jax.random.randint(keys[3], (64, length), 0, SYMBOLS)
    fitted, values = fit(start, move, emit, seen)
    best, _ = viterbi(*(jax.nn.log_softmax(p) for p in fitted), seen)
    x = jnp.cumsum(jax.random.normal(keys[4], (256, length)), 1)
    far = warped(x[:128], x[128:])
    return {"likelihood": np.array(values), "best": np.array(best[:8]), "warped": np.array(far[:8]), "edits": np.array(edits(seen[:32], seen[32:]))}


TOLERANCE = {"likelihood": {"rtol": 1e-3}, "best": {"rtol": 1e-3}, "warped": {"rtol": 1e-3}}

if __name__ == "__main__":
    for name, value in main().items():
        print(name, np.array2string(value, precision=4, threshold=20))
