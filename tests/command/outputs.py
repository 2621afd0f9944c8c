#!/usr/bin/env python3
"""What the command writes, where links wait, modes are narrow, signals come, and files, memory or threads end.

  outputs.py build/lowtide [--control]

--control: instead of lowtide a program that writes as careless ones do; each check of outputs must notice.
"""
import os
import resource
import shutil
import signal
import subprocess
import sys
import time

from command import SMALL, Lowtide, faults, require, verdict
from run_faults import ENDLESS, sanitizer_of, tensors

DONATED = """HloModule donated, input_output_alias={ {}: (0, {}, may-alias) }
ENTRY main {
  x = f32[4000000] parameter(0)
  ROOT s = f32[4000000] sine(x)
}
"""
READ = DONATED.replace(", input_output_alias={ {}: (0, {}, may-alias) }", "")


def mode(path):
    """The permissions of a file."""
    return os.stat(path).st_mode & 0o7777


def writers(lowtide, small):
    """name -> words of a call whose last word is the file that it writes"""
    plan = lowtide.at("some.plan")
    lowtide.run("fit", small, "--plan", plan)
    csv = lowtide.at("b.csv", "id,lower,upper,size\na,0,2,64\n")
    return {"run --outputs": ["run", small, "--outputs"], "opt -o": ["opt", small, "-o"], "fit -o": ["fit", small, "-o"],
            "fit --plan": ["fit", small, "--plan"], "explain --html": ["explain", small, "--html"],
            "explain --trace": ["explain", small, "--trace"], "run --trace": ["run", small, "--trace"], "plan -o": ["plan", csv, "-o"]}


def check_links_and_modes(lowtide, small):
    """Nobody's link is followed, a mode is kept, a new file is as umask has it, nothing else stays."""
    folder = lowtide.at("out")
    for what, words in writers(lowtide, small).items():
        os.mkdir(folder)
        victim, target = lowtide.at("victim", "precious"), os.path.join(folder, "result")
        # The names that were once used: PATH.PID.part for the process ids to come.
        probe = subprocess.Popen(["true"])
        probe.wait()
        for pid in range(probe.pid, probe.pid + 300):
            os.symlink(victim, f"{target}.{pid}.part")
        code, _, error = lowtide.run(*words, target, umask=0o027)
        require(code == 0, f"{what}: exit {code}, {error}")
        with open(victim, encoding="utf-8") as f:
            require(f.read() == "precious", f"{what}: wrote through a link")
        require(not os.path.islink(target) and mode(target) == 0o640, f"{what}: mode {mode(target):o} under umask 027")
        require(sum(1 for name in os.listdir(folder) if not os.path.islink(os.path.join(folder, name))) == 1, f"{what}: files stay")
        shutil.rmtree(folder)
        os.mkdir(folder)
        lowtide.run(*words, target)
        for kept in (0o600, 0o644, 0o444, 0o660):
            os.chmod(target, kept)
            code, _, error = lowtide.run(*words, target, umask=0)
            require(code == 0 and mode(target) == kept, f"{what}: {kept:o} became {mode(target):o}, exit {code}, {error}")
        if os.geteuid() == 0:
            os.chown(target, 65534, 65534)
            lowtide.run(*words, target)
            require(os.stat(target).st_uid == 65534, f"{what}: its owner changed")
        os.unlink(target)
        os.symlink(victim, target)
        code, _, error = lowtide.run(*words, target)
        with open(victim, encoding="utf-8") as f:
            require(f.read() == "precious", f"{what}: wrote through its own name's link")
        shutil.rmtree(folder)


def check_long_name(lowtide, small):
    """A name as long as a file system takes."""
    target = lowtide.at("n" * 255)
    code, _, error = lowtide.run("opt", small, "-o", target)
    require(code == 0 and os.path.exists(target), f"a long name: exit {code}, {error}")


