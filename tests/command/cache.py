#!/usr/bin/env python3
"""A damaged, forged or foreign cache never changes an answer, and `off` is off.

  cache.py build/lowtide build/tests/cache_tool [--control]

--control: machine code of another kernel, with the right checksum, in a folder of the user's own. That is trusted, so results
change; the comparison must notice.
"""
import os
import random
import shutil
import subprocess
import sys

from command import FOLDS, SORT, Lowtide, attention, faults, require, verdict

# x is read after its successor was made, which therefore can't lie over it; and results that may.
SHIFTS = """HloModule shifts, input_output_alias={ {0}: (0, {}, may-alias) }
ENTRY main {
  x = f32[512,512] parameter(0)
  y = f32[512,512] FUNCTION(x)
  t = f32[512,512] transpose(y), dimensions={1,0}
  m = f32[512,512] multiply(t, y)
  r = f32[512,512] reverse(m), dimensions={0}
  s = f32[512,512] add(r, y)
  ROOT o = (f32[512,512], f32[512,512]) tuple(s, m)
}
"""
# Its products and sums may be contracted.
SUMS = """HloModule sums
""" + FOLDS + """ENTRY main {
  x = f32[300,700] parameter(0)
  y = f32[300,700] parameter(1)
  zero = f32[] constant(0)
  a = f32[300,700] multiply(x, y)
  b = f32[300,700] multiply(a, x)
  e = f32[300,700] exponential(b)
  p = f32[300,700] multiply(e, y)
  c = f32[300,700] add(a, p)
  d = f32[300,700] subtract(c, b)
  ROOT r = f32[300] reduce(d, zero), dimensions={1}, to_apply=add
}
"""


