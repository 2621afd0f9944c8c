#!/usr/bin/env python3
"""What only moves data, beside XLA:CPU: milliseconds, the fastest of several turns that both take, and the speed of ours
beside a plain pass over as many bytes (a negation), which the same turns measure.

  moves.py [build/lowtide] [--rounds 3] [--only TEXT] [--worst 0.0]

`of copy`: bytes that must be read and written, by our time, over the same of a negation whose result is as large. A step
within a row reads whole cache lines. Needs jax in the interpreter that runs it. Ends with the geometric mean of the
ratios and the worst; --worst prints only lines whose ratio is at least so large.
"""
import math
import pathlib
import tempfile

import jax
import jax.numpy as jnp
from jax import lax

import beside_xla


def array(dtype, *extents):
    return jax.ShapeDtypeStruct(extents, dtype)


def size(shape):
    return math.prod(shape.shape) * jnp.dtype(shape.dtype).itemsize


SHIFT = array("int32")


def rolls():
    for dtype, long, wide in (("float32", 1 << 23, (2048, 4096)), ("bfloat16", 1 << 24, (4096, 4096)), ("uint8", 1 << 25, (4096, 8192)), ("float32", 1 << 16, (256, 256))):
        yield f"roll {dtype}[{long}]", lambda x, s: jnp.roll(x, s), (array(dtype, long), SHIFT), None
        for axes, name in ((0, "rows"), (1, "columns")):
            yield f"roll {name} {dtype}{list(wide)}", lambda x, s, a=axes: jnp.roll(x, s, a), (array(dtype, *wide), SHIFT), None
        yield f"roll both {dtype}{list(wide)}", lambda x, s: jnp.roll(x, (s, s + 5), (0, 1)), (array(dtype, *wide), SHIFT), None
    yield "roll still 1-D float32[8388608]", lambda x: jnp.roll(x, 12345), (array("float32", 1 << 23),), None
    yield "roll still both float32[2048, 4096]", lambda x: jnp.roll(x, (-3, 11), (0, 1)), (array("float32", 2048, 4096),), None


def halos():
    def halo(a, b, c, s, axis):
        joined = jnp.concatenate([a, b, c], axis)
        return lax.dynamic_slice_in_dim(joined, s, b.shape[axis] + 8, axis)
    for dtype in ("float32", "bfloat16"):
        wide = array(dtype, 4096, 4096)
        yield f"halo rows {dtype}[4096, 4096]", lambda a, b, c, s: halo(a, b, c, s, 0), (array(dtype, 8, 4096), wide, array(dtype, 8, 4096), SHIFT), None
        yield f"halo columns {dtype}[4096, 4096]", lambda a, b, c, s: halo(a, b, c, s, 1), (array(dtype, 4096, 8), wide, array(dtype, 4096, 8), SHIFT), None
    yield "slice at s float32[4096, 4096]", lambda x, s: lax.dynamic_slice(x, (s, s), (4000, 4000)), (array("float32", 4096, 4096), SHIFT), None
    yield "slice at s float32[256, 512]", lambda x, s: lax.dynamic_slice(x, (s, s), (200, 300)), (array("float32", 256, 512), SHIFT), None


def flips():
    for dtype, extents in (("float32", (2048, 4096)), ("bfloat16", (4096, 4096)), ("uint8", (4096, 8192)), ("float32", (256, 256)), ("float32", (64, 256, 512))):
        for axis in range(len(extents)):
            yield f"flip {axis} {dtype}{list(extents)}", lambda x, a=axis: jnp.flip(x, a), (array(dtype, *extents),), None
    yield "flip float32[8388608]", jnp.flip, (array("float32", 1 << 23),), None


def strides():
    for dtype in ("float32", "bfloat16", "uint8"):
        x = array(dtype, 4096, 8192)
        yield f"x[::2] {dtype}[4096, 8192]", lambda x: x[::2], (x,), size(x) // 2
        yield f"x[:, ::2] {dtype}[4096, 8192]", lambda x: x[:, ::2], (x,), size(x)
        yield f"x[:, ::3] {dtype}[4096, 8192]", lambda x: x[:, ::3], (x,), size(x)
        yield f"x[1::2, ::2] {dtype}[4096, 8192]", lambda x: x[1::2, ::2], (x,), size(x) // 2
    x = array("float32", 256, 512)
    yield "x[:, ::2] float32[256, 512]", lambda x: x[:, ::2], (x,), size(x)


def takes():
    def take(x, s):  # the seeded indices are small: spread over the rows
        rows = (jnp.arange(s.shape[0], dtype="int32") * 40503 + s) % x.shape[0]
        return jnp.take(x, rows, axis=0, mode="clip")
    for dtype, extents, count in (("float32", (512, 32768), 512), ("float32", (1 << 19, 16), 1 << 19), ("bfloat16", (1 << 19, 16), 1 << 19), ("float32", (1 << 15, 256), 1 << 15),
                                  ("bfloat16", (1 << 15, 768), 1 << 14), ("float32", (4096, 16), 4096), ("float32", (1 << 23,), 1 << 22), ("uint8", (1 << 16, 100), 1 << 17)):
        x = array(dtype, *extents)
        yield f"take {count} of {dtype}{list(extents)}", take, (x, array("int32", count)), size(x) * count // extents[0]
    yield "take along columns float32[4096, 4096]", lambda x, s: jnp.take(x, (jnp.arange(4096) * 1237 + s) % 4096, axis=1, mode="clip"), (array("float32", 4096, 4096), array("int32", 4096)), None


