#!/usr/bin/env python3
"""conformance.py LOWTIDE FOLDER: one-operation programs that carry their inputs and expected results in check.* calls.

Each must run to exit code 0. Prints what failed, by exit code and operation, and the share that passed.
"""
import collections
import glob
import os
import subprocess
import sys

command, folder = sys.argv[1], sys.argv[2]
files = sorted(glob.glob(os.path.join(folder, "*.hlo")))
failed = collections.defaultdict(list)
for path in files:
    ran = subprocess.run([command, "run", path, "--interpret"], capture_output=True, text=True, timeout=120)
    if ran.returncode != 0:
        line = (ran.stderr.strip().split("\n") or [""])[0]
        failed[ran.returncode].append((os.path.basename(path), line[:160]))
for code, cases in sorted(failed.items()):
    for name, line in cases:
        print(f"exit {code}  {name}  {line}")
    print(f"exit {code}: {dict(collections.Counter(name.split('_')[0] for name, _ in cases))}")
bad = sum(map(len, failed.values()))
print(f"{len(files) - bad} of {len(files)} pass")
sys.exit(1 if bad or not files else 0)
