"""What the checks here share: their options, the cases they are asked for, and runs of the command."""
import argparse
import fnmatch
import json
import os
import re
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SHARED = os.environ.get("LOWTIDE_SHARED", os.path.join(os.path.dirname(ROOT), "shared"))
OPTIONS = {
    "lowtide": {"default": os.path.join(ROOT, "build", "lowtide"), "help": "the command"},
    "shared": {"default": SHARED, "help": "a folder with corpus/ and conformance/"},
    "seconds-each": {"type": int, "default": 120, "help": "the most for one run"},
    "jobs": {"type": int, "default": 1, "help": "runs at a time"},
    "every": {"type": int, "default": 1, "help": "only every so many of the programs"},
    "keep": {"help": "a folder for the programs"},
}


def parser(doc, *names, patterns=False):
    """A parser of the named OPTIONS, whose help is a check's docstring; with patterns of names after them, if asked for."""
    p = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in names:
        p.add_argument("--" + name, **OPTIONS[name])
    if patterns:
        p.add_argument("patterns", nargs="*", help="names, as of files: with * and ?")
    return p


def wanted(name, patterns):
    """Whether a name is asked for: by any pattern, or because there is none."""
    return not patterns or any(fnmatch.fnmatch(name, pattern) for pattern in patterns)


def missing(*paths):
    """The first path that isn't there, or None."""
    return next((path for path in paths if not os.path.exists(path)), None)


def run(lowtide, *words, seconds=120, **knobs):
    """`lowtide run`: (exit code or "timeout", what --json says, the line of stderr that tells most). knobs: environment."""
    try:
        done = subprocess.run([lowtide, "run", *words, "--json"], capture_output=True, timeout=seconds, env={**os.environ, **knobs})
    except subprocess.TimeoutExpired:
        return "timeout", {}, f"more than {seconds} s"
    lines = done.stderr.decode(errors="replace").strip().split("\n")
    said = json.loads(done.stdout) if done.returncode == 0 else {}
    return done.returncode, said, next((line for line in lines if "lowtide:" in line), lines[-1])


def unsupported(words):
    """What a refusal is about, without the place in the program: to be counted."""
    return re.sub(r"^.*?: (?=\S+ \S*: |custom)", "", words)[:90]
