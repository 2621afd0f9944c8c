#!/usr/bin/env python3
"""Uniform and normal random numbers: lowtide, jax.jit and a kernel written by hand (random_by_hand.cpp), interleaved.

  bench/random_numbers.py [--sides 4096 16384] [--kinds uniform_f32 ...] [--rounds 7] [--threads N] [--lowtide build/lowtide]

Needs jax. Every program makes [side, side] numbers from the key (0, 0); outputs are reused on all sides (jax gets them
donated; `fresh` is jax without that). Medians; CPU seconds beside wall time, since machines are rarely idle. Before
anything is timed the values are compared: uniform ones must be JAX's bits, normal ones no farther from a float64
evaluation on the same uniform numbers than JAX's own.
"""
import argparse
import json
import os
import resource
import statistics
import struct
import subprocess
import sys
import tempfile
import time

import numpy as np

os.environ.setdefault("JAX_PLATFORMS", "cpu")
import jax
import jax.numpy as jnp

HERE = os.path.dirname(os.path.abspath(__file__))
KINDS = {"uniform_f32": (jax.random.uniform, jnp.float32), "uniform_bf16": (jax.random.uniform, jnp.bfloat16),
         "normal_f32": (jax.random.normal, jnp.float32), "normal_bf16": (jax.random.normal, jnp.bfloat16)}


def by_hand(folder):
    binary = os.path.join(folder, "random_by_hand")
    subprocess.run([os.environ.get("CXX", "c++"), "-std=c++20", "-O3", "-mavx512f", "-mavx512bw", "-mavx512dq", "-mavx512vl",
                    "-mfma", "-pthread", os.path.join(HERE, "random_by_hand.cpp"), "-o", binary], check=True)
    return binary


def numbers(path, kind):
    raw = np.fromfile(path, np.uint16 if kind.endswith("bf16") else np.uint32)
    return (raw.astype(np.uint32) << 16).view(np.float32) if raw.dtype == np.uint16 else raw.view(np.float32)


def tensor(path):
    with open(path, "rb") as file:
        head = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        begin, end = head["out0"]["data_offsets"]
        file.seek(-(max(v["data_offsets"][1] for k, v in head.items() if k != "__metadata__") - begin), os.SEEK_END)
        raw = file.read(end - begin)
    if head["out0"]["dtype"] == "BF16":
        return (np.frombuffer(raw, np.uint16).astype(np.uint32) << 16).view(np.float32)
    return np.frombuffer(raw, np.float32)


def truth_of_normals(shape):
    """float64 sqrt(2) erf_inv(u) of the uniform numbers that normal f32 is made of."""
    from scipy.special import erfinv
    low = np.nextafter(np.float32(-1), np.float32(0))
    u = np.asarray(jax.random.uniform(jax.random.PRNGKey(0), shape, jnp.float32, low, 1.0), np.float64).ravel()
    return np.sqrt(2) * erfinv(u)


def compare(kind, got, want, truth):
    if kind != "normal_f32":
        return f"{np.count_nonzero(got != want)} of {want.size} differ from JAX"
    error = lambda x: np.abs(x.astype(np.float64) - truth) / np.abs(truth)
    return f"error max {np.max(error(got)):.1e} mean {np.mean(error(got)):.1e} (JAX {np.max(error(want)):.1e} {np.mean(error(want)):.1e})"


def program(kind, side, folder):
    function, dtype = KINDS[kind]
    path = os.path.join(folder, f"{kind}_{side}.hlo")
    lowered = jax.jit(lambda key: function(key, (side, side), dtype)).lower(jax.random.PRNGKey(0))
    with open(path, "w") as file:
        file.write(lowered.as_text(dialect="hlo"))
    return path


def arguments(folder):
    path = os.path.join(folder, "key.safetensors")
    head = json.dumps({"arg0": {"dtype": "U32", "shape": [2], "data_offsets": [0, 8]}}).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(head)) + head + bytes(8))
    return path


class Jax:
    def __init__(self, kind, side):
        function, dtype = KINDS[kind]
        self.key = jax.random.PRNGKey(0)
        make = lambda key, old: function(key, (side, side), dtype)
        self.reused = jax.jit(make, donate_argnums=1, keep_unused=True)
        self.fresh = jax.jit(lambda key: function(key, (side, side), dtype))
        self.out = jax.block_until_ready(self.fresh(self.key))

    def run(self, times):
        seconds, cpu = [], []
        for _ in range(times):
            start, cpu_start = time.perf_counter(), time.process_time()
            self.out = jax.block_until_ready(self.reused(self.key, self.out))
            seconds.append(time.perf_counter() - start), cpu.append(time.process_time() - cpu_start)
        return seconds, cpu

    def run_fresh(self, times):
        seconds = []
        for _ in range(times):
            start = time.perf_counter()
            jax.block_until_ready(self.fresh(self.key))
            seconds.append(time.perf_counter() - start)
        return seconds


