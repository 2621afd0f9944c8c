#!/usr/bin/env python3
"""Proves that the house is downward-only: a file includes only lower floors, or its own folder; and that no two headers give one
name to two types, which share their functions then; that the checker of plans shares no code with what makes them; and that the command and the plugin see nothing
but include/lowtide. Prints the
floors. --control: the checker and the command include and call what they must not, which must be noticed."""
import pathlib
import re
import sys

FLOORS = {
    "lowtide": 0,  # include/lowtide: the public face, which shows nothing of what is below
    "base": 1,
    "plan": 2, "ir": 2,
    "nest": 3, "lapack": 3,
    "ops": 4,
    "text": 5, "interp": 5, "analysis": 5, "library": 5,
    "target": 6,
    "region": 7,
    "passes": 8, "schedule": 8, "codegen": 8,
    "report": 9, "backend": 9,  # what every backend is
    "runtime": 10,
    "compile": 11, "backend/cpu": 11,  # this one: no floor but the session's names it
    "session": 12,
}
TOP, DOORS = 13, ("tools", "pjrt", "python", "arrays")  # the command, the plugin, the package, the arrays: what enters by include/lowtide alone
ONLY_IN = {  # heavy or foreign headers and the places that may see them
    "nlohmann/": ("src/report/", "src/text/safetensors", "src/text/tensor_writer", "src/target/read_machine", "tools/"),
    "CLI/": ("tools/",),
    "zlib.h": ("src/text/",),
    "llvm/": ("src/codegen/llvm/",),
    "oneapi/": ("src/library/",),
    "dnnl": ("src/library/",),
    "iostream": (),
    # What runs a program is asked for by way of target/target.h: only its own floors see a target's insides, and who proves
    # what was planned.
    "library/": ("src/library/", "src/target/", "src/backend/cpu/", "src/runtime/interpreted", "src/schedule/rearrange",
                 "src/schedule/check/"),
    "target/cpu.h": ("src/target/", "src/backend/cpu/"),
    "schedule/kernel_way.h": ("src/schedule/", "src/backend/cpu/"),
    "backend/cpu/": ("src/backend/cpu/", "src/session/session.cpp"),
    "target/xla.h": ("src/target/", "src/session/"),
}
TYPE = re.compile(r"^(?:struct|class|enum class|using) (\w+)(?= *(?:final *)?(?:: [^;{]*)?[{=])", re.M)
INCLUDE = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]', re.M)

# What the checker of plans is made of: beside it nothing of schedule/ but the Program itself, no fact that planning derives of nests
# or regions, and none of the functions that planning declares.
CHECKER = "src/schedule/check/"
CHECKER_SEES = ("schedule/check/", "schedule/program.h", "schedule/kernel_way.h", "nest/nest.h", "region/region.h", "target/target.h", "library/", "analysis/", "ops/", "ir/", "base/")
# A second backend is made of the interfaces alone: of no other one, not of what a session or the command is.
ACCELERATOR, MOST_LINES = "tests/accelerator/", 600
NO_BACKENDS = ("src/backend/cpu/", "src/target/cpu.h", "src/session/", "src/schedule/kernel_way.h", "tools/")
FUNCTION = re.compile(r"^(?!return|using)[\w:<>,&*][\w:<>,&* ]* [&*]?(\w+)\(", re.M)



def floor_of(path):
    """The name of the floor that this file, or what is included so, stands on."""
    parts = path.split("/")
    return "/".join(parts[:2]) if "/".join(parts[:2]) in FLOORS else parts[0]


def hidden_faults(name, text):
    """What a file includes that others keep to themselves."""
    return [f"{name}: <{included}> may be seen only in {places or 'no file'}" for included in INCLUDE.findall(text)
            for header, places in ONLY_IN.items() if included.startswith(header) and not name.startswith(places or ("-",))]


def command_faults(name, text):
    """What the command or the plugin includes of the house beside the public face."""
    return [f"{name}: what enters by include/lowtide includes {included}" for included in INCLUDE.findall(text)
            if name.removeprefix("src/").startswith(tuple(door + "/" for door in DOORS)) and included.split("/")[0] in FLOORS and not included.startswith("lowtide/")]


