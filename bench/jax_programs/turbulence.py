"""Two-dimensional turbulence: the vorticity equation by a pseudo-spectral method, fourth-order Runge-Kutta, 2/3 dealiasing."""
import jax
import jax.numpy as jnp
import numpy as np

VISCOSITY = 1e-4


def wave_numbers(n):
    kx = jnp.fft.fftfreq(n, 1 / n)[:, None]
    ky = jnp.fft.rfftfreq(n, 1 / n)[None]
    squared = kx**2 + ky**2
    keep = ((jnp.abs(kx) < n / 3) & (ky < n / 3)).astype(jnp.float32)
    return kx, ky, squared, keep


def tendency(w, waves):
    kx, ky, squared, keep = waves
    psi = w / jnp.where(squared == 0, 1, squared)
    real = lambda spectrum: jnp.fft.irfft2(spectrum)
    advected = real(1j * ky * psi) * real(1j * kx * w) - real(1j * kx * psi) * real(1j * ky * w)
    return -keep * jnp.fft.rfft2(advected) - VISCOSITY * squared * w


@jax.jit
def simulate(w, steps, dt):
    waves = wave_numbers(w.shape[0])

    def step(w, _):
        k1 = tendency(w, waves)
        k2 = tendency(w + dt / 2 * k1, waves)
        k3 = tendency(w + dt / 2 * k2, waves)
        k4 = tendency(w + dt * k3, waves)
        return w + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4), None

    return jax.lax.fori_loop(0, steps, lambda _, w: step(w, None)[0], w)


@jax.jit
def spectrum(w):
    n = w.shape[0]
    _, _, squared, _ = wave_numbers(n)
    shell = jnp.round(jnp.sqrt(squared)).astype(jnp.int32)
    energy = jnp.abs(w) ** 2 / jnp.where(squared == 0, 1, squared)
    return jnp.zeros(n).at[shell].add(energy)[: n // 2]


@jax.jit
def start(key, n_array):
    n = n_array.shape[0]
    _, _, squared, keep = wave_numbers(n)
    amplitude = jnp.exp(-((jnp.sqrt(squared) - 8) ** 2) / 8)
    return jnp.fft.rfft2(jax.random.normal(key, (n, n))) * amplitude * keep


def main(scale: float = 1.0) -> dict[str, np.ndarray]:
    n = max(64, int(1024 * scale) // 64 * 64)
    w = start(jax.random.key(0), jnp.zeros(n))
    before = spectrum(w)
    w = simulate(w, 6, 2e-4)
    return {"before": np.array(before), "after": np.array(spectrum(w))}


TOLERANCE = {"before": {"rtol": 1e-3}, "after": {"rtol": 1e-2}}

if __name__ == "__main__":
    for name, value in main().items():
        print(name, np.array2string(value, precision=4, threshold=20))
