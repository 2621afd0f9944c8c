"""ask_xla.py LOWTIDE: fit --for xla --ask-xla: XLA's compiler decides. What takes no less stays as it was given, limits are on
XLA's own peak, and a Python that can't answer is refused. --control: each check must notice what is wrong."""
import json
import subprocess
import sys
import tempfile

import xla

ADD = """add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b) }
"""
ATTENTION = "HloModule attention\n" + ADD + """ENTRY main {
  q = f32[2048,32] parameter(0)
  k = f32[2048,32] parameter(1)
  s = f32[2048,2048] dot(q, k), lhs_contracting_dims={1}, rhs_contracting_dims={1}
  e = f32[2048,2048] exponential(s)
  zero = f32[] constant(0)
  n = f32[2048] reduce(e, zero), dimensions={1}, to_apply=add
  d = f32[2048,2048] broadcast(n), dimensions={0}
  p = f32[2048,2048] divide(e, d)
  ROOT o = f32[2048,32] dot(p, k), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
"""
# XLA fuses all of it into the sum, which our model of its account doesn't know.
DISTANCES = "HloModule distances\n" + ADD + """ENTRY main {
  x = f32[4096,3] parameter(0)
  rows = f32[4096,4096,3] broadcast(x), dimensions={0,2}
  columns = f32[4096,4096,3] broadcast(x), dimensions={1,2}
  d = f32[4096,4096,3] subtract(rows, columns)
  m = f32[4096,4096,3] multiply(d, d)
  zero = f32[] constant(0)
  r = f32[4096,4096] reduce(m, zero), dimensions={2}, to_apply=add
  s = f32[4096,4096] sqrt(r)
  half = f32[] constant(0.5)
  halves = f32[4096,4096] broadcast(half), dimensions={}
  t = f32[4096,4096] divide(halves, s)
  w = f32[4096,4096,3] broadcast(t), dimensions={0,1}
  g = f32[4096,4096,3] multiply(w, d)
  ROOT o = f32[4096,3] reduce(g, zero), dimensions={1}, to_apply=add
}
"""


def main():
    lowtide, control = sys.argv[1], "--control" in sys.argv
    if xla.absent():
        print(f"SKIP: {xla.absent()}")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        def fit(name, text, *words, python=sys.executable):
            path, made = f"{folder}/{name}.hlo", f"{folder}/{name}.out.hlo"
            open(path, "w").write(text)
            done = subprocess.run([lowtide, "fit", path, "--for", "xla", "--ask-xla", python, "-o", made, "--json", *words],
                                  capture_output=True, text=True)
            said = json.loads(done.stdout) if done.stdout.startswith("{") else {}
            return done.returncode, said, made

        def temp(path):
            stats = xla.compiled(open(path).read())[0].get_compiled_memory_stats()
            return stats.temp_size_in_bytes

        faults = []
        require = lambda right, words: (right if not control else not right) or faults.append(words)
        code, said, made = fit("attention", ATTENTION)
        require(code == 0 and not said["xla"]["stays"], f"attention: exit {code} {said.get('xla')}")
        require(said["xla"]["after"]["temp_bytes"] == temp(made) < said["xla"]["before"]["temp_bytes"] / 4, f"attention: {said['xla']}")
        peak = said["xla"]["after"]["peak_bytes"]
        limit = (peak + said["xla"]["before"]["peak_bytes"]) // 2
        code, said, made = fit("attention", ATTENTION, "--limit", str(limit))
        require(code == 0 and said["certificate"]["met"] and said["xla"]["after"]["peak_bytes"] <= limit, f"a limit of {limit}: exit {code} {said.get('xla')}")
        code, said, made = fit("attention", ATTENTION, "--limit", str(peak // 8))
        require(code == 4 and not said["certificate"]["met"], f"a limit that XLA can't meet: exit {code}")
        code, said, made = fit("distances", DISTANCES)
        require(code == 0 and said["xla"]["stays"] and temp(made) == said["xla"]["before"]["temp_bytes"], f"distances: exit {code} {said.get('xla')}")
        for python in ("/bin/false", f"{folder}/nowhere"):
            require(fit("attention", ATTENTION, python=python)[0] == 6, f"{python} is asked")
        for words in faults:
            print("fault:" if not control else "noticed:", words)
        print(f"{len(faults)} {'faults' if not control else 'noticed'}")
        return len(faults) != (7 if control else 0)


if __name__ == "__main__":
    sys.exit(main())
