"""bytecode_written.py LOWTIDE FILES...: programs written as .mlirbc are, where jaxlib reads them, the modules that jaxlib's own
serialisation of their StableHLO text gives, and read by Lowtide again they run through. --control: one file is damaged."""
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
MOST_BYTES = 300_000  # of a program's text; larger ones say nothing new


def programs(places):
    for place in places:
        if os.path.isfile(place):
            yield place
        for folder, _, names in os.walk(place):
            for name in sorted(names):
                path = os.path.join(folder, name)
                if name.endswith((".hlo", ".mlir")) and os.path.getsize(path) < MOST_BYTES:
                    yield path


def main():
    try:
        from jax._src.interpreters import mlir
        from jax._src.lib.mlir import ir
        from jaxlib.mlir.dialects import stablehlo
    except ImportError as error:
        print(f"SKIP: {error}")
        return 0
    lowtide, places = sys.argv[1], [place for place in sys.argv[2:] if place != "--control"]
    control = "--control" in sys.argv
    same, refused, passed_over, wrong = 0, [], 0, []
    with tempfile.TemporaryDirectory() as folder:
        text, written, again = (os.path.join(folder, name) for name in ("a.mlir", "a.mlirbc", "b.mlirbc"))
        def write(source, output):
            return subprocess.run([lowtide, "opt", source, "--passes", "", "-o", output], capture_output=True, text=True, timeout=120)
        for path in programs(places):
            if write(path, text).returncode != 0:
                passed_over += 1  # read by none, or of what StableHLO lacks
                continue
            ran = write(path, written)
            if ran.returncode != 0:
                (refused if ran.returncode in (3, 6) else wrong).append((path, ran.stderr.splitlines()[0]))
                continue
            with open(written, "rb") as file:
                artifact = file.read()
            if control and same == 3 and not wrong:
                artifact = artifact.replace(b"add_v1", b"and_v1") if b"add_v1" in artifact else artifact[:-9]
            with mlir.make_ir_context() as context:
                with open(text) as file:
                    source = file.read()
                try:
                    module = ir.Module.parse(source)
                except ir.MLIRError:
                    passed_over += 1
                    continue
                try:
                    got = stablehlo.deserialize_portable_artifact(context, artifact).operation.get_asm()
                except Exception as error:
                    wrong.append((path, str(error)[:200]))
                    continue
                theirs = stablehlo.serialize_portable_artifact(module, "1.13.0", allow_other_dialects=True)
                wanted = stablehlo.deserialize_portable_artifact(context, theirs).operation.get_asm()
            if got != wanted:
                wrong.append((path, "another module"))
            elif write(written, again).returncode != 0:
                wrong.append((path, "it isn't read again"))
            else:
                same += 1
    print(f"{same} the same, {len(refused)} refused, {passed_over} passed over, {len(wrong)} wrong {wrong[:4]}")
    for path, why in refused:
        print(f"refused: {os.path.basename(path)}: {why}")
    if control:
        return int(len(wrong) != 1)
    return int(bool(wrong) or same < 20 or len(refused) * 10 > same)


if __name__ == "__main__":
    sys.exit(main())
