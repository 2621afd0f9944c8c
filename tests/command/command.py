"""What checks of the command share: calls in a folder of their own, faults that are collected, and programs to call it with."""
import json
import os
import resource
import signal
import struct
import subprocess
import sys
import tempfile

FOLDS = """max { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] maximum(a, b) }
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b) }
"""
# A library sorts; its result could lie in its argument, were that donated.
SORT = """HloModule sorts
less { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = pred[] compare(a, b), direction=LT }
ENTRY main {
  x = f32[4096,256] parameter(0)
  ROOT s = f32[4096,256] sort(x), dimensions={1}, to_apply=less
}
"""
SMALL = """HloModule small
ENTRY main {
  x = f32[1000] parameter(0)
  ROOT s = f32[1000] sine(x)
}
"""
faults = []


def attention(rows, columns):
    """Pairwise scores of rows, normalised, then folded: rows x rows numbers that nobody needs at once."""
    wide, long, one = f"f32[{rows},{rows}]", f"f32[{rows},{columns}]", f"f32[{rows}]"
    return f"""HloModule attention
{FOLDS}ENTRY main {{
  q = {long} parameter(0)
  k = {long} parameter(1)
  v = {long} parameter(2)
  s = {wide} dot(q, k), lhs_contracting_dims={{1}}, rhs_contracting_dims={{1}}
  least = f32[] constant(-inf)
  m = {one} reduce(s, least), dimensions={{1}}, to_apply=max
  mb = {wide} broadcast(m), dimensions={{0}}
  d = {wide} subtract(s, mb)
  e = {wide} exponential(d)
  zero = f32[] constant(0)
  n = {one} reduce(e, zero), dimensions={{1}}, to_apply=add
  nb = {wide} broadcast(n), dimensions={{0}}
  p = {wide} divide(e, nb)
  ROOT y = {long} dot(p, v), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
}}
"""


def require(holds, what):
    """Notes `what` as a fault unless it holds."""
    if not holds:
        faults.append(what)


def verdict():
    """Prints every fault and their number; the exit code of the check."""
    for fault in faults:
        print(fault)
    print(f"{len(faults)} faults")
    return 1 if faults else 0


def read(path):
    """The text of a file."""
    with open(path, encoding="utf-8") as f:
        return f.read()


def results(path):
    """The bytes of all tensors in a safetensors file."""
    with open(path, "rb") as f:
        raw = f.read()
    return raw[8 + struct.unpack("<Q", raw[:8])[0]:]


class Lowtide:
    """The command, with a folder for its files and its kernel cache that goes when the context ends."""

    def __init__(self, program, through=()):
        """through: words of a command that is given the program and its arguments instead."""
        self.program = os.path.abspath(program)
        self.through = list(through)
        self._folder = tempfile.TemporaryDirectory()
        self.cache = self.at("cache")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._folder.cleanup()

    def at(self, name, content=None):
        """The path of a name in the folder; given content, text or bytes, it is written there."""
        path = os.path.join(self._folder.name, name)
        if content is not None:
            with open(path, "wb") as f:
                f.write(content.encode() if isinstance(content, str) else content)
        return path

    def start(self, *words, address_space=None, umask=None, ignored=None, prepare=None, stderr=subprocess.PIPE, **knobs):
        """The command on its way. address_space: the most bytes it may map; umask; ignored: a signal that it is started to
        ignore; prepare: called in the new process; knobs: variables of its environment, None for one that isn't set."""
        def cap():
            if umask is not None:
                os.umask(umask)
            if ignored:
                signal.signal(ignored, signal.SIG_IGN)
            if prepare:
                prepare()
            if address_space:
                resource.setrlimit(resource.RLIMIT_AS, (address_space, address_space))
        environment = {**os.environ, "LOWTIDE_CACHE": self.cache, **knobs}
        environment = {name: value for name, value in environment.items() if value is not None}
        return subprocess.Popen([*self.through, self.program, *map(str, words)], stdout=subprocess.PIPE, stderr=stderr, text=True,
                                errors="replace", env=environment, preexec_fn=cap)

    def run(self, *words, **how):
        """(exit code, stdout, stderr); `how` as in start."""
        running = self.start(*words, **how)
        said, error = running.communicate()
        return running.returncode, said, error

    def call(self, *words, **how):
        """(exit code, what --json says, or {}, stderr); `how` as in start."""
        code, said, error = self.run(*words, "--json", **how)
        try:
            return code, json.loads(said), error
        except ValueError:
            return code, {}, error


def run_checks(checks):
    """Runs the functions named after the program, or all of them. With --control each one against the command without the
    manner of its name (rude.py), which it must notice. The exit code of the check."""
    names = [w for w in sys.argv[2:] if not w.startswith("-")]
    chosen = [c for c in checks if not names or c.__name__ in names]
    if "--control" not in sys.argv:
        for check in chosen:
            with Lowtide(sys.argv[1]) as lowtide:
                check(lowtide)
        return verdict()
    rude = os.path.join(os.path.dirname(os.path.abspath(__file__)), "rude.py")
    unnoticed = []
    for check in chosen:
        faults.clear()
        with Lowtide(sys.argv[1], through=(sys.executable, rude, check.__name__)) as lowtide:
            try:
                check(lowtide)
            except (KeyError, OSError, IndexError, ValueError) as fault:
                faults.append(str(fault))
        print(f"{check.__name__}: {len(faults)} faults noticed")
        if not faults:
            unnoticed.append(check.__name__)
    print("unnoticed: " + (", ".join(unnoticed) or "nothing"))
    return 1 if unnoticed else 0
