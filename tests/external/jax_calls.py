"""jax_calls.py LIBRARY ROOT: public functions of JAX's, of many element types and with odd arguments, on Lowtide's devices and on
XLA's in one process (JAX_PLATFORMS=lowtide,cpu). Each row of jax_calls_table.py is an expression of the arrays below. Shapes, types
and integers must be equal, NaNs and infinities stand in the same places, floats differ by rounding. A section of the table is a
process of its own, so that one that ends is seen with the call that ended it. --control: a result is spoilt, which must be noticed."""
import functools
import json
import operator
import re
import subprocess
import sys
import zlib

sys.dont_write_bytecode = True
from jax_calls_table import SECTIONS  # noqa: E402
from platforms import are_missing, environment  # noqa: E402

TYPES = {"b": "bool", "i4": "int4", "u4": "uint4", "i2": "int2", "s8": "int8", "s32": "int32", "s64": "int64", "u8": "uint8", "u16": "uint16", "u32": "uint32",
         "u64": "uint64", "bf16": "bfloat16", "f16": "float16", "f32": "float32", "f64": "float64", "c64": "complex64", "c128": "complex128",
         "e4m3fn": "float8_e4m3fn", "e5m2": "float8_e5m2"}
# The arrays that expressions name, with their own element type where they have one; `n` has the numbers that functions stumble over.
ARRAYS = {"x": (4, 5), "y": (4, 5), "n": (4, 5), "v": (7,), "w": (5,), "t": (2, 3, 4), "g": (3, 3), "s": (), "e": (0, 3),
          "h": (2, 1, 3, 1, 2, 2, 2), "image": (2, 7, 8, 4), "kernel": (3, 3, 4, 6), "groups": (3, 2, 2, 6), "batch": (3, 4, 5),
          "mask": (4, 5, "b"), "k": (4, 5, "s32"), "i": (3, "s32"), "j": (2, 3, "s8"), "u": (3, "u8")}
# Relative to an element, and a tenth of it to the largest: what adding in another order, or rounding less often, makes of a sum.
TOLERANCE = {"float16": 8e-3, "bfloat16": 6e-2, "float32": 5e-5, "complex64": 1e-4, "float64": 1e-10, "complex128": 1e-10,
             "float8_e4m3fn": 0.13, "float8_e5m2": 0.26}


def array(np, dtypes, name, letter):
    """The same in each run."""
    import ml_dtypes
    spec = ARRAYS[name]
    letter, dims = (spec[-1], spec[:-1]) if spec and isinstance(spec[-1], str) else (letter, spec)
    source, dtype = np.random.default_rng(zlib.crc32((letter + name).encode())), dtypes[letter]
    if letter == "b":
        return source.random(dims) > 0.5
    if letter[0] in "iusb" and letter != "bf16":
        limits = ml_dtypes.iinfo(dtype)
        values = source.integers(max(int(limits.min), -30), min(int(limits.max), 30), dims, endpoint=True).astype(object)
        if name == "n":
            values.flat[:4] = [int(limits.min), int(limits.max), 0, 1]
        return np.array(values.tolist(), np.uint64 if letter[0] == "u" else np.int64).reshape(dims).astype(dtype)
    values = source.standard_normal(dims) * 2
    if letter[0] == "c":
        values = values + 1j * source.standard_normal(dims)
        special = [0, 1, -1, 1j, -1j]
    else:
        special = [0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 0.5, -0.5, 2, -2, 3, 1e-3, 20, -20]
    if name == "n":
        values.flat[:len(special)] = special
    with np.errstate(all="ignore"):
        return np.asarray(values).astype(dtype)


def difference(np, got, wanted):
    """Why they aren't the same; empty where they are."""
    if got.shape != wanted.shape or got.dtype != wanted.dtype:
        return f"{got.dtype}{got.shape} instead of {wanted.dtype}{wanted.shape}"
    tolerance = TOLERANCE.get(got.dtype.name)
    if tolerance is None:
        wrong = np.asarray(got != wanted)
    else:
        wide = np.complex128 if got.dtype.kind == "c" else np.float64
        got, wanted = got.astype(wide), wanted.astype(wide)
        parts = [(got.real, wanted.real), (got.imag, wanted.imag)] if wide is np.complex128 else [(got, wanted)]
        sizes = np.abs(wanted[np.isfinite(wanted)])
        scale = sizes.max() if sizes.size else 0.0
        wrong = np.zeros(got.shape, bool)
        for a, b in parts:
            with np.errstate(all="ignore"):
                near = np.abs(a - b) <= tolerance * np.nan_to_num(np.abs(wanted), posinf=0) + tolerance / 10 * scale
            wrong |= ~np.where(np.isfinite(b), near, np.where(np.isnan(b), np.isnan(a), a == b))
    if not wrong.any():
        return ""
    place = tuple(int(at) for at in np.argwhere(wrong)[0])
    return f"{int(wrong.sum())} of {wrong.size}, first at {place}: {got[place]} instead of {wanted[place]}"


def calls(section):
    """(expression, letter of the element type) in order."""
    for types, expressions in SECTIONS[section]["calls"]:
        for expression in expressions:
            yield from ((expression, letter) for letter in types.split())


