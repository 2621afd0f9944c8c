#!/usr/bin/env python3
"""library_check.py BUILD [--control]: what a process that loads the library has to bear.

Of BUILD/liblowtide.so and the static library: only names of lowtide:: are exported, none of lowtide::engine; nothing is
called that reads or sets the environment or ends the process; nothing that can be written lives longer than a session, but
what is named in ALLOWED, with the reason; the command calls nothing of it but the public face. With --control each of the
four is asked of an object that breaks it, and the exit code is 1 if that isn't noticed.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

FORBIDDEN = {"getenv", "secure_getenv", "setenv", "unsetenv", "putenv", "abort", "exit", "_exit", "quick_exit", "_Exit", "system"}
ALLOWED = {
    r"load_llvm_library\(\)::(mutex|compile)$": "LLVM's library is loaded once, and stays",
    r"(making\(\)::one|set_up_tiles\(\)::begun)$": "oneDNN's products are made one by one and kept, and its tiles set up once",
    r"::current_(pool|thread)$": "of a thread: which pool's task it is running",
    r"KnownPlans::known\(\)::state$": "of a thread: what is known while one question is answered; empty between questions",
    r"lazy::this_thread\(\)::state$": "of a thread that uses arrays: its stream, its sequence of keys, the transformations it is in",
    r"lazy::Runtime::get\(\)::runtime$": "arrays name no session, so that they share one: made with the first array, theirs to the end",
    r"^std::": "libstdc++'s",
}


def output(*words):
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


def exported(library):
    """Names that others may link to and shouldn't."""
    found = []
    for line in output("nm", "-D", "--defined-only", "-C", library).splitlines():
        name = line.split(" ", 2)[2] if len(line.split(" ", 2)) > 2 else line
        plain = re.sub(r"^(typeinfo name for|typeinfo for|vtable for|guard variable for) ", "", name)
        if not plain.startswith("lowtide::") or plain.startswith("lowtide::engine"):
            found.append(name)
    return found


def forbidden(archive):
    """Calls that no library should make, by object."""
    found, member = [], ""
    for line in output("nm", "-u", archive).splitlines():
        if line.endswith(":"):
            member = line[:-1]
        elif line.split()[-1:] and line.split()[-1].split("@")[0] in FORBIDDEN:
            found.append(f"{member}: {line.split()[-1]}")
    return found


def statics(archive):
    """Variables that can be written and outlive a call. What is const, and made when it is first asked for, is called kSomething."""
    found = []
    for line in output("objdump", "-t", "-C", archive).splitlines():
        match = re.match(r"[0-9a-f]+ .{7} (\.(?:data|bss|tdata|tbss)\S*)\s+[0-9a-f]+\s+(?:\.hidden )?(.+)$", line)
        if not match or match[1].startswith(".data.rel.ro") or match[2].startswith((".data", ".bss", ".tdata", ".tbss")):
            continue
        name = re.sub(r"^guard variable for ", "", match[2]).replace("[abi:cxx11]", "")
        if re.search(r"(^|::)k[A-Z]\w*$", name) or name.startswith(("DW.ref.", "__gcov", "__asan", "__tsan", "__odr_asan")):
            continue
        if not any(re.search(allowed, name) for allowed in ALLOWED):
            found.append(name)
    return sorted(set(found))


def beneath(objects):
    """What the command calls of the library beside the public face."""
    found = []
    for line in output("nm", "-u", "-C", *objects).splitlines():
        name = re.sub(r"^ *U ", "", line)
        if name.startswith("lowtide::engine::"):
            found.append(name)
    return sorted(set(found))


CONTROL = """#include <cstdlib>
namespace lowtide::engine { __attribute__((visibility("default"))) int counter = 0;
__attribute__((visibility("default"))) const char* home() { ++counter; return std::getenv("HOME"); }
int below(); int call() { return below(); } }
"""


def control():
    with tempfile.TemporaryDirectory() as folder:
        at = pathlib.Path(folder)
        (at / "broken.cpp").write_text(CONTROL)
        output("c++", "-fPIC", "-c", str(at / "broken.cpp"), "-o", str(at / "broken.o"))
        output("ar", "rcs", str(at / "broken.a"), str(at / "broken.o"))
        output("c++", "-shared", str(at / "broken.o"), "-o", str(at / "broken.so"))
        seen = [exported(str(at / "broken.so")), forbidden(str(at / "broken.a")), statics(str(at / "broken.a")), beneath([str(at / "broken.o")])]
    print("noticed:", seen)
    return 0 if all(seen) else 1


def command_objects(build):
    return [str(path) for path in (build / "CMakeFiles/lowtide_command.dir").rglob("*.o")]


def main():
    if "--control" in sys.argv:
        return control()
    build = pathlib.Path(sys.argv[1])
    archive = next(str(build / name) for name in ("liblowtide.a", "liblowtide_core.a") if (build / name).exists())
    parts = [("exported", exported(str(build / "liblowtide.so"))), ("called", forbidden(archive)), ("statics", statics(archive)),
             ("below the face", beneath(command_objects(build)))]
    for what, found in parts:
        print(f"{what}: {len(found)} faults" if found else f"{what}: nothing that shouldn't be")
        for name in found[:20]:
            print(f"  {name}")
    return 1 if any(found for _, found in parts) else 0


sys.exit(main())