def check_signals(lowtide):
    """Each signal that ends the process takes the half-written file with it; an ignored one stays ignored."""
    endless = lowtide.at("endless.hlo", ENDLESS.replace("OPERATION", "sort(x), dimensions={0}, to_apply=before"))
    folder = lowtide.at("signalled")
    os.mkdir(folder)
    crashes = () if sanitizer_of(lowtide.program) else (signal.SIGSEGV, signal.SIGABRT)  # which a sanitizer reports itself
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGXCPU, *crashes):
        running = lowtide.start("run", endless, "--outputs", os.path.join(folder, "out"))
        for _ in range(500):
            if os.listdir(folder):
                break
            time.sleep(0.02)
        require(bool(os.listdir(folder)), f"{number.name}: nothing was being written, so that nothing is shown")
        time.sleep(0.1)
        running.send_signal(number)
        try:
            error = running.communicate(timeout=60)[1]
        except subprocess.TimeoutExpired:
            running.kill()
            faults.append(f"{number.name}: it goes on")
            continue
        wanted = {signal.SIGSEGV: -signal.SIGSEGV, signal.SIGABRT: 1}.get(number, 130)
        require(running.returncode == wanted, f"{number.name}: exit {running.returncode}, {error!r}")
        require(wanted != 130 or "interrupted" in error, f"{number.name}: {error!r}")
        left = os.listdir(folder)
        require(not left, f"{number.name}: leaves {left}")
        for name in left:
            os.unlink(os.path.join(folder, name))
    running = lowtide.start("run", endless, ignored=signal.SIGHUP)
    time.sleep(1)
    running.send_signal(signal.SIGHUP)
    time.sleep(0.5)
    require(running.poll() is None, "SIGHUP ends what nohup started")
    running.terminate()
    running.communicate(timeout=60)


def check_shrunk_files(lowtide):
    """A mapped file that becomes shorter while the program runs: its name, exit 3, no crash."""
    for what, text in (("read", READ), ("donated", DONATED)):
        given = lowtide.at("given", tensors({"arg0": ("F32", [4000000], bytes(16000000))}))
        running = lowtide.start("run", lowtide.at("loop.hlo", text), "--inputs", given, "--repeat", "1000000")
        time.sleep(1)
        os.truncate(given, 5000)
        try:
            error = running.communicate(timeout=60)[1]
        except subprocess.TimeoutExpired:
            running.kill()
            error = "it goes on"
        require(running.returncode == 3 and given in error and "shorter" in error,
                f"a file that shrank, {what}: exit {running.returncode}, {error!r}")
    given = lowtide.at("given", tensors({"arg0": ("F32", [4000000], bytes(16000000))}))
    running = lowtide.start("run", lowtide.at("read.hlo", READ), "--inputs", given, "--repeat", "300")
    time.sleep(0.3)
    with open(given, "r+b") as f:
        f.seek(1000000)
        f.write(b"\1")
    error = running.communicate(timeout=60)[1]
    require(running.returncode == 3 and given in error, f"a file that was written to: exit {running.returncode}, {error!r}")


def check_reduce(lowtide, small):
    """The program's file for a command is in a folder of its own, for this user alone, and both go: also after a signal."""
    seen = lowtide.at("seen")
    script = f'stat -c %a "$(dirname "$0")" > {seen}; echo "$0" >> {seen}'
    code, _, error = lowtide.run("reduce", small, "-o", lowtide.at("reduced"), "--", "sh", "-c", script)
    with open(seen, encoding="utf-8") as f:
        mode_seen, file = f.read().split()
    require(code == 0 and mode_seen == "700", f"reduce: exit {code}, mode {mode_seen}, {error!r}")
    require(not os.path.exists(os.path.dirname(file)), "reduce: its folder stays")
    os.unlink(seen)
    running = lowtide.start("reduce", small, "-o", lowtide.at("reduced"), "--", "sh", "-c", script + "; sleep 5")
    for _ in range(500):
        if os.path.exists(seen) and os.path.getsize(seen) > 5:
            break
        time.sleep(0.02)
    running.send_signal(signal.SIGHUP)
    running.communicate(timeout=60)
    with open(seen, encoding="utf-8") as f:
        folder = os.path.dirname(f.read().split()[1])
    require(not os.path.exists(folder), f"reduce: {folder} stays behind SIGHUP")


