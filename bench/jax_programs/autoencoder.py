"""A variational autoencoder with strided and transposed convolutions: training, samples, and a walk between two images."""
import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax

LATENT = 32


class Encoder(nn.Module):
    @nn.compact
    def __call__(self, x):
        for width in (32, 64, 128):
            x = nn.gelu(nn.Conv(width, (4, 4), 2)(x))
        return jnp.split(nn.Dense(2 * LATENT)(x.reshape(x.shape[0], -1)), 2, -1)


class Decoder(nn.Module):
    @nn.compact
    def __call__(self, z):
        x = nn.gelu(nn.Dense(4 * 4 * 128)(z)).reshape(-1, 4, 4, 128)
        for width in (64, 32):
            x = nn.gelu(nn.ConvTranspose(width, (4, 4), (2, 2))(x))
        return nn.ConvTranspose(3, (4, 4), (2, 2))(x)


encoder, decoder, optimiser = Encoder(), Decoder(), optax.adam(1e-3)


@jax.jit
def step(params, state, key, x):
    def loss_of(params):
        mean, log_variance = encoder.apply(params[0], x)
        z = mean + jnp.exp(log_variance / 2) * jax.random.normal(key, mean.shape)
        error = ((decoder.apply(params[1], z) - x) ** 2).sum((1, 2, 3))
        kl = 0.5 * (jnp.exp(log_variance) + mean**2 - 1 - log_variance).sum(-1)
        return (error + kl).mean()

    loss, gradient = jax.value_and_grad(loss_of)(params)
    update, state = optimiser.update(gradient, state)
    return optax.apply_updates(params, update), state, loss


@jax.jit
def walk(params, a, b):
    ends = [encoder.apply(params[0], x)[0] for x in (a, b)]
    return jax.lax.map(lambda t: decoder.apply(params[1], (1 - t) * ends[0] + t * ends[1]).mean(0), jnp.linspace(0, 1, 16))


def main(scale: float = 1.0) -> dict[str, np.ndarray]:
    batch, steps = max(8, int(128 * scale)), max(2, int(6 * scale))
    k_data, k_e, k_d, k_run = jax.random.split(jax.random.key(13), 4)
    basis = jax.random.normal(k_data, (8, 32, 32, 3))
    x = jnp.einsum("sbk,khwc->sbhwc", jax.random.normal(k_run, (steps, batch, 8)), basis) / 3
    params = (jax.jit(encoder.init)(k_e, x[0]), jax.jit(decoder.init)(k_d, jnp.zeros((1, LATENT))))
    state, losses = optimiser.init(params), []
    for i in range(steps):
        params, state, loss = step(params, state, jax.random.fold_in(k_run, i), x[i])
        losses.append(loss)
    frames = walk(params, x[0, :32], x[1, :32])
    return {"losses": np.array(losses), "frames": np.array(frames.mean((1, 2)))}


TOLERANCE = {"losses": {"rtol": 2e-2}, "frames": {"atol": 5e-2}}

if __name__ == "__main__":
    for name, value in main().items():
        print(name, np.array2string(value, precision=4, threshold=20))
