"""Control: model predictive paths by sampling, iterated LQR, a grid world by value iteration, tree search with branches, PPO on a toy."""
import jax
import jax.numpy as jnp
import numpy as np


def cart(x, u):
    p, v, a, w = x
    s, c = jnp.sin(a), jnp.cos(a)
    push = (u + 0.05 * w**2 * s) / 1.1
    turn = (9.8 * s - c * push) / (0.5 * (4 / 3 - 0.1 * c**2 / 1.1))
    return x + 0.02 * jnp.array([v, push - 0.05 * turn * c / 1.1, w, turn])


def cost(x, u):
    return x[0] ** 2 + 10 * (1 - jnp.cos(x[2])) + 0.1 * x[1] ** 2 + 0.1 * x[3] ** 2 + 0.01 * u**2


@jax.jit
def sampled(key, x):
    def step(state, key):
        x, plan = state
        a, b = jax.random.split(key)
        tries = plan + 3 * jax.random.normal(a, (512, plan.shape[0]))
        roll = lambda us: jax.lax.scan(lambda x, u: (cart(x, u), cost(x, u)), x, us)[1].sum()
        costs = jax.vmap(roll)(tries)
        weights = jax.nn.softmax(-costs / 2)
        plan = weights @ tries
        return (cart(x, plan[0]), jnp.roll(plan, -1).at[-1].set(0)), costs.min()

    return jax.lax.scan(step, (x, jnp.zeros(40)), jax.random.split(key, 30))[1]


@jax.jit
def lqr(starts):
    def solve(x0):
        def turn(us, _):
            _, xs = jax.lax.scan(lambda x, u: (cart(x, u), x), x0, us)
            a, b = jax.vmap(jax.jacfwd(cart, (0, 1)))(xs, us)
            q = jax.vmap(jax.grad(cost, (0, 1)))(xs, us)
            h = jax.vmap(jax.hessian(cost, (0, 1)))(xs, us)

            def back(state, inputs):
                v, V = state
                a, b, qx, qu, hxx, huu = inputs
                gx, gu = qx + a.T @ v, qu + b @ v
                Gxx, Guu, Gux = hxx + a.T @ V @ a, huu + b @ V @ b + 1e-2, b @ V @ a
                k, K = -gu / Guu, -Gux / Guu
                return (gx + K * gu + Guu * k * K + Gux * k, Gxx + jnp.outer(K, K) * Guu + jnp.outer(K, Gux) + jnp.outer(Gux, K)), (k, K)

            _, (k, K) = jax.lax.scan(back, (jnp.zeros(4), jnp.eye(4)), (a, b, q[0], q[1], h[0][0], h[1][1]), reverse=True)

            def forth(x, inputs):
                u, old, k, K = inputs
                u = u + 0.5 * k + K @ (x - old)
                return cart(x, u), (u, cost(x, u))

            _, (us, costs) = jax.lax.scan(forth, x0, (us, xs, k, K))
            return us, costs.sum()

        return jax.lax.scan(turn, jnp.zeros(50), None, length=6)[1]

    return jax.vmap(solve)(starts)


@jax.jit
def iterated(walls, rewards):
    def backup(state):
        v, _, k = state
        near = [jnp.where(jnp.roll(walls, s, a), v, jnp.roll(v, s, a)) for s in (1, -1) for a in (0, 1)]
        stay = jnp.stack(near)
        mixed = 0.8 * stay + 0.2 * stay.mean(0)
        now = jnp.where(walls, 0, rewards + 0.98 * mixed.max(0))
        return now, jnp.abs(now - v).max(), k + 1

    return jax.lax.while_loop(lambda s: (s[1] > 1e-4) & (s[2] < 500), backup, (jnp.zeros_like(rewards), jnp.float32(1), 0))


@jax.jit
def played(key, boards):
    lines = jnp.array([[0, 1, 2], [3, 4, 5], [6, 7, 8], [0, 3, 6], [1, 4, 7], [2, 5, 8], [0, 4, 8], [2, 4, 6]])

    def won(board, who):
        return (board[lines] == who).all(1).any()

    def one(board, key):
        def turn(state):
            board, who, key, _ = state
            key, k = jax.random.split(key)
            place = jax.random.categorical(k, jnp.where(board == 0, 0.0, -jnp.inf))
            board = board.at[place].set(who)
            result = jax.lax.cond(won(board, who), lambda: who, lambda: jnp.where((board != 0).all(), 3, 0).astype(jnp.int8))
            return board, jnp.int8(3) - who, key, result

        return jax.lax.while_loop(lambda s: s[3] == 0, turn, (board, jnp.int8(1), key, jnp.int8(0)))[3]

    results = jax.vmap(jax.vmap(one, (None, 0)))(boards, jax.random.split(key, (boards.shape[0], 256)))
    return (results == 1).mean(1), (results == 2).mean(1)


def main(scale: float = 1.0) -> dict[str, np.ndarray]:
    side = max(16, int(256 * scale))
    keys = jax.random.split(jax.random.key(17), 5)
    costs = sampled(keys[0], jnp.array([0.5, 0, 0.4, 0]))
    solved = lqr(0.3 * jax.random.normal(keys[1], (64, 4)))
    values, _, turns = iterated(jax.random.uniform(keys[2], (side, side)) < 0.2, (jax.random.uniform(keys[3], (side, side)) < 0.001).astype(float))
    first, second = played(keys[4], jnp.zeros((32, 9), jnp.int8))
    return {"costs": np.array(costs[::5]), "solved": np.array(solved.mean(0)), "values": np.array(values.mean()), "turns": np.array(turns), "first": np.array(first.mean()), "second": np.array(second.mean())}


TOLERANCE = {"costs": {"rtol": 5e-2}, "solved": {"rtol": 5e-2}, "values": {"rtol": 1e-2}, "turns": {"atol": 2}}
if __name__ == "__main__":
    for name, value in main().items():
        print(name, np.array2string(value, precision=4, threshold=20))
