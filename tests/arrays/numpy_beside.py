#!/usr/bin/env python3
"""numpy_beside.py PROGRAM [--control]: linear algebra and Fourier transforms of arrays (numpy.cpp) beside NumPy's, and
where JAX is installed their gradients, and random words in its layout, beside JAX's. Factors are compared where they are
determined: vectors by their sizes, as signs are anybody's. With --control one element of each first input is another, which
every case must notice."""
import os
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("SKIP: no numpy")
    sys.exit(0)
try:
    import jax

    jax.config.update("jax_enable_x64", True)
    import jax.numpy as jnp
except ImportError:
    jax = None
    print("gradients are left out: no jax")

control = "--control" in sys.argv
rng = np.random.default_rng(1)
real = lambda *dims: rng.standard_normal(dims)
wave = lambda *dims: (rng.standard_normal(dims) + 1j * rng.standard_normal(dims)).astype(np.complex64)
near = lambda *dims: real(*dims) + 4 * np.eye(dims[-1])


def positive(*dims):
    a = real(*dims)
    return a @ np.swapaxes(a, -1, -2) + np.eye(dims[-1])


def lu_product(np, p, l, u):
    return np.take_along_axis(l @ u, p.astype(np.int64)[..., None], -2)


same = lambda np, *out: out
sizes = lambda np, *out: tuple(np.abs(x) for x in out)
by_size = lambda np, w: np.sort_complex(np.round(w, 4))
# Each: inputs, NumPy's (of numpy or jax.numpy), what of the results is compared, whether there is a gradient.
CASES = {
    "qr": ([real(2, 5, 3)], lambda np, a: np.linalg.qr(a), sizes, True),
    "qr-square": ([near(4, 4)], lambda np, a: np.linalg.qr(a), sizes, True),
    "svd": ([real(2, 4, 4)], lambda np, a: np.linalg.svd(a), sizes, False),
    "svd-tall": ([real(5, 3)], lambda np, a: np.linalg.svd(a), lambda np, u, s, v: (np.abs(u[:, :3]), s, np.abs(v)), False),
    "svdvals": ([real(2, 4, 6)], lambda np, a: (np.linalg.svd(a, compute_uv=False),), same, True),
    "inv": ([near(3, 4, 4)], lambda np, a: (np.linalg.inv(a),), same, True),
    "cholesky": ([positive(3, 5, 5)], lambda np, a: (np.linalg.cholesky(a),), same, True),
    "pinv": ([real(3, 5, 4)], lambda np, a: (np.linalg.pinv(a),), same, True),
    "lu": ([near(2, 5, 5)], None, lambda np, p, l, u: (lu_product(np, p, l, u),), False),
    "solve": ([near(2, 4, 4), real(2, 4, 3)], lambda np, a, b: (np.linalg.solve(a, b),), same, True),
    "solve-large": ([near(200, 200), real(200, 2)], lambda np, a, b: (np.linalg.solve(a, b),), same, True),
    "tri": ([np.triu(near(4, 4)), real(4, 2)], lambda np, a, b: (np.linalg.solve(np.triu(a), b),), same, True),
    "eigh": ([positive(2, 4, 4)], lambda np, a: np.linalg.eigh(a), sizes, False),
    "eigvalsh": ([positive(6, 6)], lambda np, a: (np.linalg.eigvalsh(a, "U"),), same, True),
    "eigvals": ([real(5, 5).astype(np.float32)], lambda np, a: (np.linalg.eigvals(a),), lambda np, w: (by_size(np, w),), False),
    "det": ([near(3, 4, 4)], lambda np, a: (np.linalg.det(a),), same, True),
    "slogdet": ([near(3, 4, 4)], lambda np, a: tuple(np.linalg.slogdet(a)), same, True),
    "cross": ([real(5, 3), real(5, 3)], lambda np, a, b: (np.cross(a, b),), same, True),
    "norm2": ([real(2, 4, 3)], lambda np, a: (np.linalg.norm(a, 2, axis=(-2, -1)),), same, True),
    "nuc": ([real(2, 4, 3)], lambda np, a: (np.linalg.norm(a, "nuc", axis=(-2, -1)),), same, True),
    "fft": ([wave(3, 6, 2)], lambda np, a: (np.fft.fft(a, axis=1),), same, True),
    "ifft": ([wave(4, 5)], lambda np, a: (np.fft.ifft(a, 7, 0),), same, True),
    "rfft": ([real(3, 8).astype(np.float32)], lambda np, a: (np.fft.rfft(a, 9, 1, "ortho"),), same, True),
    "irfft": ([wave(3, 6)], lambda np, a: (np.fft.irfft(a, 7, 1, "forward"),), same, True),
    "fft2": ([wave(3, 6, 2)], lambda np, a: (np.fft.fft2(a, axes=(0, 1)),), same, True),
    "fftn": ([wave(3, 2, 4, 5)], lambda np, a: (np.fft.fftn(a, axes=(0, 1, 2, 3)),), same, False),
    "ifftn": ([wave(3, 2, 4)], lambda np, a: (np.fft.ifftn(a, (5, 4), (2, 0)),), same, True),
    "rfftn": ([real(3, 4, 6).astype(np.float32)], lambda np, a: (np.fft.rfftn(a),), same, True),
    "irfftn": ([wave(3, 4, 4)], lambda np, a: (np.fft.irfftn(a),), same, True),
    "reflect": ([real(4, 3)], lambda np, a: (np.pad(a, ((5, 2), (0, 7)), mode="reflect"),), same, True),
    "symmetric": ([real(2, 3)], lambda np, a: (np.pad(a, 7, mode="symmetric"),), same, True),
    "rolled": ([real(3, 4)], lambda np, a: (np.roll(a, (1, -6)),), same, True),
    "dots": ([real(2, 3, 4), real(5, 1, 4, 2)], lambda np, a, b: (np.einsum("...ij,...jk", a, b),), same, True),
    "diagonals": ([real(4, 4, 2), real(2, 3)], lambda np, a, b: (np.einsum("ii...,...k->k...i", a, b),), same, True),
    "found": ([np.arange(9.0), np.array([[0.25, 3], [7.5, -1]])], lambda np, a, b: (np.searchsorted(a, b), np.searchsorted(a, b, "right")), same, False),
    "different": ([rng.integers(0, 6, (5, 4))], lambda np, a: np.unique(a, True, True, True), lambda np, v, i, r, n: (v, i, r.reshape(5, 4), n), False),
    "exclusive": ([rng.integers(0, 2, (5, 4)).astype(np.uint8)], lambda np, a: (np.logical_xor(a, a.T[:1, :4]).astype(np.uint8), np.cumsum(a, 0, dtype=np.float32)), same, False),
    "fftshift": ([real(5, 4)], lambda np, a: (np.fft.fftshift(a),), same, True),
    "ifftshift": ([real(5, 4)], lambda np, a: (np.fft.ifftshift(a, 1),), same, True),
}
if jax:  # its random words, and its keys
    jax.config.update("jax_threefry_partitionable", True)
    key = lambda words: jax.random.wrap_key_data(jnp.asarray(words), impl="threefry2x32")
    words = np.array([7, 9], np.uint32)
    bits = lambda shape, dtype: lambda np, k: (np.asarray(jax.random.bits(key(k), shape, dtype)),)
    CASES["jaxbits"] = ([words], bits((1001, 3), "uint32"), same, False)
    CASES["jaxbytes"] = ([words], bits((77,), "uint8"), same, False)
    CASES["jaxsplit"] = ([words], lambda np, k: (np.asarray(jax.random.key_data(jax.random.split(key(k), 5))),), same, False)