def ours(options, path, key, times, *more):
    done = subprocess.run([options.lowtide, "run", path, "--inputs", key, "--repeat", str(times), "--json", *more],
                          capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{path}: {done.stderr.strip()}")
    return json.loads(done.stdout)


def cpu_seconds_of_ours(options, path, key):
    """Of one run: what ten more of them take."""
    taken = []
    for times in (2, 12):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        ours(options, path, key, times)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        taken.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return (taken[1] - taken[0]) / 10


def measure(options, kind, side, folder, hand):
    path, key = program(kind, side, folder), arguments(folder)
    peer = Jax(kind, side)
    small = 1021  # odd and prime
    want = np.asarray(Jax(kind, small).out, np.float32).ravel()
    truth = truth_of_normals((small, small)) if kind == "normal_f32" else None
    raw, out = os.path.join(folder, "hand.raw"), os.path.join(folder, "out.safetensors")
    subprocess.run([hand, kind, str(small * small), "1", "1", raw], check=True, stdout=subprocess.DEVNULL)
    ours(options, program(kind, small, folder), key, 1, "--outputs", out)
    print(f"{kind}: by hand {compare(kind, numbers(raw, kind), want, truth)}; lowtide {compare(kind, tensor(out), want, truth)}")
    taken = {"lowtide": [], "by hand": [], "jax": [], "jax fresh": []}
    cpu = {"lowtide": [], "by hand": [], "jax": []}
    record = {}
    for _ in range(options.rounds):
        record = ours(options, path, key, 4)
        taken["lowtide"] += record["run_seconds"][1:]
        done = json.loads(subprocess.run([hand, kind, str(side * side), "4", str(options.threads)], check=True,
                                         capture_output=True, text=True).stdout)
        taken["by hand"] += done["run_seconds"][1:]
        cpu["by hand"] += done["cpu_seconds"][1:]
        cpu["lowtide"].append(cpu_seconds_of_ours(options, path, key))
        seconds, cpu_seconds = peer.run(2)
        taken["jax"] += seconds
        cpu["jax"] += cpu_seconds
        taken["jax fresh"] += peer.run_fresh(1)
    median = {k: statistics.median(v) for k, v in taken.items()}
    least = {k: min(v) for k, v in taken.items()}
    return {"kind": kind, "side": side, "median_ms": {k: 1e3 * v for k, v in median.items()},
            "least_ms": {k: 1e3 * v for k, v in least.items()},
            "cpu_ms": {k: 1e3 * statistics.median(v) for k, v in cpu.items()}, "temp_bytes": record.get("temp_bytes"),
            "times_jax": median["jax"] / median["lowtide"], "of_hand": median["by hand"] / median["lowtide"],
            "times_jax_least": least["jax"] / least["lowtide"], "of_hand_least": least["by hand"] / least["lowtide"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sides", type=int, nargs="+", default=[4096, 16384])
    parser.add_argument("--kinds", nargs="+", default=list(KINDS))
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--lowtide", default="build/lowtide")
    parser.add_argument("--json")
    options = parser.parse_args()
    records = []
    with tempfile.TemporaryDirectory() as folder:
        hand = by_hand(folder)
        for kind in options.kinds:
            for side in options.sides:
                records.append(measure(options, kind, side, folder, hand))
    print(f"{'':22} {'lowtide':>9} {'by hand':>9} {'jax':>9} {'fresh':>9}   x jax  of by hand  |  CPU ms: lowtide   by hand       jax   x jax  of by hand")
    for r in records:
        ms, cpu = r["median_ms"], r["cpu_ms"]
        print(f"{r['kind']:15} {r['side']:6} {ms['lowtide']:9.2f} {ms['by hand']:9.2f} {ms['jax']:9.2f} {ms['jax fresh']:9.2f} "
              f"{r['times_jax']:7.1f} {r['of_hand']:11.2f}  |  {cpu['lowtide']:15.2f} {cpu['by hand']:9.2f} {cpu['jax']:9.2f} "
              f"{cpu['jax'] / cpu['lowtide']:7.1f} {cpu['by hand'] / cpu['lowtide']:11.2f}")
    if options.json:
        with open(options.json, "w") as file:
            json.dump(records, file, indent=1)


main()
