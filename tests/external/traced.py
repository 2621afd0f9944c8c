"""Functions that JAX traces, as programs for `lowtide run` with their tensors, and the count of what is wrong with them.

Prints SKIP and ends the process where jax isn't there."""
import json
import os
import struct
import sys

import checks

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
try:
    import jax
    import ml_dtypes
    import numpy as np
    from jaxlib._hlo import HloPrintOptions
except ImportError as missing:
    print(f"SKIP {os.path.splitext(os.path.basename(sys.argv[0]))[0]}: {missing}")
    sys.exit(0)

TYPES = {"F32": np.float32, "F16": np.float16, "BF16": ml_dtypes.bfloat16, "U32": np.uint32, "I32": np.int32, "BOOL": np.bool_,
         "U8": np.uint8, "U16": np.uint16, "U64": np.uint64, "I8": np.int8, "I64": np.int64, "F64": np.float64,
         "C64": np.complex64, "C128": np.complex128}
NAMES = {np.dtype(t): name for name, t in TYPES.items()}


def forms(function, arguments, *names):
    """The program under each name, with it: lowered.hlo, optimised.hlo (as XLA:CPU runs it), stable.mlir."""
    lowered = jax.jit(function, keep_unused=True).lower(*arguments)
    whole = HloPrintOptions()
    whole.print_large_constants = True
    texts = {"lowered.hlo": lambda: lowered.compiler_ir("hlo").get_hlo_module().to_string(whole),
             "optimised.hlo": lambda: lowered.compile().runtime_executable().hlo_modules()[0].to_string(whole),
             "stable.mlir": lowered.as_text}
    for name in names:
        yield name, texts[name]()


def results(function, arguments):
    """What JAX computes, as one list of arrays."""
    return [np.asarray(r) for r in jax.tree_util.tree_leaves(jax.jit(function)(*arguments))]


def save(path, arrays):
    """Writes arrays as the safetensors arg0, arg1, ..."""
    head, at = {}, 0
    for i, a in enumerate(arrays):
        head[f"arg{i}"] = {"dtype": NAMES[a.dtype], "shape": list(a.shape), "data_offsets": [at, at + a.nbytes]}
        at += a.nbytes
    text = json.dumps(head).encode()
    text += b" " * (-len(text) % 64)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + b"".join(a.tobytes() for a in arrays))


def load(path):
    """The arrays out0, out1, ... of a safetensors file."""
    with open(path, "rb") as file:
        raw = file.read()
    length = struct.unpack("<Q", raw[:8])[0]
    head = json.loads(raw[8:8 + length])
    head.pop("__metadata__", None)
    body = raw[8 + length:]
    return [np.frombuffer(body[slice(*v["data_offsets"])], TYPES[v["dtype"]]).reshape(v["shape"])
            for _, v in sorted(head.items(), key=lambda e: int(e[0][3:]))]


def write(path, text, arguments):
    """Writes a program, and its arguments beside it."""
    with open(path, "w") as file:
        file.write(text)
    save(path + ".safetensors", arguments)


def run(lowtide, path, *words, **knobs):
    """Runs what was written: (what is wrong or None, what --json says, results). words, knobs: options, environment."""
    out = path + ".out"
    code, report, told = checks.run(lowtide, path, "--inputs", path + ".safetensors", "--outputs", out, *words, **knobs)
    if code != 0:
        return f"exit {code} {told[-300:]}", report, []
    found = load(out)
    os.remove(out)
    return None, report, found


class Tally:
    """Cases that were judged, and those at fault; a case whose name starts with CONTROL must be found wrong."""

    def __init__(self):
        self.count, self.bad = 0, 0

    def judged(self, name, where, found):
        """Counts a case; `found` says what is wrong with it, or is empty."""
        if name.startswith("CONTROL"):
            found = None if found else "a control that passed"
        self.count += 1
        if found:
            self.bad += 1
            print(f"  {name}{where}: {found}", flush=True)

    def verdict(self, what="programs"):
        """Prints the counts; the exit code of the check."""
        print(f"{self.count} {what}, {self.bad} wrong")
        return 1 if self.bad or not self.count else 0
