#!/usr/bin/env python3
"""Every option of every subcommand that takes a value refuses an empty one, and gates refuse what is no number: exit 2.

  options.py build/lowtide
"""
import re
import sys

from command import SMALL, Lowtide, require, verdict

BEFORE = {"explain": ["M"], "fit": ["M"], "run": ["M"], "diff": ["M", "M"], "check": ["M"], "opt": ["M"], "plan": ["CSV"],
          "reduce": ["M"]}
MAY_BE_EMPTY = {("opt", "--passes")}
GOOD = {("run", "--rtol"): "1e-3", ("run", "--atol-of-max"): "0", ("diff", "--fail-above"): "0.5", ("run", "--limit"): "1GiB",
        ("fit", "--limit"): "1GiB", ("check", "--max-peak"): "1GiB", ("plan", "--capacity"): "1KiB", ("run", "--seed"): "7",
        ("explain", "--machine"): "h100", ("fit", "--machine"): '{"base": "v5p", "cores": 1}', ("run", "--machine"): "zen5"}


def options_with_values(lowtide, command):
    """The names of a subcommand's options that take a value, as its --help lists them."""
    listed = lowtide.run(command, "--help")[1].split("Options:")[1]
    return [m.group(1) for m in re.finditer(r"^  (?:-\w,)?(--?[\w-]+) (?:TEXT|FLOAT|INT|UINT)", listed, re.M)]


def main():
    with Lowtide(sys.argv[1]) as lowtide:
        files = {"M": lowtide.at("m.hlo", SMALL), "CSV": lowtide.at("b.csv", "id,lower,upper,size\na,0,2,64\nb,1,3,64\n")}
        seen = set()
        for command, inputs in BEFORE.items():
            words = [command, *(files[word] for word in inputs)]
            for option in options_with_values(lowtide, command):
                seen.add((command, option))
                code, _, error = lowtide.run(*words, option, "")
                if (command, option) in MAY_BE_EMPTY:
                    require(code == 0, f"{command} {option} '': exit {code}, {error}")
                    continue
                require(code == 2 and option in error, f"{command} {option} '': exit {code}, {error!r}")
            for i in range(len(inputs)):
                code = lowtide.run(command, *(files[word] if i != k else "" for k, word in enumerate(inputs)))[0]
                require(code == 2, f"{command} with an empty input: exit {code}")
        # The control: what the list was read for is there, and the same options with values are taken.
        for wanted in [*GOOD, ("run", "--expect"), ("run", "--plan"), ("run", "--outputs"), ("fit", "--output"), ("reduce", "-o")]:
            require(wanted in seen, f"{wanted} isn't among the options that were tried")
        for (command, option), value in GOOD.items():
            code, _, error = lowtide.run(command, *(files[word] for word in BEFORE[command]), option, value)
            require(code == 0, f"{command} {option} {value}: exit {code}, {error!r}")
        for command, option in (("diff", "--fail-above"), ("run", "--rtol"), ("run", "--atol-of-max")):
            for value in ("nan", "-nan", "inf", "-inf", "-1", "1e999"):
                code, _, error = lowtide.run(command, *(files[word] for word in BEFORE[command]), f"{option}={value}")
                require(code == 2 and option in error, f"{command} {option} {value}: exit {code}, {error!r}")
        for value in ("h1000", "{", '{"cores": 0}', '{"cores": 2, "core": 1}', "[]"):
            code, _, error = lowtide.run("fit", files["M"], "--machine", value)
            require(code == 2 and "machine" in error, f"fit --machine {value}: exit {code}, {error!r}")
        described = lowtide.at("machine.json", '{"base": "h100",\n "name": "ours"}')
        code, printed, _ = lowtide.run("fit", files["M"], "--machine", described, "--plan", lowtide.at("p"))
        require(code == 0 and " on ours)" in " ".join(printed.split()), f"fit --machine FILE: exit {code}, {printed!r}")
        require(lowtide.run("run", files["M"], "--plan", lowtide.at("p"), "--machine", described)[0] == 0,
                "a plan isn't read with the machine that it was made for")
        code, _, error = lowtide.run("run", files["M"], "--plan", lowtide.at("p"))
        require(code == 3 and "--machine" in error, f"a plan for another machine: exit {code}, {error!r}")
        for value in ("nan", "-1", "0x10", "1e", "8Gi B", "1EiB", "99999999999PiB"):
            code = lowtide.run("check", files["M"], f"--max-peak={value}")[0]
            require(code == 2, f"check --max-peak {value}: exit {code}")
    return verdict()


if __name__ == "__main__":
    sys.exit(main())
