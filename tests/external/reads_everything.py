#!/usr/bin/env python3
"""Every program given: `lowtide opt --passes ""` prints it, reads its own print to the same text, loses no instruction,
and jaxlib reads the print wherever it reads the original.

usage: reads_everything.py LOWTIDE FILE_OR_DIRECTORY...   (directories: every .hlo, and every .txt that holds a module)
"""
import glob
import os
import re
import subprocess
import sys
import tempfile

try:
    from jaxlib._hlo import hlo_module_from_text
except ImportError:
    hlo_module_from_text = None

TAKEN_APART = re.compile(r"^\s+%?[\w.\-]+\.start\.\d+ = ", re.M)
INSTRUCTION = re.compile(r"^\s+(?:ROOT )?%?[\w.\-]+ = ", re.M)


def programs(arguments):
    for argument in arguments:
        if not os.path.exists(argument):
            print(f"{argument} isn't there: left out")
        if os.path.isfile(argument):
            yield argument
            continue
        for name in sorted(glob.glob(argument + "/**/*", recursive=True)):
            if name.endswith(".hlo"):
                yield name
            elif name.endswith(".txt"):
                with open(name, errors="replace") as f:
                    if f.read(9) == "HloModule":
                        yield name


def jaxlib_count(text):
    """Instructions as jaxlib counts them; None where it refuses the text."""
    if hlo_module_from_text is None:
        return None
    try:
        module = hlo_module_from_text(text)
    except Exception:  # any refusal of another parser is the same to us
        return None
    return len(INSTRUCTION.findall(module.to_string()))


def fault_of(lowtide, path, directory):
    once, twice = directory + "/once.hlo", directory + "/twice.hlo"
    for source, target in ((path, once), (once, twice)):
        done = subprocess.run([lowtide, "opt", source, "--passes", "", "-o", target], capture_output=True, text=True)
        if done.returncode:
            return f"opt exits {done.returncode}: {done.stderr.strip()[:200]}"
    with open(path) as f:
        original = f.read()
    with open(once) as f:
        printed = f.read()
    with open(twice) as f:
        if f.read() != printed:
            return "the print of the print differs"
    # Start indices that are one vector are read as its elements, each a slice and a reshape or a reshape alone.
    taken_apart = 0 if TAKEN_APART.search(original) else len(TAKEN_APART.findall(printed))
    if len(INSTRUCTION.findall(original)) != len(INSTRUCTION.findall(printed)) - taken_apart:
        return "instructions were lost or added"
    theirs = jaxlib_count(original)
    if theirs is not None and jaxlib_count(printed) != theirs + taken_apart:
        return "jaxlib refuses the print, or counts other instructions in it"
    return None


def main():
    lowtide, total, wrong = sys.argv[1], 0, []
    with tempfile.TemporaryDirectory() as directory:
        for path in programs(sys.argv[2:]):
            total += 1
            fault = fault_of(lowtide, path, directory)
            if fault:
                wrong.append(path)
                print(f"{path}: {fault}")
    asked = "asked" if hlo_module_from_text else "absent"
    print(f"{total} programs, {len(wrong)} wrong, jaxlib {asked}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
