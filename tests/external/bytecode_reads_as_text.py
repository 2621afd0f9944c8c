"""bytecode_reads_as_text.py LOWTIDE [FOLDER..] [--random LOWTIDE_RANDOM [--count N] [--seed S]] [--control]

Each .mlir serialised by jaxlib, at several versions of VHLO, is the same module as its text; jax.export's files as well, around
steps that are written here; and random programs, which Lowtide turns into StableHLO, at three versions. --control: one artifact is
another program's, which must be noticed. Prints what differs; exit 1 where anything does."""
import argparse
import difflib
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import xla

VERSIONS = ("1.0.0", "1.7.0", "1.13.7", "1.15.0", "1.17.0")
FEW_VERSIONS = ("1.1.0", "1.9.0", "1.17.0")  # of random programs


def renamed(text):
    """With the values of each computation called by the order in which they appear: text has names for them, bytecode has none."""
    def of_one(computation):
        names = {}
        computation = re.sub(r"%[\w.-]+", lambda m: names.setdefault(m[0], f"%v{len(names)}"), computation)
        return re.sub(r"\b[\w.-]+(?=: (?:\w+\[|\())", "p", computation)  # parameters in its signature
    return "\n\n".join(map(of_one, text.split("\n\n")))


def printed(lowtide, path):
    """HLO text of a file, or what is wrong with it."""
    ran = subprocess.run([lowtide, "opt", "--passes", "", str(path)], capture_output=True, text=True, timeout=300)
    return (renamed(ran.stdout), None) if ran.returncode == 0 else (None, f"exit {ran.returncode}: {(ran.stderr.strip().splitlines() or [''])[0]}")


def artifacts(text, versions=VERSIONS):
    """(version, bytes) of a module; of those versions that know all of its operations."""
    from jax._src.interpreters import mlir
    from jax._src.lib.mlir import ir
    from jaxlib.mlir.dialects import stablehlo
    for version in versions:
        with mlir.make_ir_context():
            module = ir.Module.parse(text)  # each time: serialising changes it
            try:
                yield version, stablehlo.serialize_portable_artifact(module, version, allow_other_dialects=True)
            except Exception:
                continue


def as_jaxlib_prints(text):
    """With all places, which the short forms leave out."""
    from jax._src.interpreters import mlir
    from jax._src.lib.mlir import ir
    with mlir.make_ir_context():
        return ir.Module.parse(text).operation.get_asm(enable_debug_info=True, print_generic_op_form=True)


def as_jaxlib_reads(artifact):
    """The text of the module in an artifact: serialising moves the constant operand of some operations of chlo to the right."""
    from jax._src.interpreters import mlir
    from jaxlib.mlir import ir
    from jaxlib.mlir.dialects import stablehlo
    with mlir.make_ir_context() as context:
        module = stablehlo.deserialize_portable_artifact(context, artifact)
        module = module if hasattr(module, "operation") else ir.Module.parse(module)
        return module.operation.get_asm(enable_debug_info=True, print_generic_op_form=True)


def exported_steps():
    """(name, text, serialised) of functions of JAX's."""
    import jax
    import jax.numpy as jnp
    from jax import export
    x, tokens = jnp.ones((8, 16)), jnp.zeros((8,), jnp.int32)

    def loss(params, x, tokens):
        h = jax.nn.gelu(x @ params["in"] + params["bias"])
        h = jax.nn.softmax(h @ params["out"], axis=-1)
        return -jnp.take_along_axis(jnp.log(h), tokens[:, None], axis=1).mean()

    def step(params, x, tokens):
        value, slope = jax.value_and_grad(loss)(params, x, tokens)
        return jax.tree.map(lambda p, g: p - 0.1 * g, params, slope), value

    params = {"in": jnp.ones((16, 32)) / 16, "bias": jnp.zeros(32), "out": jnp.ones((32, 10)) / 32}
    yield "step", jax.jit(step, donate_argnums=0), (params, x, tokens)
    yield "scan", jax.jit(lambda x: jax.lax.scan(lambda c, y: (c + y, jnp.sin(c)), x[0], x)), (x,)
    yield "branches", jax.jit(lambda x: jax.lax.cond(x.sum() > 0, jnp.sin, jnp.cos, x)), (x,)
    yield "random", jax.jit(lambda key: jax.random.normal(key, (4, 4))), (jax.random.key(0),)
    yield "constants", jax.jit(lambda x: x + jnp.arange(128.0).reshape(8, 16) * jnp.array([[True, False] * 8] * 8)), (x,)
    yield "special", jax.jit(lambda x: (jax.lax.top_k(x, 3), jax.scipy.special.erf(x), jax.lax.lgamma(x + 1))), (x,)


