#!/usr/bin/env python3
"""Discrete Fourier transforms beside XLA:CPU: milliseconds, the fastest of several turns that both take.

  fft.py [build/lowtide] [--rounds 3] [--only TEXT]

Complex, from real and to real numbers, f32 and f64; one line and batches, of lengths that are powers of two, three times
those, decimal, prime; planes and a cube. Needs jax in the interpreter that runs it. Ends with the geometric mean of the
ratios and the worst.
"""
import math

import beside_xla

LENGTHS = [2**k for k in range(4, 25, 2)] + [3 * 2**k for k in (4, 8, 12, 18)] + [1000, 10007]
# Lines, then the dimensions that are transformed.
SHAPES = ([(1, (n,)) for n in LENGTHS] + [(max(2, 2**20 // n), (n,)) for n in LENGTHS if n < 2**18] +
          [(1, (n, n)) for n in (512, 1024, 2048, 4096)] + [(1, (128, 128, 128))])
KINDS = ["FFT", "RFFT", "IRFFT"]


def programs(only):
    for lines, dims in SHAPES:
        for kind in KINDS:
            for real, pair in (("f32", "c64"), ("f64", "c128")):
                name = f"{lines} x {' x '.join(map(str, dims))} {kind} {real}"
                if only not in name or math.prod(dims) >= 2**24 and real == "f64" and kind == "FFT":
                    continue
                full, half = (lines, *dims), (lines, *dims[:-1], dims[-1] // 2 + 1)
                types = {"FFT": (pair, full, pair, full), "RFFT": (real, full, pair, half), "IRFFT": (pair, half, real, full)}[kind]
                given, result = (f"{t}[{','.join(map(str, d))}]" for t, d in (types[:2], types[2:]))
                text = (f"HloModule m\nENTRY e {{\n  x = {given} parameter(0)\n"
                        f"  ROOT r = {result} fft(x), fft_type={kind}, fft_length={{{','.join(map(str, dims))}}}\n}}\n")
                yield name, 5 * lines * math.prod(dims) * math.log2(math.prod(dims)) / (1 if kind == "FFT" else 2), text


def main():
    options = beside_xla.parser(__doc__).parse_args()
    ratios = []
    print(f"{'transform':34} {'XLA ms':>9} {'ms':>9} {'GFLOP/s':>8} {'ratio':>6}")
    for name, flops, xla, ours in beside_xla.measured(programs(options.only), options, lambda flops: 40 if flops < 1e6 else 6):
        ratios.append(ours / xla)
        print(f"{name:34} {xla * 1e3:9.3f} {ours * 1e3:9.3f} {flops / ours / 1e9:8.1f} {ours / xla:6.2f}", flush=True)
    print(beside_xla.summary(ratios, "transforms") + f", {sum(r > 1 for r in ratios)} above 1")


main()
