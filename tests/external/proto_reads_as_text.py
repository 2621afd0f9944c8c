#!/usr/bin/env python3
"""Every program given, in protobuf form as jaxlib writes it, reads as the text that jaxlib makes of that protobuf:
`lowtide opt --passes ""` prints both, and the prints agree computation by computation, line by line.

Not compared: long constants (jaxlib's text abbreviates them), the order of computations, and asynchronous operations
that the text writes without their wrapped computation.

usage: proto_reads_as_text.py LOWTIDE FILE_OR_DIRECTORY...
"""
import os
import re
import subprocess
import sys
import tempfile

try:
    from jaxlib._hlo import HloModule, hlo_module_from_text
except ImportError:
    print("SKIP proto_reads_as_text: no jaxlib")
    sys.exit(0)

from reads_everything import programs

COMPUTATION = re.compile(r"^(?:ENTRY )?%?([\w.\-]+)[^\n]*\{\n(.*?)^\}", re.M | re.S)
CONSTANT = re.compile(r" constant\(.*?\)(?=, [a-z_]+=|$)")


class Refused(Exception):
    """jaxlib doesn't read the text."""


def printed(lowtide, path):
    done = subprocess.run([lowtide, "opt", path, "--passes", ""], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"opt {os.path.basename(path)} exits {done.returncode}: {done.stderr.strip()[:300]}")
    header = re.match(r"HloModule (.*)", done.stdout)[1]
    return header, {name: body.splitlines() for name, body in COMPUTATION.findall(done.stdout)}


def differs(ours, theirs):
    if "constant({...})" in theirs:
        ours, theirs = CONSTANT.sub("", ours), CONSTANT.sub("", theirs)
    wrapped = re.search(r" async-(start|update|done)\(", ours)
    return ours != theirs and not (wrapped and wrapped[0] not in theirs)


def fault_of(lowtide, text, directory):
    proto, again = directory + "/module.hlo.pb", directory + "/module.hlo"
    try:
        serialized = hlo_module_from_text(text).as_serialized_hlo_module_proto()
    except Exception as error:
        raise Refused from error
    with open(proto, "wb") as f:
        f.write(serialized)
    with open(again, "w") as f:
        f.write(HloModule.from_serialized_hlo_module_proto(serialized).to_string())
    header, ours = printed(lowtide, proto)
    wanted, theirs = printed(lowtide, again)
    if header != wanted:
        return f"header\n  {header[:300]}\n  {wanted[:300]}"
    wrapped = set(re.findall(r" async-start\(.*?, calls=%([\w.\-]+)", "\n".join(sum(ours.values(), []))))
    if ours.keys() - wrapped != theirs.keys() - wrapped:
        return f"computations {sorted(ours.keys() ^ theirs.keys())[:5]} are in one of the two only"
    for name, lines in theirs.items():
        if len(lines) != len(ours[name]):
            return f"{name} has {len(ours[name])} instructions, not {len(lines)}"
        for a, b in zip(ours[name], lines):
            if differs(a, b):
                return f"{name}\n  {a.strip()[:400]}\n  {b.strip()[:400]}"
    return None


def main():
    lowtide, total, refused, wrong = sys.argv[1], 0, 0, 0
    with tempfile.TemporaryDirectory() as directory:
        for path in programs(sys.argv[2:]):
            with open(path) as f:
                text = f.read()
            total += 1
            try:
                fault = fault_of(lowtide, text, directory)
            except Refused:
                refused += 1
                continue
            except RuntimeError as error:
                fault = str(error)
            if fault:
                wrong += 1
                print(f"{path}: {fault}")
    print(f"{total} programs, {wrong} wrong, {refused} refused by jaxlib")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
