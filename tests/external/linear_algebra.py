#!/usr/bin/env python3
"""Linear algebra as JAX spells it on CPUs: factorisations, solvers, eigenvalues, their gradients and batches, of four element
types; compiled, and of the first type also as XLA:CPU's optimised text, as StableHLO, and by definition. Results are what the
problem determines (products of factors, not signs of vectors), and must be JAX's. Controls must fail: with a matrix that is off
by a thousandth, which has a Cholesky factor where the other has none.

  linear_algebra.py [--lowtide build/lowtide] [PATTERN...]      PATTERN: of case names, as of files
"""
import os
import sys
import tempfile

# XLA would take most of the time to optimise code that runs once.
os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_backend_optimization_level=0"

import checks
from traced import Tally, forms, jax, np, results, run, write

import jax.numpy as jnp
import jax.scipy.linalg as jsl

jax.config.update("jax_enable_x64", True)
TYPES = {"f32": np.float32, "f64": np.float64, "c64": np.complex64, "c128": np.complex128}
TOLERANCE = {"f32": 3e-4, "f64": 1e-10, "c64": 3e-4, "c128": 1e-10}
H = lambda x: jnp.swapaxes(x, -1, -2).conj()
linalg = jax.lax.linalg


def matrix(seed, dtype, *dims):
    r = np.random.default_rng(seed)
    x = r.standard_normal(dims)
    if np.issubdtype(dtype, np.complexfloating):
        x = x + 1j * r.standard_normal(dims)
    return x.astype(dtype)


def positive(seed, dtype, *dims):
    x = matrix(seed, dtype, *dims)
    return (x @ np.swapaxes(x, -1, -2).conj() / dims[-1] + np.eye(dims[-1])).astype(dtype)


def factors_of_svd(x, **options):
    u, s, vt = jnp.linalg.svd(x, **options)
    few = s.shape[-1]
    return (u[..., :few] * s[..., None, :]) @ vt[..., :few, :], s, H(u) @ u, vt @ H(vt)


def factors_of_qr(x, mode):
    q, r = jnp.linalg.qr(x, mode=mode)
    return q @ r, H(q) @ q, jnp.abs(r)


def pairs_of_eig(x):
    w, v = jnp.linalg.eig(x)
    return x @ v - v * w[..., None, :], jnp.sort(w.real), jnp.linalg.norm(v, axis=-2)


def pairs_of_eigh(x):
    w, v = jnp.linalg.eigh(x)
    return (v * w[..., None, :]) @ H(v), w, H(v) @ v


def factors_of_schur(x):
    t, z = jsl.schur(x, output="complex" if jnp.iscomplexobj(x) else "real")
    return z @ t @ H(z), H(z) @ z, jnp.tril(t, -2)


def factors_of_hessenberg(x):
    h, q = jsl.hessenberg(x, calc_q=True)
    return q @ h @ H(q), H(q) @ q, jnp.tril(h, -2)


def pivoted(x):
    q, r, p = jsl.qr(x, pivoting=True)
    return q @ r, p, jnp.abs(r)


def from_tridiagonal(x):
    a, d, e, tau = linalg.tridiagonal((x + H(x)) / 2)
    return d, jnp.abs(e)


def reflected(left, transpose):
    def f(x, b):
        a, tau = jnp.linalg.qr(x, mode="raw")
        return linalg.ormqr(a.T, tau, b if left else H(b), left=left, transpose=transpose)
    return f


def called(target, config, *shapes):
    """A factorisation that XLA's builder leaves to each backend, as PyTorch/XLA's programs have it."""
    results = tuple(jax.ShapeDtypeStruct(shape, dtype) for shape, dtype in shapes)
    return jax.ffi.ffi_call(target, results if len(results) > 1 else results[0], custom_call_api_version=2, legacy_backend_config=config)


def factors_of_builder(a):
    *batch, m, n = a.shape
    factors, taus = called("Qr", "", (a.shape, a.dtype), ((*batch, min(m, n)), a.dtype))(a)
    q = called("ProductOfElementaryHouseholderReflectors", "", (a.shape, a.dtype))(factors, taus)
    return q @ jnp.triu(factors[..., :n, :]), H(q) @ q, jnp.abs(jnp.triu(factors))


