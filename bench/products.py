#!/usr/bin/env python3
"""Products of matrices, batched and transposed, beside XLA:CPU: milliseconds, the fastest of several turns that both take.

  products.py [build/lowtide] [--rounds 3] [--only TEXT] [--worst 0.0]

`T` at an operand: it is stored with its contracted dimension where the other form has it not. Needs jax in the interpreter
that runs it. Ends with the geometric mean of the ratios and the worst; --worst prints only lines whose ratio is at least
so large.
"""
import jax
import jax.numpy as jnp

import beside_xla

SMALL = (1, 2, 4, 8, 16, 32)


def shapes():
    """(batch, M, N, K), of which the first is 0 for none."""
    for few in SMALL:
        for large in ((2048, 2048), (1024, 4096)):
            yield 0, few, *large
            yield 0, large[0], few, large[1]
            yield 0, *large, few
    for few, other in ((1, 1), (1, 8), (8, 1), (4, 16), (16, 16)):
        yield 0, few, other, 1 << 16
        yield 0, 1 << 16, few, other
        yield 0, few, 1 << 16, other
    for side in (8, 16, 32, 64, 128, 256, 512, 1024, 2048):
        yield 0, side, side, side
    yield from ((0, 100, 300, 700), (0, 257, 511, 1023), (0, 4096, 64, 64), (0, 8192, 128, 512), (0, 64, 8192, 256), (0, 8192, 8192, 16))
    for side, batch in ((2, 4096), (4, 4096), (8, 4096), (16, 2048), (32, 1024), (64, 256), (128, 64)):
        yield batch, side, side, side
    yield from ((4096, 4, 1, 4), (4096, 1, 8, 8), (1024, 3, 5, 7), (512, 16, 64, 16), (64, 1, 256, 256), (64, 256, 1, 256), (96, 128, 128, 64), (96, 128, 64, 128))


def programs(only):
    for batch, m, n, k in shapes():
        for dtype in ("float32", "bfloat16", "float64"):
            for left, right in ((False, False), (True, False), (False, True)):
                if (left or right) and dtype == "float64" and m * n * k < 1 << 20:
                    continue  # the same code as untransposed
                lead = (batch,) if batch else ()
                a = jax.ShapeDtypeStruct(lead + ((k, m) if left else (m, k)), dtype)
                b = jax.ShapeDtypeStruct(lead + ((n, k) if right else (k, n)), dtype)
                d = len(lead)
                contracted = ((d + 1 - left,), (d + right,))
                leading = (tuple(range(d)),) * 2

                def product(a, b, numbers=(contracted, leading)):
                    return jax.lax.dot_general(a, b, numbers)
                name = f"{f'{batch}x ' if batch else ''}{m}x{k}{'T' if left else ''} {k}x{n}{'T' if right else ''} {dtype}"
                if only in name:
                    yield name, 2 * max(batch, 1) * m * n * k, jax.jit(product).lower(a, b).compiler_ir("hlo").as_hlo_text()


def main():
    parser = beside_xla.parser(__doc__)
    parser.add_argument("--worst", type=float, default=0)
    options = parser.parse_args()
    jax.config.update("jax_enable_x64", True)
    ratios = []
    print(f"{'product':44} {'GFLOP':>7} {'XLA ms':>8} {'ms':>8} {'ratio':>6}")
    for name, flops, xla, ours in beside_xla.measured(programs(options.only), options, lambda flops: 4 if flops > 1 << 28 else 20):
        ratios.append(ours / xla)
        if ratios[-1] >= options.worst:
            print(f"{name:44} {flops / 1e9:7.3f} {xla * 1e3:8.4f} {ours * 1e3:8.4f} {ours / xla:6.2f}", flush=True)
    print(beside_xla.summary(ratios, "products"))


main()