def updates():
    x, row, block, column = array("float32", 4096, 4096), array("float32", 16, 4096), array("float32", 2048, 2048), array("float32", 4096, 16)
    for name, part in (("rows", row), ("block", block), ("columns", column)):
        for donated in (False, True):
            yield (f"update {name}{' in place' if donated else ''} float32[4096, 4096]", jax.jit(lambda x, u, s: lax.dynamic_update_slice(x, u, (s, s)), donate_argnums=(0,) if donated else ()),
                   (x, part, SHIFT), size(part) if donated else size(x))
    y = array("float32", 256, 256)
    yield "update rows float32[256, 256]", lambda x, u, s: lax.dynamic_update_slice(x, u, (s, s * 0)), (y, array("float32", 16, 256), SHIFT), None


def transposes():
    for dtype, extents, order in (("float32", (2048, 4096), (1, 0)), ("bfloat16", (4096, 4096), (1, 0)), ("uint8", (4096, 8192), (1, 0)), ("float64", (2048, 2048), (1, 0)), ("float32", (256, 256), (1, 0)),
                                  ("float32", (4097, 2047), (1, 0)), ("float32", (1 << 20, 8), (1, 0)), ("float32", (8, 1 << 20), (1, 0)), ("float32", (1 << 21, 3), (1, 0)), ("float32", (3, 1 << 21), (1, 0)),
                                  ("float32", (64, 256, 512), (0, 2, 1)), ("float32", (64, 256, 512), (1, 0, 2)), ("float32", (64, 256, 512), (2, 1, 0)), ("float32", (64, 256, 512), (2, 0, 1)),
                                  ("float32", (64, 256, 512), (1, 2, 0)), ("bfloat16", (8, 1024, 16, 64), (0, 2, 1, 3)), ("float32", (8, 1024, 16, 64), (0, 2, 3, 1)), ("float32", (32, 56, 56, 64), (0, 3, 1, 2)),
                                  ("float32", (32, 64, 56, 56), (0, 2, 3, 1)), ("bfloat16", (32, 224, 224, 3), (0, 3, 1, 2)), ("uint8", (32, 3, 224, 224), (0, 2, 3, 1)), ("float32", (16, 16, 16, 2048), (2, 1, 0, 3))):
        yield f"transpose {order} {dtype}{list(extents)}", lambda x, o=order: jnp.transpose(x, o), (array(dtype, *extents),), None


def pads():
    for dtype in ("float32", "bfloat16"):
        yield f"pad edges {dtype}[4096, 4000]", lambda x: jnp.pad(x, ((3, 5), (17, 9))), (array(dtype, 4096, 4000),), None
        yield f"pad between {dtype}[2048, 2048]", lambda x: lax.pad(x, jnp.zeros((), x.dtype), ((0, 0, 1), (0, 0, 1))), (array(dtype, 2048, 2048),), None
        yield f"pad images {dtype}[32, 112, 112, 64]", lambda x: jnp.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0))), (array(dtype, 32, 112, 112, 64),), None
    yield "pad wrap float32[4096, 4000]", lambda x: jnp.pad(x, ((2, 2), (2, 2)), mode="wrap"), (array("float32", 4096, 4000),), None
    yield "pad reflect float32[4096, 4000]", lambda x: jnp.pad(x, ((2, 2), (2, 2)), mode="reflect"), (array("float32", 4096, 4000),), None
    yield "pad edges float32[250, 250]", lambda x: jnp.pad(x, ((3, 3), (3, 3))), (array("float32", 250, 250),), None


def joins():
    for dtype in ("float32", "bfloat16"):
        for axis in (0, 1, 2):
            x = array(dtype, 64, 256, 256)
            yield f"concatenate {axis} {dtype}[64, 256, 256] x 2", lambda a, b, d=axis: jnp.concatenate([a, b], d), (x, x), None
    yield "concatenate 1 float32[1048576, 3] + 1", lambda a, b: jnp.concatenate([a, b], 1), (array("float32", 1 << 20, 3), array("float32", 1 << 20, 1)), None
    yield "stack minor float32[4194304] x 2", lambda a, b: jnp.stack([a, b], -1), (array("float32", 1 << 22),) * 2, None
    yield "stack minor bfloat16[4194304] x 4", lambda *a: jnp.stack(a, -1), (array("bfloat16", 1 << 22),) * 4, None
    yield "concatenate 1 float32[256, 128] x 2", lambda a, b: jnp.concatenate([a, b], 1), (array("float32", 256, 128),) * 2, None
    yield "split 3 float32[4096, 3072]", lambda x: jnp.split(x, 3, 1), (array("float32", 4096, 3072),), None
    yield "unstack minor float32[4194304, 2]", lambda x: (x[:, 0], x[:, 1]), (array("float32", 1 << 22, 2),), None


