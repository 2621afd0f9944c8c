"""jax_models.py [--library FILE] [--steps N] [--only NAME,..]: five training steps of flax and optax (GPT, ViT, UNet, LSTM, ResNet),
each in a process of its own, on XLA:CPU, fitted for it, with lowtide.jit, and unchanged under JAX_PLATFORMS=lowtide: the losses,
seconds a step after the first, seconds until the first is done, and how far the resident set grows beyond imports and arguments.

Exit 1 where losses differ by more than 1e-3 of XLA's."""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
WAYS = {"xla": "cpu", "fit": "cpu", "jit": "cpu", "lowtide": "lowtide"}
MODELS = ("gpt", "vit", "unet", "lstm", "resnet")


def models():
    import flax.linen as nn
    import jax
    import jax.numpy as jnp
    import optax
    key = jax.random.key(0)

    def block(width, heads):
        class Block(nn.Module):
            causal: bool = False

            @nn.compact
            def __call__(self, x):
                mask = nn.make_causal_mask(jnp.ones(x.shape[:2])) if self.causal else None
                h = nn.LayerNorm()(x)
                x = x + nn.MultiHeadDotProductAttention(heads)(h, h, mask=mask)
                return x + nn.Dense(width)(nn.gelu(nn.Dense(4 * width)(nn.LayerNorm()(x))))
        return Block

    class Gpt(nn.Module):
        @nn.compact
        def __call__(self, tokens):
            x = nn.Embed(8192, 256)(tokens) + nn.Embed(512, 256)(jnp.arange(tokens.shape[1]))
            for _ in range(4):
                x = block(256, 8)(causal=True)(x)
            return nn.Dense(8192)(nn.LayerNorm()(x))

    class Vit(nn.Module):
        @nn.compact
        def __call__(self, images):
            x = nn.Conv(192, (8, 8), (8, 8))(images)
            x = x.reshape(x.shape[0], -1, 192)
            x = x + self.param("position", nn.initializers.normal(0.02), x.shape[1:])
            for _ in range(4):
                x = block(192, 4)()(x)
            return nn.Dense(100)(nn.LayerNorm()(x).mean(1))

    class Unet(nn.Module):
        @nn.compact
        def __call__(self, x):
            kept = []
            for width in (32, 64, 128):
                x = nn.silu(nn.GroupNorm(8)(nn.Conv(width, (3, 3))(x)))
                kept.append(x)
                x = nn.avg_pool(x, (2, 2), (2, 2))
            x = nn.silu(nn.Conv(128, (3, 3))(x))
            for width, before in zip((128, 64, 32), reversed(kept)):
                x = jax.image.resize(x, before.shape[:3] + x.shape[3:], "nearest")
                x = nn.silu(nn.GroupNorm(8)(nn.Conv(width, (3, 3))(jnp.concatenate([x, before], -1))))
            return nn.Conv(3, (3, 3))(x)

    class Lstm(nn.Module):
        @nn.compact
        def __call__(self, tokens):
            x = nn.Embed(4096, 256)(tokens)
            for _ in range(2):
                x = nn.RNN(nn.OptimizedLSTMCell(256))(x)
            return nn.Dense(4096)(x)

    class Resnet(nn.Module):
        @nn.compact
        def __call__(self, x):
            x = nn.relu(nn.GroupNorm(8)(nn.Conv(32, (3, 3))(x)))
            for width, stride in ((32, 1), (64, 2), (128, 2), (128, 1)):
                y = nn.relu(nn.GroupNorm(8)(nn.Conv(width, (3, 3), (stride, stride))(x)))
                y = nn.GroupNorm(8)(nn.Conv(width, (3, 3))(y))
                x = nn.relu(y + (x if x.shape == y.shape else nn.Conv(width, (1, 1), (stride, stride))(x)))
            return nn.Dense(10)(x.mean((1, 2)))

    labels = optax.softmax_cross_entropy_with_integer_labels
    tokens = jax.random.randint(key, (4, 257), 0, 4096)
    images = jax.random.normal(key, (16, 64, 64, 3))
    classes = jax.random.randint(key, (16,), 0, 10)
    next_token = lambda logits, batch: labels(logits, batch[1]).mean()
    return {
        "gpt": (Gpt(), (tokens[:, :-1], tokens[:, 1:]), next_token), "vit": (Vit(), (images, classes), next_token),
        "unet": (Unet(), (images[:8], jnp.tanh(images[:8])), lambda out, batch: jnp.mean((out - batch[1]) ** 2)),
        "lstm": (Lstm(), (tokens[:, :-1], tokens[:, 1:]), next_token), "resnet": (Resnet(), (images, classes), next_token),
    }


