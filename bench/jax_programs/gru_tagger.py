"""A recurrent tagger: a bidirectional GRU over embedded words, trained by Adam on synthetic sentences."""
import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax

WORDS, TAGS, WIDTH = 8000, 24, 192


class Tagger(nn.Module):
    @nn.compact
    def __call__(self, words):
        x = nn.Embed(WORDS, 96)(words)
        ahead = nn.RNN(nn.GRUCell(WIDTH))(x)
        back = nn.RNN(nn.GRUCell(WIDTH), reverse=True, keep_order=True)(x)
        return nn.Dense(TAGS)(nn.tanh(nn.Dense(WIDTH)(jnp.concatenate([ahead, back], -1))))


model = Tagger()
optimiser = optax.adam(2e-3)


def loss_of(params, words, tags):
    logits = model.apply(params, words)
    return optax.softmax_cross_entropy_with_integer_labels(logits, tags).mean()


@jax.jit
def train(params, state, words, tags):
    def step(carry, batch):
        params, state = carry
        loss, gradient = jax.value_and_grad(loss_of)(params, *batch)
        update, state = optimiser.update(gradient, state)
        return (optax.apply_updates(params, update), state), loss

    return jax.lax.scan(step, (params, state), (words, tags))


@jax.jit
def accuracy(params, words, tags):
    return jnp.mean(model.apply(params, words).argmax(-1) == tags)


def main(scale: float = 1.0) -> dict[str, np.ndarray]:
    steps, batch, length = max(2, int(10 * scale)), 64, 48
    k_words, k_init = jax.random.split(jax.random.key(4))
    words = jax.random.categorical(k_words, -jnp.log(jnp.arange(WORDS) + 3.0), shape=(steps, batch, length))
    tags = (words + jnp.roll(words, 1, -1)) % TAGS
    params = jax.jit(model.init)(k_init, words[0])
    (params, _), losses = train(params, optimiser.init(params), words, tags)
    return {"losses": np.array(losses), "accuracy": np.array(accuracy(params, words[0], tags[0]))}


TOLERANCE = {"losses": {"rtol": 5e-2}, "accuracy": {"atol": 5e-2}}

if __name__ == "__main__":
    for name, value in main().items():
        print(name, np.array2string(value, precision=4, threshold=20))