def spreads():
    for dtype in ("float32", "bfloat16"):
        yield f"broadcast minor {dtype}[4096]", lambda x: jnp.broadcast_to(x[:, None], (4096, 4096)), (array(dtype, 4096),), 0
        yield f"broadcast major {dtype}[4096]", lambda x: jnp.broadcast_to(x, (4096, 4096)), (array(dtype, 4096),), 0
        yield f"broadcast middle {dtype}[256, 256]", lambda x: jnp.broadcast_to(x[:, None], (256, 128, 256)), (array(dtype, 256, 256),), 0
        yield f"tile (4, 4) {dtype}[1024, 1024]", lambda x: jnp.tile(x, (4, 4)), (array(dtype, 1024, 1024),), None
        yield f"tile minor 3 {dtype}[4096, 1000]", lambda x: jnp.tile(x, (1, 3)), (array(dtype, 4096, 1000),), None
        yield f"repeat minor 2 {dtype}[4096, 2048]", lambda x: jnp.repeat(x, 2, 1), (array(dtype, 4096, 2048),), None
        yield f"repeat minor 3 {dtype}[4096, 1024]", lambda x: jnp.repeat(x, 3, 1), (array(dtype, 4096, 1024),), None
        yield f"repeat major 4 {dtype}[1024, 4096]", lambda x: jnp.repeat(x, 4, 0), (array(dtype, 1024, 4096),), None
    yield "upsample 2x2 float32[16, 112, 112, 64]", lambda x: jnp.repeat(jnp.repeat(x, 2, 1), 2, 2), (array("float32", 16, 112, 112, 64),), None
    yield "tile minor 5 float32[200000, 7]", lambda x: jnp.tile(x, (1, 5)), (array("float32", 200000, 7),), None


def masks():
    for dtype in ("float32", "bfloat16", "uint8"):
        x = array(dtype, 4096, 4096)
        yield f"lower triangle {dtype}[4096, 4096]", jnp.tril, (x,), None
        yield f"columns below s {dtype}[4096, 4096]", lambda x, s: jnp.where(jnp.arange(4096) < s * 100, x, 0), (x, SHIFT), None
        yield f"columns but one {dtype}[4096, 4096]", lambda x, s: jnp.where(jnp.arange(4096) == s, 1, x), (x, SHIFT), None
    yield "even columns float32[4096, 4096]", lambda x: jnp.where(jnp.arange(4096) % 2 == 0, x, 0), (array("float32", 4096, 4096),), None
    yield "eye float32[4096, 4096]", lambda s: jnp.eye(4096) * s, (array("float32"),), 0


def write_negation(path, bytes_):
    """As many bytes of f32; the size of the result."""
    count = max(1, bytes_ // 4)
    path.write_text(f"HloModule negate\n\nENTRY e {{\n  x = f32[{count}]{{0}} parameter(0)\n  ROOT y = f32[{count}]{{0}} negate(x)\n}}\n")
    return 4 * count


def main():
    parser = beside_xla.parser(__doc__)
    parser.add_argument("--worst", type=float, default=0)
    parser.add_argument("--keep", help="a folder for the programs")
    options = parser.parse_args()
    ratios, shares = [], []
    print(f"{'move':62} {'MiB':>6} {'XLA ms':>8} {'ms':>8} {'ratio':>6} {'GB/s':>6} {'of copy':>7}")
    with tempfile.TemporaryDirectory() as folder:
        path, plain = pathlib.Path(folder) / "move.hlo", pathlib.Path(folder) / "negate.hlo"
        for family in (rolls, halos, flips, strides, takes, updates, transposes, pads, joins, spreads, masks):
            for name, function, arguments, read in family():
                if options.only not in name:
                    continue
                lowered = (function if hasattr(function, "lower") else jax.jit(function)).lower(*arguments)
                text = lowered.compiler_ir("hlo").as_hlo_text()
                path.write_text(text)
                if options.keep:
                    (pathlib.Path(options.keep) / (name.replace(" ", "_").replace("/", "") + ".hlo")).write_text(text)
                written = sum(map(size, jax.tree.leaves(lowered.out_info)))
                if "in place" in name:
                    written = read
                moved = written + (read if read is not None else min(written, sum(map(size, arguments))))
                copied = 2 * write_negation(plain, written)
                xla, ours, copy = beside_xla.fastest(options.lowtide, path, options.rounds, measure=plain)
                ratios.append(ours / xla)
                shares.append(moved / ours * copy / copied)
                if ratios[-1] >= options.worst:
                    print(f"{name:62} {written / 2**20:6.1f} {xla * 1e3:8.3f} {ours * 1e3:8.3f} {ours / xla:6.2f} {moved / ours / 1e9:6.1f} {shares[-1]:7.2f}", flush=True)
    print(beside_xla.summary(ratios, "moves") + f"; {sum(s >= 0.8 for s in shares)} at 0.8 of a copy's speed and more")


main()
