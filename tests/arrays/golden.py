#!/usr/bin/env python3
"""golden.py GOLDEN CASES.json [--control]: random numbers beside those that MLX made (golden.cpp), to the bit; multivariate
normals within the tolerance of the case. With --control they are made from other keys, and nearly all must differ."""
import hashlib
import json
import os
import subprocess
import sys

import struct

if not os.path.exists(sys.argv[2]):
    print("SKIP: no published cases")
    sys.exit(0)
SIZES = {"bool": 1, "uint8": 1, "uint16": 2, "uint32": 4, "int32": 4, "int64": 8, "float16": 2, "bfloat16": 2, "float32": 4, "complex64": 4}
control = "--control" in sys.argv
lines = subprocess.run([sys.argv[1], *sys.argv[2:]], capture_output=True, text=True, check=True).stdout.splitlines()
cases = json.load(open(sys.argv[2]))["cases"]
assert len(lines) == len(cases), (len(lines), len(cases))


def bytes_of(value, size):
    number = int(value, 16) if isinstance(value, str) else int(value)
    return (number % (1 << 8 * size)).to_bytes(size, "little")


def agrees(case, line):
    if line.startswith("!"):
        return line
    got, size = bytes.fromhex(line), SIZES[case["dtype"]]
    if "tolerance" in case:
        want = b"".join(bytes_of(v, size) for v in case["values"])
        numbers = [struct.unpack(f"<{len(b) // 4}f", b) for b in (got, want)]
        return "" if all(abs(a - b) < 1e-3 for a, b in zip(*numbers)) else "beyond the tolerance"
    if "sha256_le_bytes" in case:
        return "" if hashlib.sha256(got).hexdigest() == case["sha256_le_bytes"] else f"other bytes, from {line[:64]}"
    want = b"".join(bytes_of(v, size) for v in case["values"])
    return "" if got == want else f"{line} instead of {want.hex()}"


wrong = 0
for case, line in zip(cases, lines):
    if fault := agrees(case, line):
        wrong += 1
        if not control:
            print(f"{case['name']} {case['seed']} {case['call']}: {fault}")
print(f"{len(cases) - wrong} of {len(cases)} agree")
sys.exit(wrong < len(cases) * 3 // 4 if control else wrong > 0)
