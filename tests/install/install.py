#!/usr/bin/env python3
"""install.py BUILD SOURCE [--control]: what `make install` makes is found and used from outside the tree.

examples/embed is built with find_package against the shared library and against the static one, and with pkg-config; each
runs a program in two plans at once. With --control the library that compiles kernels is missing, and that must be noticed.
"""
import os
import re
import subprocess
import sys
import tempfile

PROGRAM = """HloModule outer
ENTRY main {
  x = f32[512] parameter(0)
  y = f32[512] parameter(1)
  rows = f32[512,512] broadcast(x), dimensions={0}
  columns = f32[512,512] broadcast(y), dimensions={1}
  s = f32[512,512] sine(rows)
  m = f32[512,512] multiply(s, columns)
  ROOT d = f32[512] dot(m, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
"""


def call(*words, **more):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, **more)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, words))}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def main():
    build, source, control = sys.argv[1], sys.argv[2], "--control" in sys.argv
    with tempfile.TemporaryDirectory() as folder:
        prefix, example = os.path.join(folder, "prefix"), os.path.join(source, "examples", "embed")
        program = os.path.join(folder, "outer.hlo")
        with open(program, "w") as file:
            file.write(PROGRAM)
        call("cmake", "--install", build, "--prefix", prefix)
        libraries = next(os.path.join(at, "") for at, _, names in os.walk(prefix) if "liblowtide.so" in names)
        if control:
            os.remove(libraries + "liblowtide_llvm.so")
        made = []
        for library in ("lowtide::lowtide",) if control else ("lowtide::lowtide", "lowtide::static"):
            at = os.path.join(folder, library.replace(":", "_"))
            os.mkdir(at)
            for name in ("CMakeLists.txt", "main.cpp"):
                with open(os.path.join(example, name)) as old, open(os.path.join(at, name), "w") as new:
                    new.write(old.read().replace("lowtide::lowtide", library))
            call("cmake", "-S", at, "-B", at + "/build", f"-DCMAKE_PREFIX_PATH={prefix}")
            call("cmake", "--build", at + "/build")
            made.append(at + "/build/embed")
        if not control:
            environment = {**os.environ, "PKG_CONFIG_PATH": libraries + "pkgconfig"}
            flags = call("pkg-config", "--cflags", "--libs", "lowtide", env=environment).split()
            made.append(os.path.join(folder, "by_pkg_config"))
            call("c++", os.path.join(example, "main.cpp"), "-o", made[-1], *flags, f"-Wl,-rpath,{libraries}")
            # A static library has its kernels' compiler beside whatever it is linked into.
            os.symlink(libraries + "liblowtide_llvm.so", os.path.join(os.path.dirname(made[1]), "liblowtide_llvm.so"))
        for embed in made:
            done = subprocess.run([embed, program], capture_output=True, text=True)
            peaks = dict(re.findall(r"^(free|tightest): peak (\d+) bytes, ran$", done.stdout, re.M))
            good = done.returncode == 0 and len(peaks) == 2 and int(peaks["tightest"]) <= int(peaks["free"]) and "outer" in done.stdout
            if good == control:
                print(f"{embed}: exit {done.returncode}\n{done.stdout}{done.stderr}")
                return 1
            print(f"{os.path.basename(embed)}: {peaks or 'noticed: ' + done.stderr.strip()}")
    return 0


sys.exit(main())
