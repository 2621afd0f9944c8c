"""In double precision: adaptive Runge-Kutta, Lyapunov exponents, a symplectic orbit, Newton's method and quadrature."""
import jax

jax.config.update("jax_enable_x64", True)
import jax.numpy as jnp
import numpy as np
from jax.experimental.ode import odeint


def pendulum(y, t):
    a, b, p, q = y[..., 0], y[..., 1], y[..., 2], y[..., 3]
    d = a - b
    m = 2 - jnp.cos(d) ** 2
    return jnp.stack([p, q, (-9.81 * (2 * jnp.sin(a) - jnp.cos(d) * jnp.sin(b)) - jnp.sin(d) * (q**2 + p**2 * jnp.cos(d))) / m, (2 * (p**2 * jnp.sin(d) - 9.81 * jnp.sin(b)) + 9.81 * 2 * jnp.sin(a) * jnp.cos(d) + q**2 * jnp.sin(d) * jnp.cos(d)) / m], -1)


@jax.jit
def swung(starts):
    return jax.vmap(lambda y: odeint(pendulum, y, jnp.linspace(0, 1.0, 20), rtol=1e-8, atol=1e-8))(starts)


@jax.jit
def sensitivity(starts):
    end = lambda y: (odeint(pendulum, y, jnp.linspace(0, 0.5, 5), rtol=1e-6, atol=1e-6)[-1] ** 2).sum()
    return jax.vmap(jax.grad(end))(starts)


@jax.jit
def lyapunov(starts):
    def rk4(y, h):
        k1 = pendulum(y, 0)
        k2 = pendulum(y + h / 2 * k1, 0)
        k3 = pendulum(y + h / 2 * k2, 0)
        return y + h / 6 * (k1 + 2 * k2 + 2 * k3 + pendulum(y + h * k3, 0))

    def step(state, _):
        y, d = state
        y, d = jax.jvp(lambda y: rk4(y, 0.01), (y,), (d,))
        size = jnp.linalg.norm(d, axis=-1, keepdims=True)
        return (y, d / size), jnp.log(size[..., 0])

    _, growth = jax.lax.scan(step, (starts, jnp.ones_like(starts)), None, length=400)
    return growth.mean(0) / 0.01


@jax.jit
def orbits(x, v):
    force = lambda x: -x / (x**2).sum(-1, keepdims=True) ** 1.5

    def step(_, state):
        x, v = state
        v = v + 0.005 * force(x)
        x = x + 0.01 * v
        return x, v + 0.005 * force(x)

    return jax.lax.fori_loop(0, 1000, step, (x, v))


@jax.jit
def roots(c):
    def newton(z, _):
        p = jnp.polyval(c, z)
        return z - p / jnp.polyval(jnp.polyder(c), z), jnp.abs(p).max()

    grid = jnp.linspace(-2, 2, 256)
    z, _ = jax.lax.scan(newton, grid[:, None] + 1j * grid, None, length=25)
    return jnp.round(z.real, 6).sum(), jnp.round(jnp.abs(z.imag), 6).sum()


def main(scale: float = 1.0) -> dict[str, np.ndarray]:
    n = max(16, int(1000 * scale))
    starts = jnp.concatenate([1 + jax.random.uniform(jax.random.key(0), (n, 2)), jnp.zeros((n, 2))], 1)
    x, v = orbits(jnp.stack([jnp.linspace(1, 2, n), jnp.zeros(n)], 1), jnp.stack([jnp.zeros(n), jnp.ones(n)], 1))
    real, _ = roots(jnp.array([1.0, 0, 0, -1, 0.2]))
    return {"swung": np.array(swung(starts[:64])[:, -1].mean(0)), "sensitivity": np.array(sensitivity(starts[:32]).mean(0)), "lyapunov": np.array(lyapunov(starts).mean()), "orbits": np.array(x[::100]), "real": np.array(real)}


TOLERANCE = {"lyapunov": {"rtol": 1e-2}, "swung": {"rtol": 1e-3}, "sensitivity": {"rtol": 1e-2}, "orbits": {"rtol": 1e-4, "atol": 1e-4}, "real": {"rtol": 0.2, "atol": 50}}
if __name__ == "__main__":
    for name, value in main().items():
        print(name, np.array2string(value, precision=4, threshold=20))
