#!/usr/bin/env python3
"""What JAX on Lowtide takes beside XLA:CPU where programs do next to nothing: eager operations, calls, the import.

  bench/jax_overhead.py [--library build/liblowtide_pjrt.so] [--calls 100000] [--rounds 3]

Needs jax, in the Python that runs this. Each figure is of a process of its own, the best of the rounds, in which the platforms
take turns. The last column says what is asked of it. Exit 1 where one is missed.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[1]


def resident():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS:")) / 1024


def operations():
    """200 different small operations, as functions of nothing."""
    import jax
    import jax.numpy as jnp
    from jax import lax
    from jax.scipy import special
    x, y = jnp.linspace(0.1, 0.9, 24).reshape(4, 6), jnp.linspace(0.9, 0.2, 24).reshape(4, 6)
    square, spd, i, j = jnp.eye(5) + 0.1 * jnp.arange(25.0).reshape(5, 5) / 25, jnp.eye(5) * 3, jnp.arange(1, 13).reshape(3, 4), jnp.arange(12)[::-1].reshape(3, 4) + 1
    key, wave = jax.random.key(3), jnp.sin(jnp.arange(32.0))
    one = ["sin", "cos", "tan", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh", "arcsinh", "arctanh", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p",
           "sqrt", "cbrt", "square", "reciprocal", "abs", "negative", "sign", "floor", "ceil", "rint", "trunc", "isnan", "isfinite", "isinf", "signbit", "deg2rad", "rad2deg",
           "sum", "prod", "mean", "max", "min", "var", "std", "median", "argmax", "argmin", "ptp", "any", "all", "cumsum", "cumprod", "sort", "argsort", "ravel", "transpose",
           "flipud", "fliplr", "diff", "nansum", "nanmean", "count_nonzero", "logical_not", "sinc", "i0", "rot90"]
    two = ["add", "subtract", "multiply", "divide", "power", "maximum", "minimum", "arctan2", "hypot", "mod", "fmod", "floor_divide", "logaddexp", "logaddexp2", "copysign",
           "greater", "less", "equal", "not_equal", "greater_equal", "less_equal", "heaviside", "nextafter", "fmax", "fmin", "outer", "inner", "vdot", "kron", "allclose", "float_power", "isclose"]
    whole = ["add", "subtract", "multiply", "floor_divide", "mod", "bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift", "maximum", "minimum", "gcd", "lcm", "equal", "less"]
    of = ["erf", "erfc", "erfinv", "gammaln", "digamma", "expit", "logit", "i0e", "i1e", "ndtr", "log_ndtr", "xlogy", "entr", "gamma", "zeta", "betaln"]
    calls = {f"jnp.{n}": lambda n=n: getattr(jnp, n)(x) for n in one} | {f"jnp.{n}(x, y)": lambda n=n: getattr(jnp, n)(x, y) for n in two}
    calls |= {f"jnp.{n}(i, j)": lambda n=n: getattr(jnp, n)(i, j) for n in whole}
    calls |= {f"special.{n}": lambda n=n: getattr(special, n)(*((x, y) if n in ("xlogy", "betaln") else (x + 2, y) if n == "zeta" else (x,))) for n in of}
    calls |= {f"nn.{n}": lambda n=n: getattr(jax.nn, n)(x) for n in ("relu", "gelu", "silu", "softplus", "softmax", "log_softmax", "elu", "selu", "leaky_relu", "swish", "sigmoid", "hard_tanh", "glu", "celu", "relu6")}
    calls |= {f"random.{n}": lambda n=n: getattr(jax.random, n)(key, (7,)) for n in ("uniform", "normal", "exponential", "gumbel", "laplace", "logistic", "bernoulli_", "cauchy") if hasattr(jax.random, n)}
    calls |= {f"fft.{n}": lambda n=n: getattr(jnp.fft, n)(wave) for n in ("fft", "ifft", "rfft", "fftshift")}
    calls |= {"x.T @ y": lambda: x.T @ y, "tensordot": lambda: jnp.tensordot(x, y), "einsum": lambda: jnp.einsum("ij,kj->ik", x, y), "where": lambda: jnp.where(x > 0.5, x, y),
              "concatenate": lambda: jnp.concatenate([x, y]), "stack": lambda: jnp.stack([x, y]), "pad": lambda: jnp.pad(x, 1), "tile": lambda: jnp.tile(x, 2), "repeat": lambda: jnp.repeat(x, 2, 0),
              "roll": lambda: jnp.roll(x, 1, 0), "take": lambda: x[jnp.array([2, 0])], "at.set": lambda: x.at[1].set(0.0), "at.add": lambda: x.at[:, 2].add(1.0), "x[1:3]": lambda: x[1:3, ::2],
              "reshape": lambda: x.reshape(3, 8), "astype": lambda: x.astype(jnp.int32), "bf16": lambda: x.astype(jnp.bfloat16), "arange": lambda: jnp.arange(17), "eye": lambda: jnp.eye(7),
              "linspace": lambda: jnp.linspace(0, 1, 13), "full": lambda: jnp.full((3, 5), 2.0), "zeros": lambda: jnp.zeros((9, 2)), "tri": lambda: jnp.tri(6), "tril": lambda: jnp.tril(square),
              "triu": lambda: jnp.triu(square), "diag": lambda: jnp.diag(square), "trace": lambda: jnp.trace(square), "clip": lambda: jnp.clip(x, 0.2, 0.7), "convolve": lambda: jnp.convolve(wave, wave[:5]),
              "searchsorted": lambda: jnp.searchsorted(wave, x), "top_k": lambda: lax.top_k(x, 3), "cholesky": lambda: jnp.linalg.cholesky(spd), "solve": lambda: jnp.linalg.solve(square, wave[:5]),
              "inv": lambda: jnp.linalg.inv(square), "det": lambda: jnp.linalg.det(square), "qr": lambda: jnp.linalg.qr(square), "norm": lambda: jnp.linalg.norm(x), "eigh": lambda: jnp.linalg.eigh(spd),
              "svd": lambda: jnp.linalg.svd(x), "logsumexp": lambda: special.logsumexp(x), "cummax": lambda: lax.cummax(x), "rsqrt": lambda: lax.rsqrt(x), "iota": lambda: lax.iota(jnp.int32, 11),
              "popcount": lambda: lax.population_count(i), "clz": lambda: lax.clz(i), "interp": lambda: jnp.interp(x, wave[:4], wave[4:8]), "histogram": lambda: jnp.histogram(x, 4),
              "complex": lambda: x + 1j * y, "split": lambda: jax.random.split(key), "permutation": lambda: jax.random.permutation(key, 9), "reduce_window": lambda: lax.reduce_window(x, 0.0, lax.add, (2, 2), (1, 1), "VALID")}
    assert len(calls) >= 200, len(calls)
    return dict(list(calls.items())[:200])


def eager():
    import jax
    jax.devices()
    calls = operations()
    compiling = []
    jax.monitoring.register_event_duration_secs_listener(lambda event, seconds, **_: compiling.append(seconds) if event == "/jax/core/compile/backend_compile_duration" else None)
    start = time.perf_counter()
    for call in calls.values():
        jax.block_until_ready(call())
    return {"all": time.perf_counter() - start, "compiling": sum(compiling), "programs": len(compiling)}


def best(call, calls, rounds=7):
    fastest = float("inf")
    for _ in range(rounds):
        start = time.perf_counter()
        for _ in range(calls):
            last = call()
        last.block_until_ready()
        fastest = min(fastest, (time.perf_counter() - start) / calls)
    return fastest * 1e6


def dispatch(calls):
    import jax
    import jax.numpy as jnp
    several = jax.jit(lambda *a: a[3], keep_unused=True)
    arrays = [jnp.ones((4, 4)) * k for k in range(10)]
    add, s, t = jax.jit(lambda a, b: a + b), jnp.float32(1), jnp.float32(2)
    donating, matrix = jax.jit(lambda a: a * 0.5, donate_argnums=0), jnp.ones((64, 64))

    def donate():
        nonlocal matrix
        matrix = donating(matrix)
        return matrix

    found = {"ten": best(lambda: several(*arrays), 5000), "add": best(lambda: add(s, t), 5000), "donated": best(donate, 5000)}
    before = resident()
    for _ in range(calls):
        last = add(s, t)
    last.block_until_ready()
    return found | {"grown": resident() - before}


def importing():
    """Milliseconds of what starts a platform, after `import jax`."""
    import jax
    start = time.perf_counter()
    if os.environ["JAX_PLATFORMS"] == "lowtide":
        import lowtide  # noqa: F401
    own = time.perf_counter() - start
    jax.devices()
    return {"import": own * 1e3, "start": (time.perf_counter() - start) * 1e3}


def measure(what, platform, library, cache, calls):
    environment = os.environ | {"JAX_PLATFORMS": platform, "LOWTIDE_PJRT_LIBRARY": library, "LOWTIDE_CACHE": cache, "PYTHONPATH": str(ROOT / "python"),
                                "JAX_ENABLE_COMPILATION_CACHE": "false", "PYTHONDONTWRITEBYTECODE": "1"}
    ran = subprocess.run([sys.executable, __file__, "--child", what, str(calls)], env=environment, capture_output=True, text=True, timeout=900)
    if ran.returncode != 0:
        sys.exit(f"{what} on {platform}: " + "\n".join(ran.stderr.strip().splitlines()[-4:]))
    return json.loads(ran.stdout.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", default=str(ROOT / "build/liblowtide_pjrt.so"))
    parser.add_argument("--calls", type=int, default=100000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    least = {}

    def note(name, value):
        least[name] = min(value, least.get(name, float("inf")))

    for _ in range(options.rounds):
        with tempfile.TemporaryDirectory() as cache:
            for state in ("cold", "kept"):
                for name, value in measure("eager", "lowtide", options.library, cache, 0).items():
                    note(f"{name} {state}", value)
            for name, value in measure("eager", "cpu", options.library, cache, 0).items():
                note(f"{name} xla", value)
            for platform in ("cpu", "lowtide"):
                for what in ("dispatch", "importing"):
                    for name, value in measure(what, platform, options.library, cache, options.calls).items():
                        note(f"{name} {platform}", value)
    rows = [(f"{least['programs cold']} programs compiled", "s", least["compiling xla"], least["compiling cold"], 1.0), ("the same, kernels kept", "s", least["compiling xla"], least["compiling kept"], 0.2),
            ("200 eager operations", "s", least["all xla"], least["all cold"], None), ("the same, kernels kept", "s", least["all xla"], least["all kept"], None),
            ("a call with 10 arguments", "us", least["ten cpu"], least["ten lowtide"], 1.5), ("a scalar sum", "us", least["add cpu"], least["add lowtide"], 1.5),
            ("a donated call", "us", least["donated cpu"], least["donated lowtide"], 1.5), (f"grown in {options.calls} calls", "MiB", least["grown cpu"], least["grown lowtide"], None),
            ("import lowtide", "ms", 0.0, least["import lowtide"], 150), ("from import jax to the devices", "ms", least["start cpu"], least["start lowtide"], None)]
    print(f"{'':38}{'':4}{'XLA:CPU':>10}{'Lowtide':>10}{'ratio':>8}{'at most':>9}")
    missed = []
    for name, unit, xla, ours, bar in rows:
        ratio = ours / xla if xla > 0 else None
        within = bar is None or (ours <= bar if unit == "ms" else ratio <= bar)
        missed += [] if within else [name]
        print(f"{name:38}{unit:4}{xla:10.2f}{ours:10.2f}" + (f"{ratio:8.2f}" if ratio else f"{'':8}") + (f"{bar:9}" if bar else ""))
    if least["grown lowtide"] > 1:
        missed.append("the resident set grows")
    print(f"missed: {', '.join(missed) or 'none'}")
    return int(bool(missed))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        print(json.dumps({"eager": eager, "dispatch": lambda: dispatch(int(sys.argv[3])), "importing": importing}[sys.argv[2]]()))
    else:
        sys.exit(main())
