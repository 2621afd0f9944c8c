#!/usr/bin/env python3
"""The coefficients of src/nest/plain/functions: minimax polynomials by Remez's exchange, in many digits, then rounded.
Needs mpmath. `fit_polynomials.py [name ...]` prints coefficients, lowest power first, and the weighted error in bits."""
import sys
from mpmath import mp, mpf, matrix, lu_solve, exp, log, log1p, expm1, sin, cos, tanh, erf, erfc, asin, atan, sqrt, pi, chebyt, fabs

mp.prec = 200


def remez(f, weight, a, b, degree, rounds=12):
    """min over p of max |weight (p - f)| on [a, b]; f and weight are never asked at zero."""
    a, b = mpf(a), mpf(b)
    n = degree + 2
    given, weight = weight, lambda x: fabs(given(x))
    points = [(a + b) / 2 - (b - a) / 2 * cos(pi * (2 * i + mpf('1.03')) / (2 * n)) for i in range(n)]
    grid = [(a + b) / 2 - (b - a) / 2 * cos(pi * (i + mpf(1) / 3) / 1200) for i in range(1200)]
    values = [(x, f(x), weight(x)) for x in grid]
    best = None
    for _ in range(rounds):
        system, right = matrix(n, n), matrix(n, 1)
        for i, x in enumerate(points):
            for j in range(degree + 1):
                system[i, j] = x**j
            system[i, degree + 1] = (-1) ** i / weight(x)
            right[i] = f(x)
        c = lu_solve(system, right)
        p = [c[j] for j in range(degree + 1)]

        def error(x, fx, wx):
            s = mpf(0)
            for k in reversed(p):
                s = s * x + k
            return wx * (s - fx)

        errors = [error(*v) for v in values]
        worst = max(fabs(e) for e in errors)
        if best is None or worst < best[0]:
            best = (worst, p)
        # one extremum of each run of equal signs
        extrema, run = [], [0]
        for i in range(1, len(errors)):
            if (errors[i] > 0) == (errors[run[-1]] > 0):
                run.append(i)
            else:
                extrema.append(max(run, key=lambda k: fabs(errors[k])))
                run = [i]
        extrema.append(max(run, key=lambda k: fabs(errors[k])))
        while len(extrema) > n:  # drop the smaller end
            extrema.pop(0 if fabs(errors[extrema[0]]) < fabs(errors[extrema[-1]]) else -1)
        if len(extrema) < n:
            break
        points = [grid[i] for i in extrema]
        if worst < fabs(c[degree + 1]) * mpf("1.0001"):
            break
    return best


LOG2 = log(mpf(2)) / 2
TAN8 = sqrt(mpf(2)) - 1
one = lambda x: mpf(1)

# name: (f, weight, a, b, degree); the weight makes the error relative to the function's result.
def fits():
    expm1_rest = lambda r: (expm1(r) - r) / r**2
    log_rest = lambda f: (log1p(f) - f) / f**2
    atanh_rest = lambda z: (2 * mp.atanh(sqrt(z)) - 2 * sqrt(z)) / sqrt(z) ** 3
    sin_rest = lambda z: (sin(sqrt(z)) / sqrt(z) - 1) / z
    cos_rest = lambda z: (cos(sqrt(z)) - 1 + z / 2) / z**2
    erfcx = lambda x: exp(x * x) * erfc(x)
    K = mpf("2.5")
    x_of = lambda t: K * (1 + t) / (1 - t)
    return {
        "expm1_f32": (expm1_rest, lambda r: r, -LOG2, LOG2, 5),
        "expm1_f64": (expm1_rest, lambda r: r, -LOG2, LOG2, 10),
        "log_f32": (log_rest, lambda f: f**2 / log1p(f), mpf(-1) / 4, mpf(1) / 2, 8),
        "log_f64": (atanh_rest, lambda z: z, mpf("1e-30"), mpf("0.0401"), 7),
        "tanh_f32": (lambda z: (tanh(sqrt(z)) / sqrt(z) - 1) / z, lambda z: z, mpf("1e-30"), mpf("0.4"), 5),
        "erf_f32_small": (lambda z: erf(sqrt(z)) / sqrt(z) - 1, lambda z: 1 / (erf(sqrt(z)) / sqrt(z)), mpf("1e-30"), mpf(1), 6),
        "erf_f32_large": (lambda x: log(erfc(x)), lambda x: erfc(x) / erf(x), mpf(1), mpf(4), 7),
        "sin_f32": (sin_rest, lambda z: z, mpf("1e-30"), (pi / 4) ** 2 * mpf("1.01"), 3),
        "cos_f32": (cos_rest, lambda z: z**2 / cos(sqrt(z)), mpf("1e-30"), (pi / 4) ** 2 * mpf("1.01"), 3),
        "sin_f64": (sin_rest, lambda z: z, mpf("1e-30"), (pi / 4) ** 2 * mpf("1.01"), 6),
        "cos_f64": (cos_rest, lambda z: z**2 / cos(sqrt(z)), mpf("1e-30"), (pi / 4) ** 2 * mpf("1.01"), 6),
        "asin_f64": (lambda z: (asin(sqrt(z)) / sqrt(z) - 1) / z, lambda z: z, mpf("1e-30"), mpf("0.25"), 12),
        "atan_f64": (lambda z: (atan(sqrt(z)) / sqrt(z) - 1) / z, lambda z: z, mpf("1e-30"), TAN8**2 * mpf("1.001"), 10),
        "erf_f64_small": (lambda z: erf(sqrt(z)) / sqrt(z) - 1, lambda z: 1 / (erf(sqrt(z)) / sqrt(z)), mpf("1e-30"), mpf(1), 11),
        "erf_f64_large": (lambda t: erfcx(x_of(t)), lambda t: exp(-x_of(t) ** 2) / erf(x_of(t)), (1 - K) / (1 + K), (6 - K) / (6 + K), 14),
        "pow_f64": (lambda z: (2 * mp.atanh(sqrt(z)) - 2 * sqrt(z) - 2 * sqrt(z) ** 3 / 3) / sqrt(z) ** 5, lambda z: z**2, mpf("1e-30"), mpf("0.0296"), 7),
    }


if __name__ == "__main__":
    table = fits()
    for name in sys.argv[1:] or table:
        f, weight, a, b, degree = table[name]
        worst, p = remez(f, weight, a, b, degree)
        digits = 10 if "f32" in name else 18
        print(f"{name}: 2^{float(log(worst) / log(2)):.1f}\n  {{" + ", ".join(mp.nstr(c, digits) for c in p) + "}", flush=True)
