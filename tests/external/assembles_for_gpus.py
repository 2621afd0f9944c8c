#!/usr/bin/env python3
"""Every nest of the given programs, as PTX, is taken by NVIDIA's assembler: for each processor with the promise that no two
buffers share bytes, for the first one without it, too. A control: it refuses PTX that is broken.

usage: assembles_for_gpus.py GRID_TEST [--plain-set] FILE_OR_DIRECTORY...
LOWTIDE_PTXAS names the assembler; else it is looked for beside this Python and on the PATH.
"""
import concurrent.futures
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

PROCESSORS = ("80", "90")


def find_ptxas():
    named = os.environ.get("LOWTIDE_PTXAS")
    if named:
        return named
    packages = glob.glob(os.path.join(sys.prefix, "lib/python*/site-packages/nvidia/*/bin/ptxas"))
    return packages[0] if packages else shutil.which("ptxas")


def assemble(ptxas, path):
    """Whether it was taken, and what was said."""
    processor = re.search(r"sm_(\d+)", os.path.basename(path)).group(1)
    with tempfile.NamedTemporaryFile(suffix=".cubin") as cubin:
        done = subprocess.run([ptxas, "-v", f"-arch=sm_{processor}", path, "-o", cubin.name], capture_output=True, text=True)
        return done.returncode == 0 and os.path.getsize(cubin.name) > 0, done.stdout + done.stderr


def broken(text):
    """Ways in which a compiler could go wrong: a type that doesn't fit, an unknown instruction, a call to nowhere."""
    yield "type", re.sub(r"\bst\.global\.[us]\d+\s+\[(%rd\d+)\], %\w+;", r"st.global.f64 [\1], %p1;", text, count=1)
    yield "instruction", text.replace("\tret;", "\tex2.rn.f64 %p1, %p1;\n\tret;", 1)
    yield "call", text.replace("\tret;", "\tcall.uni llvm_exp_f32, ();\n\tret;", 1)


def main():
    grid_test, *programs = sys.argv[1:]
    given = [p for p in programs if p.startswith("--") or os.path.exists(p)]
    if not given:
        print("SKIP: no such programs")
        return 0
    ptxas = find_ptxas()
    with tempfile.TemporaryDirectory() as folder:
        options = [word for processor in PROCESSORS for word in ("--sm", processor)]
        made = subprocess.run([grid_test, "--write", folder, *options, *given], capture_output=True, text=True)
        print(made.stdout, end="")
        if made.returncode != 0:
            print(made.stderr)
            return 1
        if not ptxas or not shutil.which(ptxas):
            print("SKIP: PTX was made, but there is no ptxas to assemble it (LOWTIDE_PTXAS, tests/requirements.txt)")
            return 0
        files = sorted(glob.glob(folder + "/*.ptx"))
        taken, refused, spills, stacks, most_registers = {}, [], 0, 0, 0
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for path, (well, said) in zip(files, pool.map(lambda f: assemble(ptxas, f), files)):
                kind = os.path.basename(path).split(".", 1)[1].removesuffix(".ptx")
                counts = taken.setdefault(kind, [0, 0])
                counts[0] += well
                counts[1] += 1
                if not well:
                    refused.append(f"{os.path.basename(path)}: {said[:500]}")
                spills += any(int(n) > 0 for n in re.findall(r"(\d+) bytes spill", said))
                stacks += any(int(n) > 0 for n in re.findall(r"(\d+) bytes stack frame", said))
                most_registers = max([most_registers, *map(int, re.findall(r"Used (\d+) registers", said))])
        print("\n".join(refused[:20]))
        for kind, (well, all_of_them) in sorted(taken.items()):
            print(f"{kind}: {well} of {all_of_them} nests assemble")
        print(f"{stacks} with a stack frame, {spills} spill registers, {most_registers} registers at most")
        controls = 0
        with open(files[0]) as file:
            text = file.read()
        for what, changed in broken(text):
            path = os.path.join(folder, f"broken_{what}.sm_{PROCESSORS[0]}.ptx")
            with open(path, "w") as file:
                file.write(changed)
            if changed == text:
                continue
            well, _ = assemble(ptxas, path)
            controls += 1
            if well:
                print(f"control: a broken {what} was taken")
                return 1
        print(f"{controls} broken kernels refused")
        return 1 if refused or controls < 2 else 0


if __name__ == "__main__":
    sys.exit(main())
