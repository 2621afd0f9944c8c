"""Hugging Face's BERT: masked language modelling with dropout, three training steps."""
import jax
import jax.numpy as jnp
import numpy as np
import optax
from transformers import BertConfig, FlaxBertForMaskedLM

WORDS, LENGTH = 8192, 128


def main(scale: float = 1.0) -> dict[str, np.ndarray]:
    batch, key = max(2, int(16 * scale)), jax.random.key(0)
    config = BertConfig(vocab_size=WORDS, hidden_size=256, num_hidden_layers=4, num_attention_heads=8, intermediate_size=1024, max_position_embeddings=256)
    model, optimiser = FlaxBertForMaskedLM(config, input_shape=(1, 8), seed=0), optax.adamw(1e-4)
    words = jax.random.randint(key, (batch, LENGTH), 0, WORDS)
    is_word = (jnp.arange(LENGTH) < LENGTH - jnp.arange(batch)[:, None] % 20).astype(jnp.int32)
    counts = (jax.random.uniform(key, (batch, LENGTH)) < 0.15) & (is_word > 0)

    @jax.jit
    def step(parameters, state, key):
        def loss(parameters):
            logits = model(words, attention_mask=is_word, params=parameters, dropout_rng=key, train=True).logits
            return optax.softmax_cross_entropy_with_integer_labels(logits, words).mean(where=counts)

        value, slopes = jax.value_and_grad(loss)(parameters)
        updates, state = optimiser.update(slopes, state, parameters)
        return optax.apply_updates(parameters, updates), state, value

    parameters, state = model.params, optimiser.init(model.params)
    for k in range(3):
        parameters, state, value = step(parameters, state, jax.random.PRNGKey(k))
    return {"loss": np.asarray(value)}