def resident():
    with open("/proc/self/status") as file:
        found = dict(line.split(":", 1) for line in file if ":" in line)
    return int(found["VmRSS"].split()[0]) << 10, int(found["VmHWM"].split()[0]) << 10


def child(name, way, steps):
    import jax
    import optax
    import lowtide
    model, batch, loss = models()[name]
    optimiser = optax.adam(1e-3)

    def step(params, state, batch):
        value, slope = jax.value_and_grad(lambda p: loss(model.apply(p, batch[0]), batch))(params)
        changes, state = optimiser.update(slope, state)
        return optax.apply_updates(params, changes), state, value

    params = jax.jit(model.init)(jax.random.key(1), batch[0])
    state = jax.jit(optimiser.init)(params)
    jax.block_until_ready((params, state))
    run = {"xla": jax.jit, "lowtide": jax.jit, "fit": lowtide.fit, "jit": lowtide.jit}[way](step, donate_argnums=(0, 1))
    before, _ = resident()
    with open("/proc/self/clear_refs", "w") as file:  # the highest mark begins here
        file.write("5")
    start = time.perf_counter()
    losses = []
    for i in range(steps):
        params, state, value = run(params, state, batch)
        losses.append(float(value))
        if i == 0:
            first = time.perf_counter() - start
            second = time.perf_counter()
    each = (time.perf_counter() - second) / max(steps - 1, 1)
    temp = [it.temp_size_in_bytes for it in run.memory_analysis()] if way == "fit" else []
    print(json.dumps({"losses": losses, "first": first, "each": each, "resident": resident()[1] - before, "temp": temp}))


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--library", default=str(ROOT / "build" / "liblowtide_pjrt.so"))
    arguments.add_argument("--steps", type=int, default=20)
    arguments.add_argument("--only", default=",".join(MODELS))
    arguments.add_argument("--ways", default=",".join(WAYS))
    arguments.add_argument("--child", nargs=2)
    given = arguments.parse_args()
    if given.child:
        return child(*given.child, given.steps)
    wrong = []
    print(f"{'':8}{'way':10}{'first loss':>12}{'last loss':>12}{'first s':>9}{'s/step':>9}{'resident MiB':>14}")
    for name in given.only.split(","):
        wanted = None
        for way in given.ways.split(","):
            environment = os.environ | {"JAX_PLATFORMS": WAYS[way], "LOWTIDE_PJRT_LIBRARY": given.library, "PYTHONPATH": str(ROOT / "python")}
            ran = subprocess.run([sys.executable, __file__, "--child", name, way, "--steps", str(given.steps)], env=environment, capture_output=True, text=True)
            if ran.returncode != 0:
                wrong.append((name, way))
                print(f"{name:8}{way:10}exit {ran.returncode}: {ran.stderr.strip().splitlines()[-1][:90]}")
                continue
            said = json.loads(ran.stdout.splitlines()[-1])
            wanted = wanted or said["losses"]
            worst = max(abs(a - b) / abs(b) for a, b in zip(said["losses"], wanted))
            if worst > 1e-3:
                wrong.append((name, way))
            temp = "" if not said["temp"] else f"   XLA's temporaries {said['temp'][0] / 2**20:.1f} -> {said['temp'][1] / 2**20:.1f} MiB"
            print(f"{name:8}{way:10}{said['losses'][0]:12.5f}{said['losses'][-1]:12.5f}{said['first']:9.2f}{said['each']:9.3f}{said['resident'] / 2**20:14.1f}{temp}"
                  + (f"   losses differ by {worst:.1e}" if worst > 1e-3 else ""), flush=True)
    print(f"wrong: {wrong}")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
