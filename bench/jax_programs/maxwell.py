"""Electromagnetic waves: Maxwell's equations on Yee's staggered grid in an absorbing box, their spectra on the way, a wave packet by split steps."""
import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def driven(permittivity, absorption, frequencies):
    size = permittivity.shape[0]
    half = lambda a, axis: jnp.roll(a, -1, axis) - a
    back = lambda a, axis: a - jnp.roll(a, 1, axis)

    def turn(state, t):
        e, hx, hy, spectrum = state
        hx = (hx - 0.5 * half(e, 1)) * absorption
        hy = (hy + 0.5 * half(e, 0)) * absorption
        e = (e + 0.5 / permittivity * (back(hy, 0) - back(hx, 1))) * absorption
        e = e.at[size // 4, size // 2].add(jnp.exp(-(((t - 60) / 20) ** 2)) * jnp.sin(0.3 * t))
        spectrum = spectrum + jnp.exp(-1j * frequencies * t)[:, None] * e[size // 2]
        return (e, hx, hy, spectrum), jnp.abs(e).max()

    zero = jnp.zeros_like(permittivity)
    spectra = jnp.zeros((frequencies.shape[0], size), jnp.complex64)
    return jax.lax.scan(turn, (zero, zero, zero, spectra), jnp.arange(400.0))


@jax.jit
def packet(psi, potential):
    size = psi.shape[0]
    waves = 2 * jnp.pi * jnp.fft.fftfreq(size)
    kinetic = jnp.exp(-0.5j * 0.4 * (waves[:, None] ** 2 + waves**2))

    def turn(psi, _):
        psi = psi * jnp.exp(-0.2j * potential)
        psi = jnp.fft.ifft2(jnp.fft.fft2(psi) * kinetic)
        psi = psi * jnp.exp(-0.2j * potential)
        return psi, (jnp.abs(psi[: size // 2]) ** 2).sum()

    return jax.lax.scan(turn, psi, None, length=40)


def main(scale=1.0):
    size = max(32, int(300 * scale))
    place = np.arange(size) / size
    inside = ((place[:, None] - 0.6) ** 2 + (place - 0.5) ** 2 < 0.02).astype(np.float32)
    edge = np.minimum(np.minimum(place, 1 - place)[:, None], np.minimum(place, 1 - place))
    absorption = np.where(edge < 0.1, 0.85, 1).astype(np.float32)
    (e, _, _, spectra), highest = driven(1 + 3 * inside, absorption, np.linspace(0.1, 0.6, 16, dtype=np.float32))
    size = max(32, int(256 * scale))
    x = np.arange(size) - size / 2
    psi = np.exp(-((x[:, None] + size / 5) ** 2 + x**2) / (size / 2) + 0.8j * x[:, None]).astype(np.complex64)
    potential = (0.3 * (np.abs(x)[:, None] < 3) * (np.abs(np.abs(x) - 12) > 4)).astype(np.float32)
    psi, kept = packet(psi, potential)
    return {"field": float(jnp.abs(e).max()), "spectra": float(jnp.abs(spectra).mean()), "highest": float(highest.max()), "psi": float(jnp.abs(psi).sum()), "kept": float(kept[-1])}


if __name__ == "__main__":
    print(main())
