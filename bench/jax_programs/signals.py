"""Sound: spectrograms, filters, resampling, pitch by autocorrelation, and a deconvolution by gradient descent."""
import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.signal import convolve, fftconvolve, stft


@jax.jit
def spectrogram(x):
    _, _, z = stft(x, nperseg=512, noverlap=384)
    power = jnp.abs(z) ** 2
    mels = jnp.maximum(0, 1 - jnp.abs(jnp.arange(power.shape[-2]) / 6.5 - jnp.arange(40)[:, None]))
    return jnp.log(jnp.einsum("mf,bft->bmt", mels, power) + 1e-6)


@jax.jit
def filtered(x, taps):
    short = jax.vmap(lambda line: jnp.convolve(line, taps[:31], mode="same"))(x)
    long = fftconvolve(x, taps[None], mode="same")

    def step(state, sample):  # a biquad
        a, b = state
        y = 0.2 * sample + a
        return (0.2 * sample + 0.5 * y + b, 0.2 * sample - 0.3 * y), y

    _, recursive = jax.lax.scan(step, (jnp.zeros(x.shape[0]),) * 2, x.T)
    return short, long, recursive.T


@jax.jit
def pitch(x):
    frames = x[:, : x.shape[1] // 1024 * 1024].reshape(x.shape[0], -1, 1024)
    windowed = frames * jnp.hanning(1024)
    spectrum = jnp.fft.rfft(windowed, 2048)
    correlation = jnp.fft.irfft(jnp.abs(spectrum) ** 2)[..., 40:600]
    return correlation.argmax(-1) + 40


@jax.jit
def deconvolved(y, taps):
    loss = lambda x: ((jax.vmap(lambda l: jnp.convolve(l, taps, mode="same"))(x) - y) ** 2).mean() + 1e-4 * jnp.abs(jnp.diff(x)).mean()

    def turn(x, _):
        value, slope = jax.value_and_grad(loss)(x)
        return x - 0.2 * slope * y.size / 8, value

    return jax.lax.scan(turn, y, None, length=12)


@jax.jit
def resampled(x):
    return jax.vmap(lambda l: jnp.interp(jnp.linspace(0, l.shape[0] - 1, l.shape[0] * 3 // 2), jnp.arange(l.shape[0]), l))(x)


def main(scale: float = 1.0) -> dict[str, np.ndarray]:
    n = max(4096, int(65536 * scale))
    keys = jax.random.split(jax.random.key(4), 3)
    t = jnp.arange(n) / 16000
    x = jnp.sin(2 * jnp.pi * jnp.linspace(110, 440, 8)[:, None] * t) + 0.3 * jax.random.normal(keys[0], (8, n))
    taps = jnp.hanning(401) / jnp.hanning(401).sum()
    short, long, recursive = filtered(x, taps)
    clean, values = deconvolved(short, taps[185:216] / taps[185:216].sum())
    return {"spectrogram": np.array(spectrogram(x).mean((0, 2))), "short": np.array(short.std(1)), "long": np.array(long.std(1)), "recursive": np.array(recursive.std(1)), "pitch": np.array(jnp.median(pitch(x), axis=1)), "values": np.array(values), "resampled": np.array(resampled(x).std(1))}


TOLERANCE = {"values": {"rtol": 1e-2}, "spectrogram": {"rtol": 1e-2, "atol": 1e-2}}

if __name__ == "__main__":
    for name, value in main().items():
        print(name, np.array2string(value, precision=4, threshold=20))