def outcome(jax, np, call, arguments, device):
    """The leaves of what a call gives, or its error's kind."""
    with jax.default_device(device):
        try:
            leaves = jax.tree.leaves(call(*[jax.numpy.asarray(argument) for argument in arguments]))
            keys = [jax.random.key_data(leaf) if jax.dtypes.issubdtype(leaf.dtype, jax.dtypes.prng_key) else leaf for leaf in leaves]
            return "", [(np.asarray(leaf), leaf.weak_type) for leaf in keys]
        except Exception as error:
            return f"{type(error).__name__}: {str(error)[:200]}", []


def child(section, control):
    """Prints a line before each call and one for each that differs."""
    import jax
    import jax.numpy as jnp
    import jax.scipy as jsp
    import ml_dtypes
    import numpy as np
    ours, theirs = jax.devices("lowtide")[0], jax.devices("cpu")[0]
    assert "lowtide" in ours.client.platform_version and "lowtide" not in theirs.client.platform_version
    dtypes = {letter: np.dtype(getattr(ml_dtypes, name, None) or name) for letter, name in TYPES.items()}
    space = {"jax": jax, "jnp": jnp, "lax": jax.lax, "nn": jax.nn, "random": jax.random, "jsp": jsp, "np": np, "functools": functools, "operator": operator}
    # A function's derivative, its tangents and the function of several, each as a function of the same arguments.
    space["grad"] = lambda f: lambda *a: jax.grad(lambda *b: jnp.sum(jnp.sin(jnp.real(f(*b)))).astype(jnp.float32), argnums=tuple(range(len(a))))(*a)
    space["tangent"] = lambda f: lambda *a: jax.jvp(f, a, tuple(jnp.cos(b) for b in a))
    space["several"] = lambda f: lambda *a: jax.vmap(f)(*[jnp.stack([b * (0.5 + 0.3 * k) for k in range(3)]) for b in a])
    count = wrong = 0
    for number, (expression, letter) in enumerate(calls(section)):
        print(json.dumps({"call": f"{expression} [{letter}]"}), flush=True)
        used = [name for name in dict.fromkeys(re.findall(r"[A-Za-z_]\w*", expression)) if name in ARRAYS]
        arguments = [array(np, dtypes, name, letter) for name in used]
        call = jax.jit(eval(f"lambda {', '.join(used)}: ({expression})", space | {"dtype": dtypes[letter]}))
        (error, got), (expected, wanted) = [outcome(jax, np, call, arguments, device) for device in (ours, theirs)]
        # What XLA can't do it says with its own words, or others than ours.
        why = "" if bool(error) == bool(expected) else f"{error or 'no error'} instead of {expected or 'none'}"
        if expected and not error and letter in ("i4", "u4", "i2", "e4m3fn", "e5m2"):
            why = ""
        if control and number == 3 and got:
            got[0] = (got[0][0] + np.ones((), got[0][0].dtype), got[0][1])
        if not error and not expected:
            reasons = [difference(np, a, b) or ("" if weak == other else "weakly typed on one side") for (a, weak), (b, other) in zip(got, wanted)]
            why = next((reason for reason in reasons if reason), "" if len(got) == len(wanted) else "another number of results")
        if why:
            wrong += 1
            print(json.dumps({"wrong": f"{expression} [{letter}]", "why": why}), flush=True)
        count += 1
        if number % 150 == 149:
            jax.clear_caches()  # programs of both, which nobody calls again
    print(json.dumps({"calls": count, "wrong_calls": wrong}), flush=True)


def main():
    if are_missing("jax", "ml_dtypes"):
        return 0
    library, control = sys.argv[1], "--control" in sys.argv
    names = [word for word in sys.argv[3:] if word in SECTIONS] or (["unary"] if control else list(SECTIONS))
    calls_made, wrong, running = 0, 0, []
    for name in names:
        # XLA would take most of the time to optimise code that runs once.
        variables = environment(library, JAX_PLATFORMS="lowtide,cpu", JAX_ENABLE_X64=str(SECTIONS[name]["wide"]), XLA_FLAGS="--xla_backend_optimization_level=0")
        command = [sys.executable, __file__, "--child", name] + ["--control"] * control
        running.append((name, subprocess.Popen(command, env=variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)))
        while len(running) == 2 or running and name == names[-1]:
            done, process = running.pop(0)
            output, errors = process.communicate(timeout=800)
            lines = [json.loads(line) for line in output.splitlines()]
            for line in lines:
                if "wrong" in line:
                    print(f"{done}: {line['wrong']}: {line['why']}")
            if not lines or "calls" not in lines[-1]:
                print(f"{done}: exit {process.returncode} in {lines[-1] if lines else 'no call'}: {errors[-600:]}")
                return 1
            calls_made, wrong = calls_made + lines[-1]["calls"], wrong + lines[-1]["wrong_calls"]
    print(json.dumps({"calls": calls_made, "wrong": wrong}))
    return int(wrong != 1) if control else int(wrong != 0)


if __name__ == "__main__":
    sys.exit(child(sys.argv[2], "--control" in sys.argv) if sys.argv[1:2] == ["--child"] else main())