def off(found, wanted):
    """The largest difference beside the largest element."""
    if found.shape != wanted.shape:
        return f"the shape {found.shape} instead of {wanted.shape}"
    limit = 1e-4 if found.dtype in (np.float32, np.complex64) else 1e-9
    apart = np.max(np.abs(found - wanted)) / max(1, np.max(np.abs(wanted)))
    return "" if apart < limit else f"off by {apart:.3g}"


def spoilt(inputs):
    changed = [np.array(x) for x in inputs]
    changed[0][(0,) * changed[0].ndim] += 1 if changed[0].dtype.kind in "ui" else 0.5
    return changed


wrong = agree = noticed = 0
with tempfile.TemporaryDirectory() as folder:
    wanted = {}
    for name, (inputs, numpys, judged, has_gradient) in CASES.items():
        out = numpys(np, *inputs) if numpys else None
        wanted[name] = (judged(np, *out) if out else (inputs[0],), judged)
        variants = [name]
        if has_gradient and jax:
            weights = [np.asarray(rng.standard_normal(x.shape), np.float32 if x.dtype in (np.float32, np.complex64) else np.float64) for x in out]

            def loss(*x, numpys=numpys, weights=weights):
                return sum(jnp.sum(jnp.real(y) * w) for y, w in zip(numpys(jnp, *x), weights))

            slopes = jax.grad(loss, argnums=tuple(range(len(inputs))))(*map(jnp.asarray, inputs))
            # Signs of vectors are the library's own: of those only the sizes of slopes could be compared.
            if not (judged is sizes):
                wanted["grad_" + name] = (tuple(map(np.asarray, slopes)), same)
                variants.append("grad_" + name)
                for k, w in enumerate(weights):
                    np.save(f"{folder}/grad_{name}.w{k}.npy", w)
        for variant in variants:
            for k, x in enumerate(spoilt(inputs) if control else inputs):
                np.save(f"{folder}/{variant}.{k}.npy", np.ascontiguousarray(x))
    subprocess.run([sys.argv[1], folder], check=True)
    for name, (expected, judged) in wanted.items():
        found, k = [], 0
        while os.path.exists(f"{folder}/{name}.out.{k}.npy"):
            found.append(np.load(f"{folder}/{name}.out.{k}.npy"))
            k += 1
        faults = [f for f in map(off, judged(np, *found), expected) if f]
        agree += not faults
        wrong += bool(faults)
        if faults and not control:
            print(f"{name}: {'; '.join(faults)}")
        # A linear function has one gradient everywhere.
        is_linear = "fft" in name or name[5:] in ("reflect", "symmetric", "rolled")
        if not faults and control and not (name.startswith("grad_") and is_linear):
            print(f"{name}: another input wasn't noticed")
            noticed -= 1
print(f"{agree} of {len(wanted)} agree")
sys.exit(noticed < 0 if control else wrong > 0)
