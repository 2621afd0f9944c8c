"""Quantum circuits: a state of many qubits under gates, its gradient by the gates' angles, a Trotter evolution, entropies."""
import jax
import jax.numpy as jnp
import numpy as np

QUBITS, LAYERS = 16, 4


def rotation(angles):
    a, b, c = angles
    return jnp.array([[jnp.exp(-0.5j * (a + c)) * jnp.cos(b / 2), -jnp.exp(0.5j * (a - c)) * jnp.sin(b / 2)], [jnp.exp(-0.5j * (a - c)) * jnp.sin(b / 2), jnp.exp(0.5j * (a + c)) * jnp.cos(b / 2)]])


def on_one(state, gate, qubit, n):
    return jnp.moveaxis(jnp.tensordot(gate, state.reshape((2,) * n), ((1,), (qubit,))), 0, qubit)


def controlled(state, first, second, n):
    state = state.reshape((2,) * n)
    half = jnp.take(state, 1, axis=first)
    flipped = jnp.flip(half, second - (second > first))
    return jnp.stack([jnp.take(state, 0, axis=first), flipped], first)


def circuit(angles, n):
    state = jnp.zeros(2**n, jnp.complex64).at[0].set(1)
    for layer in range(LAYERS):
        for q in range(n):
            state = on_one(state, rotation(angles[layer, q]), q, n)
        for q in range(n):
            state = controlled(state, q, (q + 1) % n, n)
    return state.reshape(-1)


def energy(angles, n):
    weights = jnp.abs(circuit(angles, n).reshape((2,) * n)) ** 2
    signs = jnp.array([1.0, -1.0])
    total = 0.0
    for q in range(n - 1):
        pair = weights.sum([k for k in range(n) if k not in (q, q + 1)])
        total += signs @ pair @ signs
    return total


@jax.jit
def descend(angles):
    def turn(angles, _):
        value, slope = jax.value_and_grad(lambda a: energy(a, 10))(angles)
        return angles - 0.1 * slope, value

    return jax.lax.scan(turn, angles, None, length=6)


@jax.jit
def evolve(state, step):
    def turn(state, _):
        for q in range(QUBITS - 1):
            pair = jnp.moveaxis(state.reshape((2,) * QUBITS), (q, q + 1), (0, 1)).reshape(4, -1)
            phase = jnp.exp(-1j * step * jnp.array([1.0, -1.0, -1.0, 1.0]))
            state = jnp.moveaxis((phase[:, None] * pair).reshape((2,) * QUBITS), (0, 1), (q, q + 1)).reshape(-1)
        for q in range(QUBITS):
            gate = jnp.array([[jnp.cos(step), -1j * jnp.sin(step)], [-1j * jnp.sin(step), jnp.cos(step)]])
            state = on_one(state, gate, q, QUBITS).reshape(-1)
        return state, jnp.abs(state[0]) ** 2

    return jax.lax.scan(turn, state, None, length=10)


@jax.jit
def entropy(state):
    matrix = state.reshape(2 ** (QUBITS // 2), -1)
    values = jnp.linalg.svd(matrix, compute_uv=False) ** 2
    return -(values * jnp.log(values + 1e-12)).sum()


def main(scale: float = 1.0) -> dict[str, np.ndarray]:
    angles = jax.random.uniform(jax.random.key(3), (LAYERS, 10, 3)) * 3
    angles, values = descend(angles)
    state = jnp.zeros(2**QUBITS, jnp.complex64).at[0].set(1)
    state, returned = evolve(state, 0.2)
    return {"values": np.array(values), "returned": np.array(returned), "entropy": np.array(entropy(state))}


TOLERANCE = {"values": {"rtol": 1e-2, "atol": 1e-3}, "returned": {"rtol": 1e-3}, "entropy": {"rtol": 1e-3}}
if __name__ == "__main__":
    for name, value in main().items():
        print(name, np.array2string(value, precision=4, threshold=20))
