"""Chains of tensors and complex matrices: expectation values site by site, Chebyshev moments, a product of unitaries."""
import jax
import jax.numpy as jnp
import numpy as np

SITES = 64


@jax.jit
def expectations(tensors, operator):
    """Of [sites, D, 2, D] tensors, from the left: of the operator at each site."""
    bond = tensors.shape[1]

    def move(environment, a):
        norm = jnp.einsum("ab,aic,bid->cd", environment, a, a)
        value = jnp.einsum("ab,aic,ij,bjd->cd", environment, a, operator, a)
        return norm / jnp.trace(norm), jnp.trace(value) / jnp.trace(norm)

    return jax.lax.scan(move, jnp.eye(bond) / bond, tensors)[1]


@jax.jit
def moments(hamiltonian, state):
    def step(carry, _):
        before, now = carry
        return (now, 2 * (hamiltonian @ now) - before), jnp.vdot(state, now)

    return jax.lax.scan(step, (state, hamiltonian @ state), length=60)[1]


@jax.jit
def powers(unitary):
    return jax.lax.fori_loop(0, 3, lambda _, u: u @ u, unitary)


def main(scale: float = 1.0) -> dict[str, np.ndarray]:
    keys = jax.random.split(jax.random.key(0), 3)
    bond, size = max(8, int(80 * scale)), max(64, int(1024 * scale))
    tensors = 0.1 * jax.random.normal(keys[0], (SITES, bond, 2, bond))
    hamiltonian = jax.random.normal(keys[1], (size, size))
    hamiltonian = ((hamiltonian + hamiltonian.T) / (2 * np.sqrt(2 * size))).astype(jnp.complex64)
    state = jax.random.normal(keys[2], (size,)).astype(jnp.complex64) / np.sqrt(size)
    values = expectations(tensors, jnp.array([[1.0, 0.2], [0.2, -1.0]]))
    turned = powers(jnp.eye(size // 2) + 0.1j * hamiltonian[: size // 2, : size // 2])
    made = {"values": values, "moments": jnp.abs(moments(hamiltonian, state)), "turned": jnp.abs(turned)[::9, ::9]}
    return {name: np.asarray(value) for name, value in made.items()}


TOLERANCE = {name: {"rtol": 1e-2, "atol": 1e-3} for name in ("values", "moments", "turned")}
