#!/usr/bin/env python3
"""Proves that the house is downward-only: a file includes only lower floors, or its own folder; and that no two headers give one
name to two types, which share their functions then. Prints the floors."""
import pathlib
import re
import sys

FLOORS = {
    "base": 1,
    "plan": 2, "ir": 2,
    "nest": 3, "lapack": 3,
    "ops": 4,
    "text": 5, "interp": 5, "analysis": 5, "library": 5,
    "region": 6,
    "passes": 7, "schedule": 7, "codegen": 7,
    "report": 8, "runtime": 8,
    "compile": 9,
}
ONLY_IN = {  # heavy or foreign headers and the places that may see them
    "nlohmann/": ("src/report/", "src/text/safetensors", "src/text/tensor_writer", "tools/"),
    "CLI/": ("tools/",),
    "zlib.h": ("src/text/",),
    "llvm/": ("src/codegen/llvm/",),
    "oneapi/": ("src/library/",),
    "dnnl": ("src/library/",),
    "iostream": (),
}
TYPE = re.compile(r"^(?:struct|class|enum class|using) (\w+)(?= *(?:final *)?(?:: [^;{]*)?[{=])", re.M)
INCLUDE = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]', re.M)

root = pathlib.Path(__file__).resolve().parent.parent
faults, arrows, types = [], {}, {}
for path in sorted(root.glob("src/**/*")) + sorted(root.glob("tools/*")):
    if path.suffix not in (".h", ".cpp", ".def"):
        continue
    name = path.relative_to(root).as_posix()
    folder = path.relative_to(root / "src").parts[0] if name.startswith("src/") else "tools"
    own = FLOORS.get(folder, 10 if folder == "tools" else None)
    if own is None:
        faults.append(f"{name}: folder {folder} stands on no floor")
        continue
    for type_name in TYPE.findall(path.read_text()) if path.suffix == ".h" else []:
        other = types.setdefault(type_name, name)
        if other != name:
            faults.append(f"{name}: type {type_name} is one of {other} as well")
    for included in INCLUDE.findall(path.read_text()):
        for header, places in ONLY_IN.items():
            if included.startswith(header) and not name.startswith(places or ("-",)):
                faults.append(f"{name}: <{included}> may be seen only in {places or 'no file'}")
        target = included.split("/")[0]
        if target not in FLOORS or target == folder:
            continue
        arrows.setdefault(folder, set()).add(target)
        if FLOORS[target] >= own:
            faults.append(f"{name}: floor {own} includes {included} of floor {FLOORS[target]}")
for folder in sorted(arrows, key=lambda f: (FLOORS.get(f, 10), f)):
    print(f"{FLOORS.get(folder, 10):2} {folder:9} -> {' '.join(sorted(arrows[folder]))}")
print("\n".join(faults) or "no arrow points upward")
sys.exit(bool(faults))