def eigenvalues_of_builder(a, lower):
    values = jnp.zeros(a.shape[:-1], a.dtype).real.dtype
    v, w = called("Eigh", f"{lower},1,100,1e-6", (a.shape, a.dtype), (a.shape[:-1], values))(a)
    return (v * w[..., None, :]) @ H(v), w, H(v) @ v


def loss(f):
    """A real number made of all results, and its gradient."""
    def total(*arguments):
        return sum(jnp.sum(jnp.abs(r) ** 2 * (1 + 0.1 * jnp.arange(r.size).reshape(r.shape))) for r in jax.tree_util.tree_leaves(f(*arguments)))
    return jax.value_and_grad(total)


def cases():
    """(name, function, arguments of a type, types)"""
    every, real, floats = list(TYPES), ["f32", "f64"], ["f64", "c128"]
    square = lambda t: [matrix(1, t, 7, 7), matrix(2, t, 7, 3)]
    defined = lambda t: [positive(3, t, 7, 7), matrix(2, t, 7, 3)]
    batch = lambda t: [positive(4, t, 2, 3, 6, 6), matrix(5, t, 2, 3, 6, 2)]
    one = lambda make: lambda t: make(t)[:1]
    tall = lambda t: [matrix(6, t, 9, 4)]
    wide = lambda t: [matrix(7, t, 4, 9)]
    stacked = lambda t: [matrix(8, t, 3, 6, 4)]

    yield "cholesky", jnp.linalg.cholesky, one(defined), every
    yield "cholesky_upper", lambda a: jnp.linalg.cholesky(a, upper=True), one(batch), every
    yield "cholesky_not_positive", lambda a: jnp.linalg.cholesky(a - 2 * jnp.eye(7, dtype=a.dtype)), one(defined), every
    yield "cho_solve", lambda a, b: jsl.cho_solve(jsl.cho_factor(a), b), defined, every
    yield "solve", jnp.linalg.solve, square, every
    yield "solve_batch", jnp.linalg.solve, batch, every
    yield "solve_vector", lambda a, b: jnp.linalg.solve(a, b[:, 0]), square, real
    yield "inv", jnp.linalg.inv, one(square), every
    yield "inv_batch", jnp.linalg.inv, one(batch), floats
    yield "det", jnp.linalg.det, one(square), every
    yield "slogdet", jnp.linalg.slogdet, one(square), every
    yield "slogdet_singular", lambda a: jnp.linalg.slogdet(a.at[3].set(0)), one(square), real
    yield "lu", jsl.lu, one(square), every
    yield "lu_tall", linalg.lu, tall, every
    yield "lu_wide", linalg.lu, wide, every
    yield "lu_solve", lambda a, b: jsl.lu_solve(jsl.lu_factor(a), b, trans=1), square, every
    for side in (True, False):
        for lower in (True, False):
            for transpose in ((False, False), (True, False), (True, True)):
                for unit in (True, False):
                    f = lambda a, b, s=side, l=lower, t=transpose, u=unit: linalg.triangular_solve(
                        a, b if s else H(b), left_side=s, lower=l, transpose_a=t[0], conjugate_a=t[1], unit_diagonal=u)
                    name = "triangular_{}{}{}{}".format("left" if side else "right", "_lower" * lower, "_transposed" * transpose[0] + "_conjugated" * transpose[1], "_unit" * unit)
                    yield name, f, batch, ["f32", "c128"]
    for mode in ("reduced", "complete"):
        for name, shape in (("tall", tall), ("wide", wide), ("stacked", stacked)):
            yield f"qr_{mode}_{name}", lambda a, m=mode: factors_of_qr(a, m), shape, every
    for name, shape in (("tall", tall), ("square", one(square)), ("stacked", stacked)):
        yield f"builder_qr_{name}", factors_of_builder, shape, every
    for lower in (1, 0):
        yield f"builder_eigh_{lower}", lambda a, l=lower: eigenvalues_of_builder(jnp.tril(a) if l else jnp.triu(a), l), one(batch), ["f32", "c64"]  # XLA's own are of single precision
    yield "qr_r", lambda a: jnp.abs(jnp.linalg.qr(a, mode="r")), tall, floats
    yield "qr_raw", lambda a: jnp.linalg.qr(a, mode="raw"), tall, every
    yield "qr_pivoted", pivoted, wide, every
    for left in (True, False):
        for transpose in (True, False):
            yield f"ormqr_{left}_{transpose}", reflected(left, transpose), square, every
    for name, shape in (("tall", tall), ("wide", wide), ("stacked", stacked)):
        yield f"svd_{name}", factors_of_svd, shape, every
        yield f"svd_thin_{name}", lambda a: factors_of_svd(a, full_matrices=False), shape, every
        yield f"svd_values_{name}", lambda a: jnp.linalg.svd(a, compute_uv=False), shape, every
    yield "svd_by_qr", lambda a: (lambda u, s, vt: (u @ jnp.diag(s).astype(u.dtype) @ vt, s))(*linalg.svd(a, full_matrices=False, algorithm=linalg.SvdAlgorithm.QR)), tall, every
    yield "svd_not_finite", lambda a: jnp.linalg.svd(a.at[1, 1].set(jnp.nan), compute_uv=False), tall, real
    yield "eigh", pairs_of_eigh, one(defined), every
    yield "eigh_batch", pairs_of_eigh, one(batch), every
    yield "eigvalsh", jnp.linalg.eigvalsh, one(defined), every
    yield "eig", pairs_of_eig, one(square), every
    yield "eig_batch", pairs_of_eig, lambda t: [matrix(9, t, 3, 5, 5)], every
    yield "eigvals", lambda a: jnp.sort(jnp.linalg.eigvals(a).real), one(square), every
    yield "eig_left", lambda a: (lambda w, l, r: (H(a) @ l - l * w.conj(), jnp.abs(jnp.sum(l * l.conj(), 0))))(*linalg.eig(a)), one(square), every
    yield "eig_not_finite", lambda a: jnp.linalg.eigvals(a.at[1, 1].set(jnp.inf)), one(square), ["f64", "c64"]
    yield "schur", factors_of_schur, one(square), every
    yield "hessenberg", factors_of_hessenberg, one(square), every
    yield "tridiagonal", from_tridiagonal, one(square), every
    yield "tridiagonal_solve", lambda a, b: linalg.tridiagonal_solve(a[0].at[0].set(0), a[1], a[2].at[-1].set(0), b), square, every
    yield "tridiagonal_solve_batch", lambda a, b: linalg.tridiagonal_solve(a[..., 0].at[..., 0].set(0), a[..., 1], a[..., 2].at[..., -1].set(0), b), batch, every
    yield "lstsq", lambda a: jnp.linalg.lstsq(a, a[:, :2] + 1)[0], tall, every
    yield "pinv", jnp.linalg.pinv, tall, every
    yield "matrix_rank", jnp.linalg.matrix_rank, wide, real
    yield "cond", jnp.linalg.cond, one(square), real
    yield "expm", jsl.expm, one(square), every
    yield "sqrtm", lambda a: jsl.sqrtm(a), one(defined), ["f64", "c128"]
    yield "polar", lambda a: jsl.polar(a), one(square), floats
    yield "matrix_power", lambda a: jnp.linalg.matrix_power(a, -3), one(defined), every
    yield "multi_dot", lambda a, b: jnp.linalg.multi_dot([a, a, b]), square, real
    yield "normal", lambda a: jax.random.multivariate_normal(jax.random.key(3), a[0], a, (5,), dtype=a.dtype), one(defined), real
    yield "normal_by_svd", lambda a: jnp.abs(jax.random.multivariate_normal(jax.random.key(3), 0 * a[0], a, (5,), dtype=a.dtype, method="eigh")).shape[0] * jnp.ones(2), one(defined), real

    yield "grad_cholesky", loss(jnp.linalg.cholesky), one(defined), every
    yield "grad_solve", loss(jnp.linalg.solve), square, every
    yield "grad_inv", loss(jnp.linalg.inv), one(batch), floats
    yield "grad_slogdet", loss(lambda a: jnp.linalg.slogdet(a)[1]), one(square), every
    yield "grad_qr", loss(lambda a: jnp.abs(jnp.linalg.qr(a)[1])), tall, real
    yield "grad_svd", loss(lambda a: jnp.linalg.svd(a, compute_uv=False)), tall, every
    yield "grad_eigh", loss(jnp.linalg.eigvalsh), one(defined), every
    yield "grad_lu", loss(lambda a: jsl.lu(a)[2]), one(square), real
    yield "grad_triangular", loss(lambda a, b: linalg.triangular_solve(a, b, left_side=True, lower=True)), defined, every
    yield "grad_expm", loss(jsl.expm), lambda t: [0.3 * matrix(1, t, 5, 5)], real
    yield "vmap_cholesky", jax.vmap(jax.vmap(jnp.linalg.cholesky)), one(batch), every
    yield "vmap_lu", jax.vmap(linalg.lu), stacked, every
    yield "vmap_grad_solve", jax.vmap(jax.vmap(loss(jnp.linalg.solve))), batch, floats
    yield "scan_solve", lambda a, b: jax.lax.scan(lambda c, _: (jnp.linalg.solve(a, c), None), b, length=3)[0], defined, real
    yield "empty", lambda a: (jnp.linalg.inv(a[:0, :0]), jnp.linalg.qr(a[:, :0])[1], jnp.linalg.cholesky(a[:0, :0])), one(defined), real
    yield "one", lambda a: (jnp.linalg.inv(a[:1, :1]), jnp.linalg.cholesky(a[:1, :1]), jnp.linalg.eigvalsh(a[:1, :1])), one(defined), every
    big = lambda t: [positive(10, t, 700, 700), matrix(11, t, 700, 300)]
    yield "large_cholesky", jnp.linalg.cholesky, one(big), ["f32", "c128"]
    yield "large_solve", jnp.linalg.solve, big, ["f32", "c128"]
    yield "large_triangular", lambda a, b: linalg.triangular_solve(a, b, left_side=True, lower=False, transpose_a=True), big, ["f32", "c128"]

    yield "CONTROL_inv", jnp.linalg.inv, one(defined), ["f64"]
    yield "CONTROL_singular_values", lambda a: jnp.linalg.svd(a, compute_uv=False), tall, ["f64"]
    yield "CONTROL_not_positive", lambda a: jnp.linalg.cholesky(a - 1.0001 * jnp.eye(7)), lambda t: [np.eye(7, dtype=t)], ["f64"]


