#!/usr/bin/env python3
"""Convolutions and both of their gradients, as convolution networks have them, beside XLA:CPU: milliseconds, the fastest
of several turns that both take.

  convolutions.py [build/lowtide] [--rounds 3] [--only TEXT]

Needs jax in the interpreter that runs it. Ends with the geometric mean of the ratios and the worst.
"""
import math

import jax
import jax.numpy as jnp

import beside_xla

# Batch, height and width, features in and out, extent of the window, stride, groups.
LAYERS = [(256, 28, 1, 32, 3, 1, 1), (256, 14, 32, 64, 3, 1, 1), (16, 64, 3, 64, 7, 2, 1), (16, 32, 64, 64, 3, 1, 1),
          (16, 16, 128, 128, 3, 1, 1), (16, 8, 256, 256, 3, 1, 1), (16, 32, 64, 128, 3, 2, 1), (16, 32, 128, 64, 1, 1, 1),
          (4, 32, 96, 96, 7, 1, 96), (16, 16, 128, 128, 3, 1, 4), (2, 128, 16, 16, 3, 1, 1), (1, 256, 8, 3, 5, 1, 1)]
NUMBERS = ("NHWC", "HWIO", "NHWC")


def programs(only):
    for batch, side, features, outputs, window, stride, groups in LAYERS:
        for dtype in ("float32", "bfloat16"):
            def convolve(x, w, stride=stride, groups=groups):
                return jax.lax.conv_general_dilated(x, w, (stride, stride), "SAME", dimension_numbers=NUMBERS, feature_group_count=groups)
            x = jax.ShapeDtypeStruct((batch, side, side, features), dtype)
            w = jax.ShapeDtypeStruct((window, window, features // groups, outputs), dtype)
            y = jax.eval_shape(convolve, x, w)
            forms = {"forward": (convolve, (x, w)),
                     "of input": (lambda w, dy, f=convolve, x=x: jax.linear_transpose(lambda x: f(x, w), x)(dy)[0], (w, y)),
                     "of kernel": (lambda x, dy, f=convolve, w=w: jax.linear_transpose(lambda w: f(x, w), w)(dy)[0], (x, y))}
            for form, (function, arguments) in forms.items():
                name = f"{batch}x{side}x{side}x{features}>{outputs} {window}x{window}/{stride} g{groups} {jnp.dtype(dtype).name} {form}"
                if only in name:
                    flops = 2 * math.prod(y.shape) * window * window * features // groups
                    yield name, flops, jax.jit(function).lower(*arguments).compiler_ir("hlo").as_hlo_text()


def main():
    options = beside_xla.parser(__doc__).parse_args()
    ratios = []
    print(f"{'convolution':58} {'GFLOP':>6} {'XLA ms':>8} {'ms':>8} {'ratio':>6}")
    for name, flops, xla, ours in beside_xla.measured(programs(options.only), options):
        ratios.append(ours / xla)
        print(f"{name:58} {flops / 1e9:6.2f} {xla * 1e3:8.2f} {ours * 1e3:8.2f} {ours / xla:6.2f}", flush=True)
    print(beside_xla.summary(ratios, "convolutions"))


main()
