"""Three models in flax, as people write them, each with the changes that its author could make as switches.

lowered(name, **changes) is the HLO text of a training step with its paths and source lines; CHANGES tells a model's switches.
"""
import functools

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax


def query_blocks(function, blocks, queries, *whole):
    """function(queries, *whole) for one block of queries [B, S, ...] after the other, under jax.checkpoint."""
    if blocks <= 1:
        return function(queries, *whole)
    length = queries.shape[1] // blocks
    parts = jnp.moveaxis(queries.reshape(queries.shape[0], blocks, length, *queries.shape[2:]), 1, 0)
    starts = jnp.arange(blocks) * length
    out = jax.lax.map(jax.checkpoint(lambda part: function(part[0], *whole, start=part[1])), (parts, starts))
    return jnp.moveaxis(out, 0, 1).reshape(queries.shape[0], -1, *out.shape[3:])


def attend(q, k, v, causal, start=0):
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k).astype(jnp.float32) / q.shape[-1] ** 0.5
    if causal:
        rows = start + jnp.arange(q.shape[1])
        scores = jnp.where(rows[:, None] >= jnp.arange(k.shape[1])[None, :], scores, -1e30)
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores).astype(v.dtype), v)


class Attention(nn.Module):
    heads: int
    causal: bool = False
    blocks: int = 1

    @nn.compact
    def __call__(self, x):
        width = x.shape[-1]
        q, k, v = (nn.DenseGeneral((self.heads, width // self.heads), use_bias=False, name=n)(x) for n in "qkv")
        out = query_blocks(functools.partial(attend, causal=self.causal), self.blocks, q, k, v)
        return nn.DenseGeneral(width, axis=(-2, -1), use_bias=False, name="out")(out)


class Block(nn.Module):
    heads: int
    dropout: float
    blocks: int

    @nn.compact
    def __call__(self, x, deterministic=False):
        x = x + nn.Dropout(self.dropout, deterministic=deterministic)(Attention(self.heads, True, self.blocks)(nn.LayerNorm()(x)))
        h = nn.gelu(nn.Dense(4 * x.shape[-1])(nn.LayerNorm()(x)))
        return x + nn.Dropout(self.dropout, deterministic=deterministic)(nn.Dense(x.shape[-1])(h))


def token_loss(hidden, table, labels):
    logits = (hidden @ table.T).astype(jnp.float32)
    return optax.softmax_cross_entropy_with_integer_labels(logits, labels)


def chunked_loss(hidden, table, labels, chunks):
    """The sum of losses of all tokens; chunk by chunk under jax.checkpoint where there are several."""
    if chunks <= 1:
        return token_loss(hidden, table, labels).sum()
    length = hidden.shape[1] // chunks
    parts = jnp.moveaxis(hidden.reshape(hidden.shape[0], chunks, length, -1), 1, 0)
    ids = jnp.moveaxis(labels.reshape(labels.shape[0], chunks, length), 1, 0)
    return jax.lax.map(jax.checkpoint(lambda part: token_loss(part[0], table, part[1]).sum()), (parts, ids)).sum()


class Gpt(nn.Module):
    """Tied embeddings and dropout."""
    vocabulary: int = 32000
    width: int = 512
    layers: int = 4
    heads: int = 8
    dropout: float = 0.1
    blocks: int = 1
    checkpoint: bool = False
    one_hot: bool = False

    @nn.compact
    def __call__(self, tokens):
        table = self.param("embedding", nn.initializers.normal(0.02), (self.vocabulary, self.width))
        if self.one_hot:
            x = jax.nn.one_hot(tokens, self.vocabulary, dtype=table.dtype) @ table
        else:
            x = table[tokens]
        x = x + self.param("positions", nn.initializers.normal(0.02), (tokens.shape[1], self.width))
        layer = nn.remat(Block, static_argnums=(2,)) if self.checkpoint else Block
        for k in range(self.layers):
            x = layer(self.heads, self.dropout, self.blocks, name=f"layer_{k}")(x, False)
        return nn.LayerNorm()(x), table


class Residual(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x, time):
        h = nn.Conv(self.width, (3, 3))(nn.silu(nn.GroupNorm(8)(x)))
        h = h + nn.Dense(self.width)(nn.silu(time))[:, None, None]
        h = nn.Conv(self.width, (3, 3))(nn.silu(nn.GroupNorm(8)(h)))
        return h + (x if x.shape[-1] == self.width else nn.Conv(self.width, (1, 1))(x))


class Unet(nn.Module):
    """A denoiser: GroupNorm, SiLU, attention in the middle."""
    widths: tuple = (64, 128, 256)
    blocks: int = 1

    @nn.compact
    def __call__(self, images, time):
        angles = time[:, None] * jnp.exp(-jnp.arange(32) / 4)
        time = nn.Dense(256)(jnp.concatenate([jnp.sin(angles), jnp.cos(angles)], -1))
        x, kept = nn.Conv(self.widths[0], (3, 3))(images), []
        for width in self.widths:
            x = Residual(width)(x, time)
            kept.append(x)
            x = nn.avg_pool(x, (2, 2), (2, 2))
        b, h, w, c = x.shape
        flat = nn.GroupNorm(8)(x).reshape(b, h * w, c)
        x = x + Attention(4, False, self.blocks)(flat).reshape(x.shape)
        for width in reversed(self.widths):
            x = jnp.repeat(jnp.repeat(x, 2, 1), 2, 2)
            x = Residual(width)(jnp.concatenate([x, kept.pop()], -1), time)
        return nn.Conv(3, (3, 3))(nn.silu(nn.GroupNorm(8)(x)))


class Translator(nn.Module):
    """Two LSTMs, the second begins with the state of the first; every word of the target attends to the source."""
    vocabulary: int = 16000
    width: int = 512
    one_hot: bool = False

    @nn.compact
    def __call__(self, source, target):
        table = self.param("embedding", nn.initializers.normal(0.02), (self.vocabulary, self.width))
        look_up = (lambda ids: jax.nn.one_hot(ids, self.vocabulary, dtype=table.dtype) @ table) if self.one_hot else (lambda ids: table[ids])
        state, read = nn.RNN(nn.OptimizedLSTMCell(self.width), return_carry=True, name="encoder")(look_up(source))
        written = nn.RNN(nn.OptimizedLSTMCell(self.width), name="decoder")(look_up(target), initial_carry=state)
        scores = jax.nn.softmax(jnp.einsum("bqc,bkc->bqk", written, read) / self.width ** 0.5)
        return written + jnp.einsum("bqk,bkc->bqc", scores, read), table


def gpt(batch=8, length=1024, chunks=1, donate=(), micro=1, **model):
    net = Gpt(**model)
    shapes = jax.ShapeDtypeStruct((batch, length), jnp.int32)

    def loss(params, tokens, labels, key):
        hidden, table = net.apply({"params": params}, tokens, rngs={"dropout": key})
        return chunked_loss(hidden, table, labels, chunks) / labels.size

    init = lambda key: net.init({"params": key, "dropout": key}, jnp.zeros((1, length), jnp.int32))["params"]
    return step_of(loss, init, donate, micro, (shapes, shapes))


def unet(batch=16, size=64, donate=(), micro=1, **model):
    net = Unet(**model)
    images = jax.ShapeDtypeStruct((batch, size, size, 3), jnp.float32)

    def loss(params, images, key):
        key, other = jax.random.split(key)
        time = jax.random.uniform(key, (images.shape[0],))
        noise = jax.random.normal(other, images.shape)
        mixed = images * (1 - time)[:, None, None, None] + noise * time[:, None, None, None]
        return jnp.mean((net.apply({"params": params}, mixed, time) - noise) ** 2)

    init = lambda key: net.init(key, jnp.zeros((1, size, size, 3)), jnp.zeros((1,)))["params"]
    return step_of(loss, init, donate, micro, (images,))


def seq2seq(batch=32, length=256, chunks=1, donate=(), micro=1, **model):
    net = Translator(**model)
    ids = jax.ShapeDtypeStruct((batch, length), jnp.int32)

    def loss(params, source, target, labels, key):
        hidden, table = net.apply({"params": params}, source, target)
        return chunked_loss(hidden, table, labels, chunks) / labels.size

    init = lambda key: net.init(key, jnp.zeros((1, length), jnp.int32), jnp.zeros((1, length), jnp.int32))["params"]
    return step_of(loss, init, donate, micro, (ids, ids, ids))


def in_parts(gradients_of, parts, batch, key):
    """Gradients of one part of the batch after the other, added up."""
    split = jax.tree.map(lambda x: x.reshape(parts, x.shape[0] // parts, *x.shape[1:]), batch)

    def one(sums, part):
        found = gradients_of(part[0], part[1])
        return jax.tree.map(jnp.add, sums, found), None

    first = jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), jax.eval_shape(gradients_of, jax.tree.map(lambda x: x[0], split), key))
    sums, _ = jax.lax.scan(one, first, (split, jax.random.split(key, parts)))
    return jax.tree.map(lambda x: x / parts, sums)


def step_of(loss, init, donate, micro, batch):
    """(step, its arguments): AdamW on the loss, of all the batch at once or of `micro` parts."""
    optimiser = optax.adamw(1e-3)

    def step(params, moments, batch, key):
        gradients_of = lambda batch, key: jax.value_and_grad(loss)(params, *batch, key)
        value, gradients = gradients_of(batch, key) if micro <= 1 else in_parts(gradients_of, micro, batch, key)
        updates, moments = optimiser.update(gradients, moments, params)
        return optax.apply_updates(params, updates), moments, value

    key = jax.ShapeDtypeStruct((2,), jnp.uint32)
    params = jax.eval_shape(init, key)
    moments = jax.eval_shape(optimiser.init, params)
    return jax.jit(step, donate_argnames=donate), (params, moments, batch, key)


MODELS = {"gpt": gpt, "unet": unet, "seq2seq": seq2seq}


def lowered(name, **changes):
    """The HLO text of a model's step with these changes."""
    step, arguments = MODELS[name](**changes)
    return step.lower(*arguments).as_text("hlo", debug_info=True)