class Cached:
    """Programs, what they give without a cache, and one cache for all of them."""

    def __init__(self, lowtide, tool):
        self.lowtide, self.tool, self.folder = lowtide, tool, lowtide.cache
        at = lowtide.at
        programs = {"shifts": SHIFTS.replace("FUNCTION", "sine"), "sums": SUMS, "sort": SORT, "scores": attention(256, 32)}
        self.calls = {name: [at(name + ".hlo", text)] for name, text in programs.items()}
        peak = self.call("fit", *self.calls["scores"])["peak_bytes"]
        self.calls["scores within"] = [*self.calls["scores"], "--limit", str(peak * 5 // 4)]
        self.calls["sums exact"] = [*self.calls["sums"], "--exact"]
        self.wanted = {name: self.answer(name, LOWTIDE_CACHE="off") for name in self.calls}

    def call(self, *words, **knobs):
        """What the command answers in JSON."""
        code, answer, error = self.lowtide.call(*words, **knobs)
        require(code == 0, f"{words}: exit {code}, {error}")
        return answer

    def answer(self, name, **knobs):
        """The bytes of the results, and the peak."""
        out = self.lowtide.at("out")
        said = self.call("run", *self.calls[name], "--outputs", out, **knobs)
        with open(out, "rb") as f:
            return f.read(), said.get("peak_bytes")

    def compare(self, what, same_peak=True, **knobs):
        """All programs give what they give without a cache."""
        for name in self.calls:
            results, peak = self.answer(name, **knobs)
            require(results == self.wanted[name][0], f"{what}: {name} gives something else")
            require(not same_peak or peak == self.wanted[name][1], f"{what}: {name} has the peak {peak}, not {self.wanted[name][1]}")

    def warm(self):
        """A fresh cache with all that the programs leave in it."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.compare("an empty cache")
        return sorted(os.listdir(self.folder))

    def path(self, name):
        """An entry's file."""
        return os.path.join(self.folder, name)

    def content(self, name):
        """What an entry holds."""
        return subprocess.run([self.tool, "show", self.folder, name], capture_output=True, check=True).stdout

    def forge(self, name, content):
        """An entry with this content and its checksum."""
        subprocess.run([self.tool, "forge", self.folder, name], input=content, check=True)
        require(self.content(name) == content, "a forged entry isn't taken: the test shows nothing")


def check_bytes(cached):
    """No entry is taken with a byte changed or missing; many damaged at once, results are the same and all is made anew."""
    entries = cached.warm()
    require(len(entries) >= 10, f"only {len(entries)} entries")
    kinds = [cached.content(name)[:4] for name in entries]
    require(set(kinds) == {b"\x7fELF", b"lowt"}, f"code and plans are kept, and no other facts: {set(kinds)}")
    flipped = subprocess.run([cached.tool, "flip", cached.folder], capture_output=True, text=True, check=False)
    require(flipped.returncode == 0, f"each byte: {flipped.stdout}")
    print(flipped.stdout.strip())
    held = subprocess.run([cached.tool, "flip", cached.folder, "--control"], capture_output=True, text=True, check=False)
    require(held.returncode == 1, "each byte: the control isn't noticed")
    chance = random.Random(1)
    for round_ in range(6):
        for name in entries:
            with open(cached.path(name), "r+b") as f:
                size = os.fstat(f.fileno()).st_size
                at = chance.randrange(40) if round_ % 2 else chance.randrange(size)  # the head, and anywhere
                f.seek(at)
                byte = f.read(1)[0]
                f.seek(at)
                f.write(bytes([byte ^ (1 << chance.randrange(8))]))
        cached.compare(f"bytes changed, round {round_}")
        require(subprocess.run([cached.tool, "flip", cached.folder], capture_output=True, check=False).returncode == 0,
                "what was damaged isn't made anew")


def check_files(cached):
    """Entries that are cut off, swapped, or no plain files of their user's own."""
    entries = cached.warm()
    for name in entries:
        os.truncate(cached.path(name), os.path.getsize(cached.path(name)) // 2)
    cached.compare("entries cut off")
    entries = cached.warm()
    raw = [open(cached.path(name), "rb").read() for name in entries]
    for name, other in zip(entries, raw[1:] + raw[:1]):
        with open(cached.path(name), "wb") as f:
            f.write(other)
    cached.compare("entries swapped")
    for what in ("pipes", "links", "directories", "writable entries", "foreign entries", "terabytes"):
        entries = cached.warm()
        if what == "foreign entries" and os.geteuid() != 0:
            print("[SKIP] foreign entries: only root can give files away")
            continue
        for name in entries:
            path = cached.path(name)
            if what == "writable entries":
                os.chmod(path, 0o622)
            elif what == "foreign entries":
                os.chown(path, 65534, 65534)
            elif what == "terabytes":
                os.truncate(path, 1 << 40)
            else:
                os.rename(path, path + ".aside")
                if what == "pipes":
                    os.mkfifo(path)
                elif what == "links":
                    os.symlink(path + ".aside", path)
                else:
                    os.mkdir(path)
        cached.compare(what)
    shutil.rmtree(cached.folder)


def check_folders(cached):
    """A folder that is somebody else's, or that others may write, is left alone, and a line says so; a new one is private."""
    cached.warm()
    require(os.stat(cached.folder).st_mode & 0o7777 == 0o700, "the folder isn't private")
    require(all(os.stat(cached.path(n)).st_mode & 0o7777 == 0o600 for n in os.listdir(cached.folder)), "entries aren't private")
    shutil.rmtree(cached.folder)
    for mode in (0o777, 0o770, 0o702, 0o1777):
        os.mkdir(cached.folder)
        os.chmod(cached.folder, mode)
        code, _, error = cached.lowtide.run("run", *cached.calls["sort"])
        require(code == 0 and error.count("warning") == 1 and cached.folder in error, f"mode {mode:o}: exit {code}, {error!r}")
        require(not os.listdir(cached.folder), f"mode {mode:o}: it is used")
        shutil.rmtree(cached.folder)
    if os.geteuid() == 0:
        os.mkdir(cached.folder, 0o700)
        os.chown(cached.folder, 65534, 65534)
        code, _, error = cached.lowtide.run("run", *cached.calls["sort"])
        require(code == 0 and "belongs to user 65534" in error, f"somebody else's folder: exit {code}, {error!r}")
        require(not os.listdir(cached.folder), "somebody else's folder is used")
        shutil.rmtree(cached.folder)


def check_forged_plans(cached):
    """A plan with the right checksum that claims what isn't so: it is proved again, or not used."""
    entries = cached.warm()
    plans = [name for name in entries if cached.content(name).startswith(b"lowtide-plan")]
    require(len(plans) >= 5, f"only {len(plans)} plans")
    texts = {name: cached.content(name).decode() for name in plans}

    def forged(what, change, same_peak=True):
        done = 0
        for name, text in texts.items():
            new = change(text)
            done += new != text
            cached.forge(name, new.encode())
        require(done > 0 or what == "order 0 kernels", f"{what}: nothing was forged")  # which is what most plans have
        cached.compare(what, same_peak)
        for name, text in texts.items():
            cached.forge(name, text.encode())

    def packing(line, offset, height):
        words = line.split()
        return " ".join([*words[:2], str(height(int(words[2]))), *(str(offset(int(w))) for w in words[3:])])

    def each(start, change):
        return lambda text: "".join((change(line[:-1]) + "\n" if line.startswith(start) else line) for line in text.splitlines(True))

    every = " ".join(f"{o}over{i}" for o in range(4) for i in range(4))
    forged("overlaps, as they were once kept", lambda t: t + "".join(f"overlaps {h:x} {every}\n" for h in range(1, 50)))
    forged("buffers on top of each other", lambda t: each("packing", lambda s: packing(s, lambda _: 0, lambda h: h))(t) + "packing 1 1 0\n")
    forged("buffers beyond the arena", lambda t: each("packing", lambda s: packing(s, lambda o: o + (1 << 40), lambda h: h))(t)
           + "packing 1 0 5\n")
    forged("an arena of a petabyte", lambda t: each("packing", lambda s: packing(s, lambda o: o, lambda h: 1 << 50))(t)
           + f"packing 1 {1 << 50} 5\n")
    for ways in ("none", "kernels", "strips", "moves"):
        for order in (0, 1, 7, 2000000000):
            forged(f"order {order} {ways}", lambda t, o=order, w=ways: each("order", lambda _: f"order {o} {w}")(t), False)
    forged("streams of what isn't there", lambda t: t + "stream main nothing dimension=9 tile=0\n")
    forged("a search without an end", lambda t: t + "search-steps 9000000000000000000\n")
    forged("no plan", lambda t: "once upon a time\n")
    forged("nothing", lambda t: "")
    def module(text):
        return next(line for line in text.splitlines() if line.startswith("module "))

    forged("another program's plan", lambda t: next(other for other in texts.values() if module(other) != module(t)))
    # The free plan under the name of the plan within a limit: more than the limit is never taken.
    limit = int(cached.calls["scores within"][2])
    require(cached.wanted["scores"][1] > limit, "the free plan is within the limit, and nothing is shown")
    scores = {name: text for name, text in texts.items() if " attention " in text.split("\n")[1]}
    require(len(scores) == 2, f"{len(scores)} plans of one program")
    for text in scores.values():
        for name in scores:
            cached.forge(name, text.encode())
        require(cached.answer("scores within") == cached.wanted["scores within"], "a kept plan breaks a limit")


def check_knobs(cached):
    """What is kept under one set of knobs is no answer under another, in whichever order they are used."""
    for knobs in ({"LOWTIDE_DISABLE": "contract-products"}, {"LOWTIDE_DISABLE": "stream-slices,tables"}, {"LOWTIDE_ISA": "avx2"}):
        cold = {name: cached.answer(name, LOWTIDE_CACHE="off", **knobs) for name in cached.calls}
        cached.warm()
        for name, wanted in cold.items():
            require(cached.answer(name, **knobs) == wanted, f"{knobs}: a warm cache ignores them for {name}")
            require(cached.answer(name, **knobs) == wanted, f"{knobs}: {name} isn't the same again")
        cached.compare(f"after {knobs}")
        if knobs.get("LOWTIDE_DISABLE") == "contract-products":
            require(cold["sums"] != cached.wanted["sums"], "the control: products are contracted, and the sums show it")


def check_off(cached):
    """off, 0 and nothing: no file is read or written, and no folder of that name appears."""
    place = cached.lowtide.at("place")
    os.mkdir(place)
    for value in ("off", "0", ""):
        for name in cached.calls:
            results = cached.answer(name, LOWTIDE_CACHE=value, HOME=place, XDG_CACHE_HOME=place)
            require(results == cached.wanted[name], f"LOWTIDE_CACHE={value!r}: other results")
        words = [cached.lowtide.program, "run", *cached.calls["sort"]]
        environment = {**os.environ, "LOWTIDE_CACHE": value, "HOME": place, "XDG_CACHE_HOME": place}
        done = subprocess.run(words, cwd=place, env=environment, capture_output=True, check=False)
        require(done.returncode == 0 and not os.listdir(place), f"LOWTIDE_CACHE={value!r}: {os.listdir(place)} {done.stderr}")
    for relative in ("x", "."):
        environment = {**os.environ, "XDG_CACHE_HOME": relative, "HOME": relative}
        environment.pop("LOWTIDE_CACHE", None)
        subprocess.run([cached.lowtide.program, "run", *cached.calls["sort"]], cwd=place, env=environment, capture_output=True, check=True)
        require(not os.listdir(place), f"XDG_CACHE_HOME={relative}: a cache in the working directory")
    environment = {**os.environ, "XDG_CACHE_HOME": place}
    environment.pop("LOWTIDE_CACHE", None)
    subprocess.run([cached.lowtide.program, "run", *cached.calls["sort"]], env=environment, capture_output=True, check=True)
    require(bool(os.listdir(os.path.join(place, "lowtide"))), "the control: by itself there is a cache")


def control(cached):
    """Code of one program in the place of another's, with the right checksum."""
    sine, cosine = ([cached.lowtide.at(f"{f}.hlo", SHIFTS.replace("FUNCTION", f))] for f in ("sine", "cosine"))
    cached.calls = {"sine": sine}
    cached.wanted = {"sine": cached.answer("sine", LOWTIDE_CACHE="off")}
    mine = cached.warm()
    cached.lowtide.run("run", *cosine)
    theirs = [n for n in os.listdir(cached.folder) if n not in mine]
    # The kernels of both programs are alike: the larger of one takes the place of the larger of the other.
    kernels = [sorted((n for n in names if cached.content(n)[:4] == b"\x7fELF"), key=lambda n: len(cached.content(n)))
               for names in (mine, theirs)]
    require(kernels[0] and len(kernels[0]) == len(kernels[1]), f"kernels aren't alike: {kernels}")
    for name, other in zip(*kernels):
        cached.forge(name, cached.content(other))
    cached.compare("forged code")
    print("noticed:", faults)
    return 0 if any("something else" in fault for fault in faults) else 1


def main():
    with Lowtide(sys.argv[1]) as lowtide:
        cached = Cached(lowtide, os.path.abspath(sys.argv[2]))
        if "--control" in sys.argv:
            return control(cached)
        for check in (check_bytes, check_files, check_folders, check_forged_plans, check_knobs, check_off):
            check(cached)
    return verdict()


if __name__ == "__main__":
    sys.exit(main())
