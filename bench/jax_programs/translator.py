"""An encoder and decoder in mixed precision: dropout, label smoothing, microbatches in a scan, a moving average of weights; beam-free decoding."""
import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax

SYMBOLS, WIDTH = 512, 128


class Block(nn.Module):
    crosses: bool = False

    @nn.compact
    def __call__(self, x, other=None, mask=None, quiet=True):
        h = nn.LayerNorm(dtype=jnp.bfloat16)(x)
        x = x + nn.MultiHeadDotProductAttention(4, dtype=jnp.bfloat16, dropout_rate=0.1)(h, h, mask=mask, deterministic=quiet)
        if self.crosses:
            h = nn.LayerNorm(dtype=jnp.bfloat16)(x)
            x = x + nn.MultiHeadDotProductAttention(4, dtype=jnp.bfloat16)(h, other, deterministic=quiet)
        h = nn.LayerNorm(dtype=jnp.bfloat16)(x)
        h = nn.Dropout(0.1)(nn.gelu(nn.Dense(4 * WIDTH, dtype=jnp.bfloat16)(h)), deterministic=quiet)
        return x + nn.Dense(WIDTH, dtype=jnp.bfloat16)(h)


class Translator(nn.Module):
    @nn.compact
    def __call__(self, source, target, quiet=True):
        embed = nn.Embed(SYMBOLS, WIDTH)
        places = self.param("places", nn.initializers.normal(0.02), (256, WIDTH))
        x = (embed(source) + places[: source.shape[1]]).astype(jnp.bfloat16)
        for _ in range(2):
            x = Block()(x, quiet=quiet)
        y = (embed(target) + places[: target.shape[1]]).astype(jnp.bfloat16)
        for _ in range(2):
            y = Block(True)(y, x, nn.make_causal_mask(target), quiet)
        return embed.attend(nn.LayerNorm()(y.astype(jnp.float32)))


model = Translator()
optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(optax.warmup_cosine_decay_schedule(0, 1e-3, 10, 100)))


@jax.jit
def train(params, average, state, key, source, target):
    def loss(p, s, t, k):
        logits = model.apply(p, s, t[:, :-1], False, rngs={"dropout": k})
        wanted = optax.smooth_labels(jax.nn.one_hot(t[:, 1:], SYMBOLS), 0.1)
        return (optax.softmax_cross_entropy(logits, wanted) * (t[:, 1:] > 0)).sum() / (t[:, 1:] > 0).sum()

    def micro(total, inputs):
        value, slopes = jax.value_and_grad(loss)(params, *inputs)
        return jax.tree.map(jnp.add, total, slopes), value

    parts = lambda x: x.reshape(4, -1, *x.shape[1:])
    slopes, values = jax.lax.scan(micro, jax.tree.map(jnp.zeros_like, params), (parts(source), parts(target), jax.random.split(key, 4)))
    updates, state = optimizer.update(jax.tree.map(lambda g: g / 4, slopes), state, params)
    params = optax.apply_updates(params, updates)
    return params, jax.tree.map(lambda a, p: 0.9 * a + 0.1 * p, average, params), state, values.mean()


@jax.jit
def translate(params, source):
    def step(k, target):
        logits = model.apply(params, source, target)
        return target.at[:, k + 1].set(jax.lax.dynamic_index_in_dim(logits, k, 1, False).argmax(-1))

    return jax.lax.fori_loop(0, 15, step, jnp.ones((source.shape[0], 16), int))


def main(scale: float = 1.0) -> dict[str, np.ndarray]:
    length = max(16, int(96 * scale))
    keys = jax.random.split(jax.random.key(0), 6)
    source = jax.random.randint(keys[0], (32, length), 1, SYMBOLS)
    target = jnp.where(jnp.arange(length) < jax.random.randint(keys[1], (32, 1), length // 2, length), source[:, ::-1], 0)
    params = jax.jit(model.init)(keys[2], source[:2], target[:2])
    average, state, values = params, optimizer.init(params), []
    for k in range(3):
        params, average, state, value = train(params, average, state, keys[3 + k], source, target)
        values.append(value)
    return {"loss": np.array(values), "words": np.array(translate(average, source[:4]).shape)}


TOLERANCE = {"loss": {"rtol": 2e-2}}
if __name__ == "__main__":
    for name, value in main().items():
        print(name, np.array2string(value, precision=4, threshold=20))
