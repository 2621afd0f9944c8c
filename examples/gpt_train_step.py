"""A transformer train step as JAX users write it, lowered to HLO text: the program that `make run` explains.

    python gpt_train_step.py OUT.hlo            writes the program, not compiled and not run: no array is ever made
    python gpt_train_step.py OUT.hlo --dump D   also lets XLA:CPU compile it and dump its own account into directory D
    python gpt_train_step.py OUT.hlo --small D  the same step at toy size, in float32, with real numbers: what goes in and what
                                                XLA:CPU makes of it go to D/inputs.safetensors and D/results.safetensors

Decoder-only GPT, 24 layers of width 2048 under lax.scan, attention of 16 heads over 2048 tokens, batch 8, a vocabulary of
50,304, bfloat16 activations on float32 parameters, AdamW, state donated. 1.4 billion parameters: 15.8 GiB of state.
Needs jax 0.10.2.
"""
import argparse
import json
import os
import struct

arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
arguments.add_argument("out")
arguments.add_argument("--dump")
arguments.add_argument("--small")
options = arguments.parse_args()
os.environ["JAX_PLATFORMS"] = "cpu"
if options.dump:
    os.environ["XLA_FLAGS"] = f"--xla_dump_to={options.dump} --xla_dump_hlo_as_text"

import jax
import jax.numpy as jnp

# Sources in the text as `gpt_train_step.py:40`, wherever this file lies.
jax.config.update("jax_hlo_source_file_canonicalization_regex", ".*/")

LAYERS, WIDTH, HEADS, TOKENS, BATCH, VOCABULARY = (2, 32, 2, 64, 4, 128) if options.small else (24, 2048, 16, 2048, 8, 50304)
ACTIVATION = jnp.float32 if options.small else jnp.bfloat16


def parameter_shapes():
    layer = {
        "ln_1": (WIDTH,), "qkv": (WIDTH, 3 * WIDTH), "proj": (WIDTH, WIDTH),
        "ln_2": (WIDTH,), "wi": (WIDTH, 4 * WIDTH), "wo": (4 * WIDTH, WIDTH),
    }
    stacked = {name: (LAYERS, *shape) for name, shape in layer.items()}
    return {"embed": (VOCABULARY, WIDTH), "layers": stacked, "ln_f": (WIDTH,), "head": (WIDTH, VOCABULARY)}


def rms_norm(x, scale):
    x32 = x.astype(jnp.float32)
    return (x32 * jax.lax.rsqrt(jnp.mean(x32 * x32, axis=-1, keepdims=True) + 1e-6) * scale).astype(x.dtype)


def attention(x, layer):
    with jax.named_scope("attention"):
        q, k, v = jnp.split(x @ layer["qkv"].astype(x.dtype), 3, axis=-1)
        heads = lambda t: t.reshape(BATCH, TOKENS, HEADS, WIDTH // HEADS)
        scores = jnp.einsum("bqhd,bkhd->bhqk", heads(q), heads(k)).astype(jnp.float32) * (WIDTH // HEADS) ** -0.5
        mask = jnp.tril(jnp.ones((TOKENS, TOKENS), bool))
        weights = jax.nn.softmax(jnp.where(mask, scores, -1e30), axis=-1).astype(x.dtype)
        out = jnp.einsum("bhqk,bkhd->bqhd", weights, heads(v)).reshape(BATCH, TOKENS, WIDTH)
        return out @ layer["proj"].astype(x.dtype)


def mlp(x, layer):
    with jax.named_scope("mlp"):
        return jax.nn.gelu(x @ layer["wi"].astype(x.dtype)) @ layer["wo"].astype(x.dtype)


def block(x, layer):
    x = x + attention(rms_norm(x, layer["ln_1"]), layer)
    return x + mlp(rms_norm(x, layer["ln_2"]), layer), None


def loss(params, tokens):
    with jax.named_scope("embed"):
        x = params["embed"][tokens[:, :-1]].astype(ACTIVATION)
    with jax.named_scope("layers"):
        x, _ = jax.lax.scan(block, x, params["layers"])
    with jax.named_scope("loss"):
        logits = (rms_norm(x, params["ln_f"]) @ params["head"].astype(x.dtype)).astype(jnp.float32)
        picked = jnp.take_along_axis(logits, tokens[:, 1:, None], axis=-1)[..., 0]
        return jnp.mean(jax.nn.logsumexp(logits, axis=-1) - picked)


def train_step(state, batch):
    value, gradient = jax.value_and_grad(loss)(state["params"], batch)
    with jax.named_scope("update"):
        step = state["step"] + 1
        mu = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, state["mu"], gradient)
        nu = jax.tree.map(lambda n, g: 0.95 * n + 0.05 * g * g, state["nu"], gradient)
        scale = jnp.sqrt(1 - 0.95**step) / (1 - 0.9**step)
        params = jax.tree.map(lambda p, m, n: p - 3e-4 * (scale * m / (jnp.sqrt(n) + 1e-8) + 0.1 * p), state["params"], mu, nu)
    return {"params": params, "mu": mu, "nu": nu, "step": step}, value


abstract = lambda shape: jax.ShapeDtypeStruct(shape, jnp.float32)
is_shape = lambda s: isinstance(s, tuple)
params = jax.tree.map(abstract, parameter_shapes(), is_leaf=is_shape)
state = {"params": params, "mu": params, "nu": params, "step": jax.ShapeDtypeStruct((), jnp.float32)}
lowered = jax.jit(train_step, donate_argnums=0).lower(state, jax.ShapeDtypeStruct((BATCH, TOKENS + 1), jnp.int32))
with open(options.out, "w") as out:
    out.write(lowered.as_text("hlo", debug_info=True))
if options.dump:
    memory = lowered.compile().memory_analysis()
    print(f"XLA:CPU: arguments {memory.argument_size_in_bytes}, temporaries {memory.temp_size_in_bytes}")
if options.small:
    import numpy as np

    random = np.random.default_rng(0)
    number = lambda s: jnp.asarray(random.normal(0, 0.1, s.shape).astype(np.float32))
    params = jax.tree.map(number, params)
    zeros = jax.tree.map(jnp.zeros_like, params)
    batch = jnp.asarray(random.integers(0, VOCABULARY, (BATCH, TOKENS + 1)).astype(np.int32))
    given = ({"params": params, "mu": zeros, "nu": zeros, "step": jnp.float32(0)}, batch)

    def save(path, prefix, tree, metadata):
        header, blobs, at = {"__metadata__": metadata}, [], 0
        for k, leaf in enumerate(jax.tree.leaves(tree)):
            raw = np.asarray(leaf).tobytes()
            kind = {"float32": "F32", "int32": "I32"}[leaf.dtype.name]
            header[f"{prefix}{k}"] = {"dtype": kind, "shape": list(leaf.shape), "data_offsets": [at, at + len(raw)]}
            blobs.append(raw)
            at += len(raw)
        text = json.dumps(header).encode()
        text += b" " * (-len(text) % 8)
        with open(path, "wb") as out:
            out.write(struct.pack("<Q", len(text)) + text + b"".join(blobs))

    save(options.small + "/inputs.safetensors", "arg", given, {})
    results = jax.jit(train_step)(*given)
    save(options.small + "/results.safetensors", "out", results, {"rtol": "1e-3", "atol_of_max": "1e-4"})
    print("loss", results[1])
