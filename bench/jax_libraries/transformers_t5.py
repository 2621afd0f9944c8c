"""Hugging Face's T5: two training steps with Adafactor, and words found by a beam search, whose loop derives keys and values
from the encoder's output."""
import jax
import jax.numpy as jnp
import numpy as np
import optax
from transformers import FlaxT5ForConditionalGeneration, T5Config

WORDS, GIVEN, ASKED = 4096, 96, 64

numpy_clip = jnp.clip


def clip(x, a_min=None, a_max=None, **others):
    """jnp.clip with the names of its arguments that transformers 4.49 uses."""
    return numpy_clip(x, a_min, a_max, **others)


def main(scale: float = 1.0) -> dict[str, np.ndarray]:
    jnp.clip = clip
    config = T5Config(
        vocab_size=WORDS, d_model=256, d_kv=32, d_ff=512, num_layers=3, num_heads=8, dropout_rate=0.0,
        decoder_start_token_id=0, pad_token_id=0, eos_token_id=1,
    )
    model, optimiser = FlaxT5ForConditionalGeneration(config, input_shape=(1, 8), seed=0), optax.adafactor(1e-3)
    sentences = max(2, int(16 * scale))
    given = jax.random.randint(jax.random.key(0), (sentences, GIVEN), 2, WORDS)
    asked = jax.random.randint(jax.random.key(1), (sentences, ASKED), 2, WORDS)

    @jax.jit
    def step(parameters, state):
        def loss(parameters):
            so_far = jnp.pad(asked[:, :-1], ((0, 0), (1, 0)))
            logits = model(given, decoder_input_ids=so_far, params=parameters).logits
            return optax.softmax_cross_entropy_with_integer_labels(logits, asked).mean()

        value, slopes = jax.value_and_grad(loss)(parameters)
        updates, state = optimiser.update(slopes, state, parameters)
        return optax.apply_updates(parameters, updates), state, value

    parameters, state = model.params, optimiser.init(model.params)
    for _ in range(2):
        parameters, state, value = step(parameters, state)
    found = model.generate(given[:2], max_length=24, num_beams=4, params=model.params)
    return {"loss": np.asarray(value), "words": np.asarray(found.sequences), "scores": np.asarray(found.scores)}
