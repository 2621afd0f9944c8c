"""Lattices: Ising spins by Metropolis, a fluid by Boltzmann's equation, the game of life in bits, a Poisson equation by multigrid."""
import jax
import jax.numpy as jnp
import numpy as np

WAYS = np.array([(0, 0), (1, 0), (0, 1), (-1, 0), (0, -1), (1, 1), (-1, 1), (-1, -1), (1, -1)])
WEIGHTS = np.array([4 / 9] + [1 / 9] * 4 + [1 / 36] * 4, np.float32)


@jax.jit
def ising(key, spins, beta):
    rows, columns = jnp.indices(spins.shape[-2:])

    def sweep(spins, key):
        for colour, k in enumerate(jax.random.split(key)):
            around = sum(jnp.roll(spins, s, a) for s in (1, -1) for a in (-1, -2))
            flips = jax.random.uniform(k, spins.shape) < jnp.exp(-2 * beta * (spins * around).astype(jnp.float32))
            spins = jnp.where(flips & ((rows + columns) % 2 == colour), -spins, spins)
        return spins, spins.astype(jnp.float32).mean((-1, -2))

    return jax.lax.scan(sweep, spins, jax.random.split(key, 40))


@jax.jit
def fluid(f, solid):
    def step(f, _):
        f = jnp.stack([jnp.roll(f[k], tuple(WAYS[k]), (0, 1)) for k in range(9)])
        density = f.sum(0)
        u = jnp.tensordot(jnp.array(WAYS.T, jnp.float32), f, 1) / density
        along = jnp.tensordot(jnp.array(WAYS, jnp.float32), u, 1)
        rest = WEIGHTS[:, None, None] * density * (1 + 3 * along + 4.5 * along**2 - 1.5 * (u**2).sum(0))
        f = jnp.where(solid, f[jnp.array([0, 3, 4, 1, 2, 7, 8, 5, 6])], f + (rest - f) / 0.6)
        return f, (u**2).sum()

    return jax.lax.scan(step, f, None, length=60)


@jax.jit
def life(cells):
    def step(cells, _):
        rows = cells, jnp.roll(cells, 1, 0), jnp.roll(cells, -1, 0)
        left = [(r << 1) | (jnp.roll(r, 1, 1) >> 31) for r in rows]
        right = [(r >> 1) | (jnp.roll(r, -1, 1) << 31) for r in rows]
        ones = twos = fours = jnp.zeros_like(cells)
        for x in (*left, *right, *rows[1:]):
            carry = ones & x
            ones = ones ^ x
            fours, twos = fours | (twos & carry), twos ^ carry
        cells = twos & ~fours & (ones | cells)
        return cells, jax.lax.population_count(cells).astype(jnp.int32).sum()

    return jax.lax.scan(step, cells, None, length=100)


@jax.jit
def poisson(b):
    def smooth(x, b, h):
        for _ in range(3):
            wide = jnp.pad(x, 1)
            x = 0.2 * x + 0.8 * (wide[2:, 1:-1] + wide[:-2, 1:-1] + wide[1:-1, 2:] + wide[1:-1, :-2] - h * h * b) / 4
        return x

    def rest(x, b, h):
        wide = jnp.pad(x, 1)
        return b - (wide[2:, 1:-1] + wide[:-2, 1:-1] + wide[1:-1, 2:] + wide[1:-1, :-2] - 4 * x) / (h * h)

    def cycle(x, b, h):
        x = smooth(x, b, h)
        if x.shape[0] > 8:
            r = rest(x, b, h)
            coarse = r.reshape(r.shape[0] // 2, 2, -1, 2).mean((1, 3))
            x = x + jnp.repeat(jnp.repeat(cycle(jnp.zeros_like(coarse), coarse, 2 * h), 2, 0), 2, 1)
        return smooth(x, b, h)

    def turn(x, _):
        x = cycle(x, b, 1.0)
        return x, jnp.linalg.norm(rest(x, b, 1.0))

    return jax.lax.scan(turn, jnp.zeros_like(b), None, length=6)


def main(scale: float = 1.0) -> dict[str, np.ndarray]:
    side = max(32, int(512 * scale) // 32 * 32)
    keys = jax.random.split(jax.random.key(11), 4)
    _, magnets = ising(keys[0], jnp.ones((4, side // 2, side // 2), jnp.int8), 0.5)
    solid = ((jnp.indices((side // 2, side)) - jnp.array([side // 4, side // 5])[:, None, None]) ** 2).sum(0) < (side / 16) ** 2
    start = jnp.array(WEIGHTS)[:, None, None] * (1 + 0.3 * jnp.array(WAYS[:, 1], jnp.float32))[:, None, None] * jnp.ones((9, side // 2, side))
    _, energies = fluid(start, solid)
    _, alive = life(jax.random.bits(keys[1], (side, side // 32), jnp.uint32))
    _, norms = poisson(jax.random.normal(keys[2], (side, side)))
    return {"magnets": np.array(magnets[-1]), "energies": np.array(energies[::10]), "alive": np.array(alive[::10]), "norms": np.array(norms)}


TOLERANCE = {"magnets": {"atol": 2e-2}, "energies": {"rtol": 1e-3}, "norms": {"rtol": 1e-2}}
if __name__ == "__main__":
    for name, value in main().items():
        print(name, np.array2string(value, precision=4, threshold=20))
