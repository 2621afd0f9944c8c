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


def models(large=False):
    """By name: module, batch, loss. `large`: of sizes for an accelerator, computed in bf16, instead of for two cores in f32."""
    import functools
    import flax.linen as nn
    import jax
    import jax.numpy as jnp
    import optax
    key = jax.random.key(0)
    size = lambda small, big: big if large else small
    dtype = size(jnp.float32, jnp.bfloat16)
    Conv, Dense, Embed, GroupNorm, LayerNorm = (functools.partial(layer, dtype=dtype) for layer in (nn.Conv, nn.Dense, nn.Embed, nn.GroupNorm, nn.LayerNorm))

    def block(width, heads):
        class Block(nn.Module):
            causal: bool = False

            @nn.compact
            def __call__(self, x):
                mask = nn.make_causal_mask(jnp.ones(x.shape[:2])) if self.causal else None
                h = LayerNorm()(x)
                x = x + nn.MultiHeadDotProductAttention(heads, dtype=dtype)(h, h, mask=mask)
                return x + Dense(width)(nn.gelu(Dense(4 * width)(LayerNorm()(x))))
        return Block

    class Gpt(nn.Module):
        @nn.compact
        def __call__(self, tokens):
            words, width, heads = size((8192, 256, 8), (50304, 1024, 16))
            x = Embed(words, width)(tokens) + Embed(tokens.shape[1], width)(jnp.arange(tokens.shape[1]))
            for _ in range(size(4, 12)):
                x = block(width, heads)(causal=True)(x)
            return Dense(words)(LayerNorm()(x))

    class Vit(nn.Module):
        @nn.compact
        def __call__(self, images):
            patch, width, heads = size((8, 192, 4), (16, 768, 12))
            x = Conv(width, (patch, patch), (patch, patch))(images)
            x = x.reshape(x.shape[0], -1, width)
            x = x + self.param("position", nn.initializers.normal(0.02), x.shape[1:]).astype(dtype)
            for _ in range(size(4, 12)):
                x = block(width, heads)()(x)
            return Dense(100)(LayerNorm()(x).mean(1))

    class Unet(nn.Module):
        @nn.compact
        def __call__(self, x):
            kept, widths = [], size((32, 64, 128), (64, 128, 256, 512))
            for width in widths:
                x = nn.silu(GroupNorm(8)(Conv(width, (3, 3))(x)))
                kept.append(x)
                x = nn.avg_pool(x, (2, 2), (2, 2))
            x = nn.silu(Conv(widths[-1], (3, 3))(x))
            for width, before in zip(reversed(widths), reversed(kept)):
                x = jax.image.resize(x, before.shape[:3] + x.shape[3:], "nearest")
                x = nn.silu(GroupNorm(8)(Conv(width, (3, 3))(jnp.concatenate([x, before], -1))))
            return Conv(3, (3, 3))(x)

    class Lstm(nn.Module):
        @nn.compact
        def __call__(self, tokens):
            words, width = size((4096, 256), (32768, 1024))
            x = Embed(words, width)(tokens)
            for _ in range(2):
                x = nn.RNN(nn.OptimizedLSTMCell(width, dtype=dtype))(x)
            return Dense(words)(x)

    class Resnet(nn.Module):
        @nn.compact
        def __call__(self, x):
            first, stages = size((32, ((32, 1), (64, 2), (128, 2), (128, 1))), (64, ((64, 1), (64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), (512, 1))))
            x = nn.relu(GroupNorm(8)(Conv(first, (3, 3))(x)))
            for width, stride in stages:
                y = nn.relu(GroupNorm(8)(Conv(width, (3, 3), (stride, stride))(x)))
                y = GroupNorm(8)(Conv(width, (3, 3))(y))
                x = nn.relu(y + (x if x.shape == y.shape else Conv(width, (1, 1), (stride, stride))(x)))
            return Dense(10)(x.mean((1, 2)))

    def labels(logits, wanted):
        return optax.softmax_cross_entropy_with_integer_labels(logits.astype(jnp.float32), wanted).mean()

    def texts(count, length):
        tokens = jax.random.randint(key, (count, length + 1), 0, 4096)
        return tokens[:, :-1], tokens[:, 1:]

    def images(count, side):
        return jax.random.normal(key, (count, side, side, 3)), jax.random.randint(key, (count,), 0, 10)

    next_token = lambda logits, batch: labels(logits, batch[1])
    pictures = images(*size((8, 64), (64, 256)))[0]
    return {
        "gpt": (Gpt(), texts(*size((4, 256), (24, 1024))), next_token), "vit": (Vit(), images(*size((16, 64), (256, 224))), next_token),
        "unet": (Unet(), (pictures, jnp.tanh(pictures)), lambda out, batch: jnp.mean((out.astype(jnp.float32) - batch[1]) ** 2)),
        "lstm": (Lstm(), texts(*size((4, 256), (64, 512))), next_token), "resnet": (Resnet(), images(*size((16, 64), (128, 128))), next_token),
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
