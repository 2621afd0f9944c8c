#!/usr/bin/env python3
"""The pipeline over whole programs: the module stays well-formed and computes the same bits (LOWTIDE_CHECK=1 compares with the
interpreter after each pass), jaxlib reads what comes out, and a second run finds nothing more to do.

usage: passes_keep_results.py LOWTIDE FILE_OR_DIRECTORY... [--largest BYTES]
Programs whose file is larger than --largest (60000), or not named *.small.hlo in a directory, are not interpreted: they are
rewritten, verified, read by jaxlib and rewritten again.
"""
import glob
import os
import re
import subprocess
import sys
import tempfile

import checks

try:
    from jaxlib._hlo import hlo_module_from_text
except ImportError:
    hlo_module_from_text = None


def programs(arguments):
    """(path, is it given by name)"""
    for argument in arguments:
        if os.path.isdir(argument):
            for path in sorted(glob.glob(argument + "/**/*.hlo", recursive=True)):
                yield path, False
        else:
            yield argument, True


def opt(lowtide, path, out, check):
    environment = dict(os.environ, LOWTIDE_CHECK="1" if check else "0")
    done = subprocess.run([lowtide, "opt", path, "-o", out], capture_output=True, text=True, env=environment)
    return done.returncode, done.stderr.strip()


def main():
    p = checks.parser(__doc__)
    p.add_argument("lowtide")
    p.add_argument("programs", nargs="*", default=[os.path.join(checks.SHARED, "corpus")])
    p.add_argument("--largest", type=int, default=60000)
    options = p.parse_args()
    found = list(programs(options.programs))
    if not found or not os.path.exists(found[0][0]):
        print(f"SKIP: no programs at {options.programs}")
        return 0
    interpreted, read, wrong, not_compared = 0, 0, [], []
    with tempfile.TemporaryDirectory() as folder:
        once, twice = os.path.join(folder, "once.hlo"), os.path.join(folder, "twice.hlo")
        for path, by_name in found:
            check = (by_name or path.endswith(".small.hlo")) and os.path.getsize(path) <= options.largest
            code, words = opt(options.lowtide, path, once, check)
            if code != 0:
                wrong.append((path, f"exit {code}: {words[:300]}"))
                continue
            why = re.search(r"not compared: (.*)", words)
            if why:
                not_compared.append((path, why[1]))
            interpreted += check and not why
            with open(once) as f:
                text = f.read()
            if hlo_module_from_text is not None:
                try:
                    hlo_module_from_text(text)
                    read += 1
                except Exception as error:
                    wrong.append((path, f"jaxlib: {str(error)[:300]}"))
            code, words = opt(options.lowtide, once, twice, False)
            with open(twice) as f:
                if code != 0 or f.read() != text:
                    wrong.append((path, f"a second run still changes it (exit {code}) {words[:200]}"))
    print(f"{len(found)} programs: {interpreted} compute the same bits, {len(not_compared)} can't be interpreted, "
          f"{read} read by jaxlib, {len(wrong)} wrong")
    for path, words in not_compared + wrong:
        print(f"  {path}: {words}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
