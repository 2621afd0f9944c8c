#!/usr/bin/env python3
"""Constants that a text abbreviates are unknown: nothing runs them, everything else answers. And programs that once took
long by their form alone.

  unknown_values.py build/lowtide
"""
import sys

from command import Lowtide, require, verdict

# The constant is a summand, or places to gather at.
USES = {"summand": ("f32[16]", "f32[16] add(x, w)"),
        "places": ("s32[4,1]", "f32[4] gather(x, w), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, "
                               "index_vector_dim=1, slice_sizes={1}")}
KNOWN = {"summand": "{1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16}", "places": "{ {0}, {1}, {2}, {3} }"}


def program(shape, use, value):
    return f"HloModule m\nENTRY main {{\n  x = f32[16] parameter(0)\n  w = {shape} constant({value})\n  ROOT r = {use}\n}}\n"


def sines(count):
    lines = "\n".join(f"  v{i} = f32[1024] sine(v{i - 1})" for i in range(1, count))
    return f"HloModule m\nENTRY main {{\n  v0 = f32[1024] parameter(0)\n{lines}\n  ROOT r = f32[1024] sine(v{count - 1})\n}}\n"


def main():
    with Lowtide(sys.argv[1]) as lowtide:
        for name, (shape, use) in USES.items():
            file = lowtide.at(name + ".hlo", program(shape, use, "{...}"))
            for words in (("run", file), ("run", file, "--interpret"), ("fit", file, "--check"), ("fit", file, "--check-small")):
                code, _, error = lowtide.run(*words)
                require(code == 3 and "w " + shape in error and ":4:" in error and "xla_dump_large_constants" in error,
                        f"{name}: {words[0]} {words[2:]}: exit {code}, {error[-300:]!r}")
            for words in (("explain", file), ("fit", file), ("opt", file, "-o", "-")):
                code, out, error = lowtide.run(*words)
                require(code == 0, f"{name}: {words[0]}: exit {code}, {error[-300:]!r}")
            require("constant({...})" in out, f"{name}: opt doesn't print the constant as it came: {out[-300:]!r}")
            # The control: with its elements it runs.
            known = lowtide.at(name + "_known.hlo", program(shape, use, KNOWN[name]))
            code, _, error = lowtide.run("run", known)
            require(code == 0, f"{name}: with all elements: exit {code}, {error[-300:]!r}")
        # One kernel of all of them takes a minute to compile.
        code, out, error = lowtide.run("run", lowtide.at("sines.hlo", sines(1000)))
        require(code == 0 and "kernels" in out and int(out.split(" kernels")[0].split()[-1]) >= 8,
                f"1,000 sines: exit {code}, {out[-300:]!r} {error[-300:]!r}")
    return verdict()


if __name__ == "__main__":
    sys.exit(main())