def random_programs(lowtide, program, count, seed, folder):
    """(name, text) of random programs as StableHLO; None for what it lacks, or jaxlib doesn't take."""
    subprocess.run([program, "write", folder, "--count", str(count), "--seed", str(seed)], check=True, capture_output=True, timeout=600)
    for path in sorted(pathlib.Path(folder).glob("*.hlo")):
        text = path.with_suffix(".mlir")
        ran = subprocess.run([lowtide, "opt", "--passes", "", str(path), "-o", str(text)], capture_output=True, timeout=60)
        try:
            yield path.name, as_jaxlib_prints(text.read_text()) if ran.returncode == 0 else None
        except Exception:
            yield path.name, None


def main():
    if xla.absent():
        print(f"SKIP: no jaxlib: {xla.absent()}")
        return 0
    parser = argparse.ArgumentParser()
    parser.add_argument("lowtide")
    parser.add_argument("folders", nargs="*")
    parser.add_argument("--random")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--control", action="store_true")
    options = parser.parse_args()
    lowtide, folders = options.lowtide, [f for f in options.folders if os.path.exists(f)]
    files = sorted({p for f in folders for p in pathlib.Path(f).rglob("*.mlir") if "errors" not in p.parts})
    compared = same = unread = 0
    wrong, refused = [], []
    with tempfile.TemporaryDirectory() as folder:
        text_file, bytes_file = pathlib.Path(folder, "program.mlir"), pathlib.Path(folder, "program.mlirbc")

        def compare(name, version, text, artifact, own=None):
            """own: the text's own artifact, as which jaxlib reads it where that isn't the text."""
            nonlocal compared, same
            text_file.write_text(text)
            bytes_file.write_bytes(artifact)
            (want, why), (got, fault) = printed(lowtide, text_file), printed(lowtide, bytes_file)
            if want is None:
                return
            compared += 1
            if got and got != want and own:
                text_file.write_text(as_jaxlib_reads(own))
                want = printed(lowtide, text_file)[0] or want
            if got == want:
                same += 1
                return
            if fault and fault.startswith("exit 6"):
                refused.append(f"{name} at {version}: {fault}")
                return
            lines = [line for line in difflib.unified_diff(want.splitlines(), (got or "").splitlines(), "text", "bytecode", "", "", 0, "")][2:]
            wrong.append(f"{name} at {version}: {fault or ' | '.join(lines[:3])[:400]}")

        for path in files:
            for section in path.read_text().split("\n// -----"):
                try:
                    # Whose dialect jaxlib doesn't have; what they check is computed all the same.
                    text = as_jaxlib_prints(re.sub(r"^ *check\..*$", "", section, flags=re.M))
                except Exception as error:
                    unread += 1
                    if os.environ.get("VERBOSE"):
                        print(path, str(error)[:300].replace("\n", " "))
                    continue
                for version, artifact in artifacts(text):
                    compare(path, version, text, artifact)
        if options.random:
            before = {}
            with tempfile.TemporaryDirectory() as programs:
                for name, text in random_programs(lowtide, options.random, options.count, options.seed, programs):
                    if text is None:
                        unread += 1
                        continue
                    for version, artifact in artifacts(text, FEW_VERSIONS):
                        other = options.control and compared == 4
                        compare(name, version, text, before.get(version, artifact) if other else artifact, artifact)
                        before[version] = artifact
        try:
            import flatbuffers  # noqa: F401: which serialize() needs
            steps = () if options.random else exported_steps()
        except ImportError:
            print("without jax.export's files: no flatbuffers")
            steps = ()
        from jax import export
        for name, function, arguments in steps:
            serialised = export.export(function)(*arguments)
            compare(f"jax.export of {name}", "its own version", as_jaxlib_prints(serialised.mlir_module()), bytes(serialised.serialize()))
    for line in wrong + refused:
        print(line)
    print(f"{same} of {compared} artifacts are the module of their text, {len(refused)} are refused by name; jaxlib doesn't read {unread} of the texts")
    if options.control:
        return 0 if len(wrong) == 1 else 1
    return 1 if wrong or compared == 0 or (options.random and refused) else 0


if __name__ == "__main__":
    sys.exit(main())