def check_threads(lowtide, small):
    """Where the system gives no thread, those that there are do the work: results are the same."""
    def no_threads():
        resource.setrlimit(resource.RLIMIT_STACK, (1 << 46, resource.getrlimit(resource.RLIMIT_STACK)[1]))
    if resource.getrlimit(resource.RLIMIT_STACK)[1] not in (-1, resource.RLIM_INFINITY) or sanitizer_of(lowtide.program):
        print("[SKIP] no threads: stacks can't be made so large that none has room")
        return
    plain, alone = lowtide.at("plain"), lowtide.at("alone_out")
    scores = lowtide.at("two.hlo", SMALL.replace("ROOT s = f32[1000] sine(x)",
                                                 "s = f32[1000] sine(x)\n  t = f32[1000] sort(s), dimensions={0}, to_apply=less\n"
                                                 "  ROOT u = f32[1000] cosine(t)")
                        .replace("ENTRY", "less { a = f32[] parameter(0)\n b = f32[] parameter(1)\n"
                                 " ROOT c = pred[] compare(a, b), direction=LT }\nENTRY"))
    for words in (["run", small], ["run", scores], ["fit", small], ["explain", small]):
        more = ["--outputs", plain] if words[0] == "run" else []
        require(lowtide.run(*words, *more, LOWTIDE_CACHE="off", LOWTIDE_THREADS="4")[0] == 0, f"{words}: with threads")
        more = ["--outputs", alone] if words[0] == "run" else []
        code, _, error = lowtide.run(*words, *more, prepare=no_threads, LOWTIDE_CACHE="off", LOWTIDE_THREADS="4")
        require(code == 0, f"{words} without threads: exit {code}, {error!r}")
        if more:
            with open(plain, "rb") as a, open(alone, "rb") as b:
                require(a.read() == b.read(), f"{words} without threads: other results")


def check_memory(lowtide):
    """Too little of it, for whatever subcommand: a sentence and exit 4, also where only compiling doesn't fit."""
    if sanitizer_of(lowtide.program):
        print("[SKIP] little memory: a sanitizer's shadow needs more address space than the limit leaves")
        return
    long = SMALL.replace("ROOT s = f32[1000] sine(x)", "\n".join(
        [f"  s{i} = f32[1000] {'sine' if i % 2 else 'cosine'}({f's{i - 1}' if i else 'x'})" for i in range(20000)]
        + ["  ROOT s = f32[1000] sine(s19999)"]))
    program, small = lowtide.at("long.hlo", long), lowtide.at("small2.hlo", SMALL.replace("sine", "tan"))
    for command in ("explain", "fit", "opt"):
        more = ["-o", os.devnull] if command == "opt" else []
        code, _, error = lowtide.run(command, program, *more, address_space=30 << 20)
        require(code == 4 and "out of memory" in error, f"{command} without memory: exit {code}, {error[-300:]!r}")
    code, _, error = lowtide.run("run", small, address_space=120 << 20, LOWTIDE_CACHE="off", LOWTIDE_THREADS="1")
    require(code == 4 and "compiling" in error, f"no memory to compile: exit {code}, {error[-300:]!r}")
    require(lowtide.run("run", small)[0] == 0, "the control: with memory")
    code, _, error = lowtide.run("run", small, address_space=120 << 20, LOWTIDE_THREADS="1")
    require(code == 0, f"the control: what is compiled needs none to compile: exit {code}, {error[-300:]!r}")


CARELESS = f"""#!{sys.executable}
import os, sys, time
part = sys.argv[-1] + f".{{os.getpid()}}.part"
with open(part, "w") as f:
    f.write("results")
    if "sleep" in sys.argv:
        time.sleep(60)
os.replace(part, sys.argv[-1])
"""


def control(folder_of):
    """Every check of outputs must notice a program that writes as careless ones do."""
    program = folder_of.at("careless", CARELESS)
    os.chmod(program, 0o755)
    with Lowtide(program) as careless:
        check_links_and_modes(careless, "small")
    noticed = {word: any(word in fault for fault in faults) for word in ("through a link", "600 became", "owner")}
    print("noticed:", noticed)
    return 0 if all(noticed.values()) or (os.geteuid() != 0 and noticed["through a link"] and noticed["600 became"]) else 1


def main():
    with Lowtide(sys.argv[1]) as lowtide:
        if "--control" in sys.argv:
            return control(lowtide)
        small = lowtide.at("small.hlo", SMALL)
        require(lowtide.run("run", small)[0] == 0, "a plain run")
        check_links_and_modes(lowtide, small)
        check_long_name(lowtide, small)
        check_signals(lowtide)
        check_shrunk_files(lowtide)
        check_reduce(lowtide, small)
        check_threads(lowtide, small)
        check_memory(lowtide)
    return verdict()


if __name__ == "__main__":
    sys.exit(main())
