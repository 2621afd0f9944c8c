"""e3nn: messages that rotate with their atoms, and a training step on the forces, which are the energy's gradient."""
import e3nn_jax as e3nn
import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np
import optax

KINDS = 5


def main(scale: float = 1.0) -> dict[str, np.ndarray]:
    atoms, pairs = max(40, int(1500 * scale)), max(160, int(15_000 * scale))
    keys = jax.random.split(jax.random.key(0), 5)
    places = jax.random.normal(keys[0], (atoms, 3))
    sender, receiver = (jax.random.randint(key, (pairs,), 0, atoms) for key in keys[1:3])
    kinds = e3nn.IrrepsArray(f"{KINDS}x0e", jax.nn.one_hot(jax.random.randint(keys[3], (atoms,), 0, KINDS), KINDS))

    @hk.without_apply_rng
    @hk.transform
    def energy(places):
        features = e3nn.haiku.Linear("16x0e")(kinds)
        apart = e3nn.IrrepsArray("1o", places[receiver] - places[sender])
        direction = e3nn.spherical_harmonics([0, 1, 2], apart, True)
        radial = e3nn.bessel(e3nn.norm(apart).array[:, 0], 8, 4.0)
        for irreps in map(e3nn.Irreps, ("16x0e+8x1o+4x2e", "16x0e+8x1o")):
            messages = e3nn.tensor_product(features[sender], direction, filter_ir_out=[irrep for _, irrep in irreps])
            messages *= hk.nets.MLP([32, messages.irreps.num_irreps], activation=jax.nn.silu)(radial)
            messages = e3nn.haiku.Linear(irreps)(messages)
            summed = e3nn.scatter_sum(messages, dst=receiver, output_size=atoms) / jnp.sqrt(10.0)
            features = e3nn.haiku.Linear(irreps)(e3nn.concatenate([features, summed]).regroup())
            features = e3nn.norm_activation(features, [jax.nn.silu] * len(irreps))
        return e3nn.haiku.Linear("0e")(features).array.sum()

    parameters, optimiser = energy.init(keys[4], places), optax.adam(1e-3)
    state = optimiser.init(parameters)
    forces = lambda p: -jax.grad(energy.apply, 1)(p, places)

    @jax.jit
    def step(parameters, state):
        value, slopes = jax.value_and_grad(lambda p: jnp.mean((forces(p) - 1) ** 2))(parameters)
        updates, state = optimiser.update(slopes, state)
        return optax.apply_updates(parameters, updates), state, value

    results = {"energy": jax.jit(energy.apply)(parameters, places), "forces": jax.jit(forces)(parameters)[:5]}
    for _ in range(2):
        parameters, state, results["loss"] = step(parameters, state)
    return {name: np.asarray(array) for name, array in results.items()}
