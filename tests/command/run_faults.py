#!/usr/bin/env python3
"""lowtide run where something is amiss: every fault has its exit code and one clear sentence, and leaves nothing half-written.

  run_faults.py build/lowtide
"""
import json
import os
import shutil
import signal
import struct
import subprocess
import sys
import time

from command import Lowtide, faults, verdict

PROGRAM = """HloModule m
ENTRY main {
  x = f32[1000] parameter(0)
  y = s32[3] parameter(1)
  s = f32[1000] sine(x)
  ROOT r = (f32[1000], s32[3]) tuple(s, y)
}
"""
ENDLESS = """HloModule m
condition {
  t = (s64[], f32[1000]) parameter(0)
  i = s64[] get-tuple-element(t), index=0
  n = s64[] constant(1000000000000)
  ROOT r = pred[] compare(i, n), direction=LT
}
body {
  t = (s64[], f32[1000]) parameter(0)
  i = s64[] get-tuple-element(t), index=0
  x = f32[1000] get-tuple-element(t), index=1
  y = f32[1000] OPERATION
  one = s64[] constant(1)
  next = s64[] add(i, one)
  ROOT r = (s64[], f32[1000]) tuple(next, y)
}
before {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = pred[] compare(a, b), direction=GT
}
ENTRY main {
  x = f32[1000] parameter(0)
  zero = s64[] constant(0)
  t = (s64[], f32[1000]) tuple(zero, x)
  ROOT w = (s64[], f32[1000]) while(t), condition=condition, body=body
}
"""
CALLING = """HloModule m
ENTRY main {
  x = f32[4] parameter(0)
  ROOT r = f32[4] custom-call(x), custom_call_target="lowtide.host.scale"
}
"""
LARGE = """HloModule m
ENTRY main {
  x = f32[1000000] parameter(0)
  b = f32[1000000,200] broadcast(x), dimensions={0}
  ROOT s = f32[1000000,200] sine(b)
}
"""


def sanitizer_of(path):
    """'asan', 'tsan' or None"""
    with open(path, "rb") as f:
        text = f.read()
    return next((name for name in ("asan", "tsan") if f"__{name}_init".encode() in text), None)


def tensors(arrays):
    """The content of a safetensors file. arrays: name -> (safetensors type, shape, bytes)"""
    head, body = {}, b""
    for name, (kind, shape, raw) in arrays.items():
        head[name] = {"dtype": kind, "shape": shape, "data_offsets": [len(body), len(body) + len(raw)]}
        body += raw
    text = json.dumps(head).encode()
    return struct.pack("<Q", len(text)) + text + body


def expect(what, code, told, lowtide, *words, **how):
    """A run must exit with `code` and say `told` on stderr."""
    got, _, error = lowtide.run("run", *words, **how)
    if got != code or told not in error:
        faults.append(f"{what}: exit {got} ({code} expected), {told!r} expected in {error[-300:]!r}")


def interrupted(what, lowtide, program, results):
    """A run that is interrupted ends soon, says so, and leaves nothing in the folder of its results."""
    running = lowtide.start("run", program, "--outputs", os.path.join(results, "out"))
    time.sleep(2)
    running.send_signal(signal.SIGINT)
    try:
        error = running.communicate(timeout=60)[1]
    except subprocess.TimeoutExpired:
        running.kill()
        faults.append(f"{what}: it goes on")
        return
    if running.returncode != 130 or "interrupted" not in error:
        faults.append(f"{what}: exit {running.returncode}, {error!r}")
    left = os.listdir(results)
    if left:
        faults.append(f"{what}: leaves {left}")


def main():
    with Lowtide(sys.argv[1]) as lowtide:
        at = lowtide.at
        small, large = at("small.hlo", PROGRAM), at("large.hlo", LARGE)
        x, y = ("F32", [1000], bytes(4000)), ("I32", [3], bytes(12))
        good = {"arg0": x, "arg1": y}
        files = {"good": good, "missing": {"arg0": x}, "shape": {"arg0": ("F32", [999], bytes(3996)), "arg1": y},
                 "type": {"arg0": ("F64", [1000], bytes(8000)), "arg1": y}, "extra": {**good, "arg2": y}}
        for name, arrays in files.items():
            at(name, tensors(arrays))
        at("short", tensors(good)[:2000])
        at("empty", "")
        at("noise", "this is no tensor file " * 20)

        expect("good tensors", 0, "", lowtide, small, "--inputs", at("good"))
        for name, told in (("missing", "no tensor arg1"), ("shape", "f32[999], expected f32[1000]"),
                           ("type", "f64[1000], expected f32[1000]"), ("extra", "3 arguments"), ("short", "arg0"),
                           ("empty", "empty"), ("noise", "not a safetensors file"), ("nowhere", "No such file")):
            expect(name, 3, told, lowtide, small, "--inputs", at(name))
        calling = at("calling.hlo", CALLING)
        for how in ((), ("--interpret",)):
            expect("a function of nobody's", 3, 'calling.hlo:4:8: custom-call r: the host has given no function named "scale"', lowtide, calling, *how)
        expect("no folder for results", 3, "can't write", lowtide, small, "--outputs", at("nowhere/out"))
        expect("a full disk", 3, "can't write", lowtide, small, "--outputs", "/dev/full")
        if sanitizer_of(lowtide.program):
            print("[SKIP] little memory: a sanitizer's shadow needs more address space than the limit leaves")
        else:
            expect("little memory", 4, "left", lowtide, large, address_space=600 << 20)

        kernels = [os.path.join(lowtide.cache, name) for name in os.listdir(lowtide.cache)]
        if not kernels:
            faults.append("no kernel was kept")
        for kernel in kernels:
            with open(kernel, "r+b") as f:
                f.seek(200)
                f.write(os.urandom(50))
        expect("changed kernels", 0, "", lowtide, small)
        for kernel in kernels:
            os.truncate(kernel, 0)
        expect("empty kernels", 0, "", lowtide, small)
        expect("a cache that can't be made", 0, "", lowtide, small, LOWTIDE_CACHE="/proc/nowhere")
        expect("a cache that is a file", 0, "", lowtide, small, LOWTIDE_CACHE=small)
        os.mkdir(at("alone"))
        with Lowtide(shutil.copy(lowtide.program, at("alone/lowtide"))) as alone:
            expect("no kernel compiler", 1, "liblowtide_llvm.so", alone, small)

        os.mkdir(at("results"))
        for what, operation in (("a library call", "sort(x), dimensions={0}, to_apply=before"), ("a kernel", "sine(x)")):
            if what == "a kernel" and sanitizer_of(lowtide.program) == "tsan":
                print("[SKIP] interrupted in a kernel: TSan keeps signals until its code runs again")
                continue
            endless = at("endless.hlo", ENDLESS.replace("OPERATION", operation))
            interrupted("interrupted in " + what, lowtide, endless, at("results"))
    return verdict()


if __name__ == "__main__":
    sys.exit(main())
