#!/usr/bin/env python3
"""Discrete Fourier transforms beside XLA:CPU: milliseconds, the fastest of several turns that both take.

  fft.py [build/lowtide] [--rounds 3] [--only TEXT]

Complex, from real and to real numbers, f32 and f64; one line and batches, of lengths that are powers of two, three times
those, decimal, prime; planes and a cube. Needs jax in the interpreter that runs it. Ends with the geometric mean of the
ratios and the worst.
"""
import argparse
import json
import math
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
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
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lowtide", nargs="?", default=str(HERE.parent / "build" / "lowtide"))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    ratios = []
    print(f"{'transform':34} {'XLA ms':>9} {'ms':>9} {'GFLOP/s':>8} {'ratio':>6}")
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "fft.hlo"
        for name, flops, text in programs(options.only):
            path.write_text(text)
            peer = subprocess.Popen([sys.executable, str(HERE / "xla_worker.py"), str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            peer.stdout.readline()
            xla = ours = math.inf
            turns = 40 if flops < 1e6 else 6
            for _ in range(options.rounds):
                peer.stdin.write(f"{turns}\n")
                peer.stdin.flush()
                xla = min(xla, *json.loads(peer.stdout.readline())["seconds"])
                done = subprocess.run([options.lowtide, "run", str(path), "--repeat", str(turns), "--json"], capture_output=True, text=True, check=True)
                ours = min(ours, *json.loads(done.stdout)["run_seconds"])
            peer.stdin.close()
            peer.wait()
            ratios.append(ours / xla)
            print(f"{name:34} {xla * 1e3:9.3f} {ours * 1e3:9.3f} {flops / ours / 1e9:8.1f} {ours / xla:6.2f}", flush=True)
    print(f"{len(ratios)} transforms: {math.exp(sum(map(math.log, ratios)) / len(ratios)):.2f} of XLA:CPU's time in geometric mean, worst {max(ratios):.2f}, "
          f"{sum(r > 1 for r in ratios)} above 1")


main()
