#!/usr/bin/env python3
"""lowtide run where something is amiss: every fault has its exit code and one clear sentence, and leaves nothing half-written.

  run_faults.py build/lowtide
"""
import json
import os
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

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
LARGE = """HloModule m
ENTRY main {
  x = f32[1000000] parameter(0)
  b = f32[1000000,200] broadcast(x), dimensions={0}
  ROOT s = f32[1000000,200] sine(b)
}
"""
faults = []


def is_sanitized(path):
    with open(path, "rb") as f:
        text = f.read()
    return b"__asan_init" in text or b"__tsan_init" in text



def tensors(path, arrays):
    """arrays: name -> (safetensors type, shape, bytes)"""
    head, body = {}, b""
    for name, (kind, shape, raw) in arrays.items():
        head[name] = {"dtype": kind, "shape": shape, "data_offsets": [len(body), len(body) + len(raw)]}
        body += raw
    text = json.dumps(head).encode()
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + body)


def expect(what, code, words, command, cache, limit=None, out=subprocess.DEVNULL):
    def cap():
        if limit:
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    done = subprocess.run(command, stdout=out, stderr=subprocess.PIPE, env={**os.environ, "LOWTIDE_CACHE": cache}, preexec_fn=cap)
    error = done.stderr.decode(errors="replace")
    if done.returncode != code or words not in error:
        faults.append(f"{what}: exit {done.returncode} ({code} expected), {words!r} expected in {error[-300:]!r}")


def interrupted(what, command, cache, outputs):
    running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env={**os.environ, "LOWTIDE_CACHE": cache})
    time.sleep(2)
    running.send_signal(signal.SIGINT)
    try:
        error = running.communicate(timeout=60)[1].decode()
    except subprocess.TimeoutExpired:
        running.kill()
        faults.append(f"{what}: it goes on")
        return
    if running.returncode != 130 or "interrupted" not in error:
        faults.append(f"{what}: exit {running.returncode}, {error!r}")
    left = os.listdir(os.path.dirname(outputs))
    if left:
        faults.append(f"{what}: leaves {left}")


def main():
    program = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        def at(name):
            return os.path.join(folder, name)

        def write(name, text):
            with open(at(name), "wb") as f:
                f.write(text.encode() if isinstance(text, str) else text)
            return at(name)

        small, large = write("small.hlo", PROGRAM), write("large.hlo", LARGE)
        x, y = ("F32", [1000], bytes(4000)), ("I32", [3], bytes(12))
        cache = at("cache")
        good = {"arg0": x, "arg1": y}
        files = {"good": good, "missing": {"arg0": x}, "shape": {"arg0": ("F32", [999], bytes(3996)), "arg1": y},
                 "type": {"arg0": ("F64", [1000], bytes(8000)), "arg1": y}, "extra": {**good, "arg2": y}}
        for name, arrays in files.items():
            tensors(at(name), arrays)
        with open(at("good"), "rb") as f:
            write("short", f.read()[:2000])
        write("empty", "")
        write("noise", "this is no tensor file " * 20)

        run = [program, "run", small]
        expect("good tensors", 0, "", [*run, "--inputs", at("good")], cache)
        for name, words in (("missing", "no tensor arg1"), ("shape", "f32[999], expected f32[1000]"),
                            ("type", "f64[1000], expected f32[1000]"), ("extra", "3 arguments"), ("short", "arg0"),
                            ("empty", "empty"), ("noise", "not a safetensors file"), ("nowhere", "No such file")):
            expect(name, 3, words, [*run, "--inputs", at(name)], cache)
        expect("no folder for results", 3, "can't write", [*run, "--outputs", at("nowhere/out")], cache)
        expect("a full disk", 3, "can't write", [*run, "--outputs", "/dev/full"], cache)
        if is_sanitized(program):
            print("[SKIP] little memory: a sanitizer's shadow needs more address space than the limit leaves")
        else:
            expect("little memory", 4, "left", [program, "run", large], cache, limit=600 << 20)

        kernels = [os.path.join(cache, name) for name in os.listdir(cache)]
        if not kernels:
            faults.append("no kernel was kept")
        for kernel in kernels:
            with open(kernel, "r+b") as f:
                f.seek(200)
                f.write(os.urandom(50))
        expect("changed kernels", 0, "", run, cache)
        for kernel in kernels:
            os.truncate(kernel, 0)
        expect("empty kernels", 0, "", run, cache)
        expect("a cache that can't be made", 0, "", run, "/proc/nowhere")
        expect("a cache that is a file", 0, "", run, small)
        os.mkdir(at("alone"))
        shutil.copy(program, at("alone/lowtide"))
        expect("no kernel compiler", 1, "liblowtide_llvm.so", [at("alone/lowtide"), "run", small], at("alone/cache"))

        os.mkdir(at("results"))
        for what, operation in (("a library call", "sort(x), dimensions={0}, to_apply=before"), ("a kernel", "sine(x)")):
            endless = write("endless.hlo", ENDLESS.replace("OPERATION", operation))
            interrupted("interrupted in " + what, [program, "run", endless, "--outputs", at("results/out")], cache, at("results/out"))
    print("\n".join(faults) if faults else "every fault is told and leaves nothing behind")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
