"""Hugging Face's GPT-2: two training steps, and words that are generated with its cache, greedily and drawn."""
import jax
import jax.numpy as jnp
import numpy as np
import optax
from transformers import FlaxGPT2LMHeadModel, GPT2Config

WORDS, LENGTH = 8192, 256


def main(scale: float = 1.0) -> dict[str, np.ndarray]:
    config = GPT2Config(
        vocab_size=WORDS, n_embd=256, n_layer=4, n_head=8, n_positions=LENGTH, bos_token_id=1, eos_token_id=WORDS - 1, pad_token_id=0,
        resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0,
    )
    model, optimiser = FlaxGPT2LMHeadModel(config, input_shape=(1, 8), seed=0), optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(1e-4))
    words = jax.random.randint(jax.random.key(0), (max(2, int(8 * scale)), LENGTH), 2, WORDS - 2)

    @jax.jit
    def step(parameters, state):
        def loss(parameters):
            logits = model(words, params=parameters, train=True, dropout_rng=jax.random.PRNGKey(0)).logits
            return optax.softmax_cross_entropy_with_integer_labels(logits[:, :-1], words[:, 1:]).mean()

        value, slopes = jax.value_and_grad(loss)(parameters)
        updates, state = optimiser.update(slopes, state, parameters)
        return optax.apply_updates(parameters, updates), state, value

    parameters, state = model.params, optimiser.init(model.params)
    for _ in range(2):
        parameters, state, value = step(parameters, state)
    greedy = model.generate(words[:, :32], max_length=64, do_sample=False, params=model.params).sequences
    drawn = model.generate(words[:2, :16], max_length=40, do_sample=True, top_k=20, params=model.params, prng_key=jax.random.PRNGKey(1)).sequences
    return {"loss": np.asarray(value), "greedy": np.asarray(greedy), "drawn": np.asarray(drawn.shape)}