root = pathlib.Path(__file__).resolve().parent.parent
faults, arrows, types = [], {}, {}
for path in sorted(root.glob("include/lowtide/*")) + sorted(root.glob("src/**/*")) + [p for door in DOORS for p in sorted(root.glob(f"{door}/*"))]:
    if path.suffix not in (".h", ".cpp", ".def"):
        continue
    name = path.relative_to(root).as_posix()
    folder = floor_of(name.removeprefix("include/").removeprefix("src/"))
    own = FLOORS.get(folder, TOP if folder in DOORS else None)
    if own is None:
        faults.append(f"{name}: folder {folder} stands on no floor")
        continue
    named = path.suffix == ".h" and folder not in ("lowtide", "pjrt", "python", "arrays")  # which are namespaces of their own
    for type_name in TYPE.findall(path.read_text()) if named else []:
        other = types.setdefault(type_name, name)
        if other != name:
            faults.append(f"{name}: type {type_name} is one of {other} as well")
    faults += hidden_faults(name, path.read_text())
    faults += command_faults(name, path.read_text())
    for included in INCLUDE.findall(path.read_text()):
        target = floor_of(included)
        if target not in FLOORS or target == folder:
            continue
        arrows.setdefault(folder, set()).add(target)
        if FLOORS[target] >= own:
            faults.append(f"{name}: floor {own} includes {included} of floor {FLOORS[target]}")


def checker_faults(name, text):
    """What a file of the checker has from those whose work it proves."""
    found = [f"{name}: the checker includes {included}" for included in INCLUDE.findall(text)
             if "/" in included and not included.startswith(CHECKER_SEES)]
    return found + [f"{name}: the checker calls {called}()" for called in sorted(planners) if re.search(rf"\b{called}\(", text)]


def accelerator_faults(files):
    """What the simulated accelerator, by way of whatever it includes, has of another backend; and more lines than an interface takes."""
    found, seen, left = [], set(), [(name, name) for name in files]
    while left:
        name, by = left.pop()
        path = root / name
        if name in seen or not path.is_file():
            continue
        seen.add(name)
        if name.startswith(NO_BACKENDS):
            found.append(f"{by}: the accelerator sees {name}")
        for included in INCLUDE.findall(files.get(name) or path.read_text()):
            left += [((folder / included).as_posix(), name) for folder in (path.parent.relative_to(root), pathlib.Path("src"), pathlib.Path("tests"))]
    lines = sum(len(text.splitlines()) for text in files.values())
    return found + [f"{ACCELERATOR}: {lines} lines of {MOST_LINES}"] * (lines > MOST_LINES)


planners = set()
for path in [*root.glob("src/schedule/*.h"), *(root / "src/region" / h for h in ("assembly.h", "boxes.h", "region.h")),
             root / "src/target/roles.h",
             *(root / "src/nest" / h for h in ("accesses.h", "blocks.h", "reach.h", "rebase.h"))]:
    planners.update(FUNCTION.findall(path.read_text()))
for path in root.glob(CHECKER + "*.h"):  # functions of its own that bear such a name
    planners.difference_update(re.findall(r"^ +[\w:<>,&* ]+ [&*]?(\w+)\([^;]*(?:;|\{)", path.read_text(), re.M))
planners -= {"lower"}  # the kernel is what is checked
for path in sorted(root.glob(CHECKER + "*")):
    faults += checker_faults(path.relative_to(root).as_posix(), path.read_text())
accelerator = {path.relative_to(root).as_posix(): path.read_text() for path in root.glob(ACCELERATOR + "*.*")}
faults += accelerator_faults(accelerator)
if "--control" in sys.argv:
    noticed = checker_faults("control", '#include "nest/accesses.h"\nauto box = written_box(update);\nbool in = may_lie_over(nest, 1, 0);\n')
    noticed += hidden_faults("src/passes/control.cpp", '#include "library/library.h"\n#include "target/cpu.h"\n#include "target/target.h"\n')
    noticed += command_faults("src/arrays/control.cpp", '#include "ir/module.h"\n#include "lowtide/module.h"\n#include "arrays/graph.h"\n')
    noticed += command_faults("tools/control.cpp", '#include "session/state.h"\n#include "lowtide/session.h"\n#include "usage.h"\n')
    noticed += hidden_faults("src/compile/control.cpp", '#include "backend/backend.h"\n#include "backend/cpu/cpu_backend.h"\n')
    device = ACCELERATOR + "device.h"
    noticed += accelerator_faults({device: '#include "backend/cpu/cpu_backend.h"\n' + accelerator[device]})
    noticed += accelerator_faults({device: '#include "schedule/flow.h"\n' + "\n" * MOST_LINES})
    print("\n".join(noticed))
    sys.exit(len(noticed) != 11)
for folder in sorted(arrows, key=lambda f: (FLOORS.get(f, TOP), f)):
    print(f"{FLOORS.get(folder, TOP):2} {folder:11} -> {' '.join(sorted(arrows[folder]))}")
print("\n".join(faults) or "no arrow points upward")
sys.exit(bool(faults))