def differs(found, want, tolerance):
    """What sets results apart from the expected ones, or None."""
    for k, (x, y) in enumerate(zip(found, want, strict=True)):
        if x.shape != y.shape or x.dtype != y.dtype:
            return f"out{k}: {x.dtype}{x.shape}, not {y.dtype}{y.shape}"
        if not np.array_equal(np.isnan(x), np.isnan(y)):
            return f"out{k}: NaN elsewhere"
        both = ~np.isnan(y) & np.isfinite(y)
        if not np.array_equal(x[~both & ~np.isnan(y)], y[~both & ~np.isnan(y)]):
            return f"out{k}: infinite elsewhere"
        worst = np.max(np.abs(x[both] - y[both]), initial=0)
        top = max(np.max(np.abs(y[both]), initial=0), 1)
        if not worst <= tolerance * top:
            return f"out{k}: off by {worst:.3g} of {top:.3g}"
    return None


def main():
    options = checks.parser(__doc__, "lowtide", "keep", patterns=True).parse_args()
    tally = Tally()
    with tempfile.TemporaryDirectory() as temporary:
        for name, f, make, types in cases():
            if not checks.wanted(name, options.patterns):
                continue
            for kind in types:
                arguments = make(TYPES[kind])
                given = [1.001 * a for a in arguments] if name.startswith("CONTROL") else arguments
                want = results(f, arguments)
                more = ["optimised.hlo", "stable.mlir"] if kind == types[0] else []
                for form, text in forms(f, arguments, "lowered.hlo", *more):
                    path = os.path.join(options.keep or temporary, f"{name}.{kind}.{form}")
                    write(path, text, given)
                    is_defined = form == "lowered.hlo" and kind == types[0] and not name.startswith(("large", "builder"))
                    ways = [(), ("--interpret",)] if is_defined else [()]
                    for way in ways:
                        fault, _, found = run(options.lowtide, path, *way)
                        tally.judged(name, " ".join(["", kind, form, *way]), fault or differs(found, want, TOLERANCE[kind]))
    return tally.verdict()


if __name__ == "__main__":
    sys.exit(main())
