#!/usr/bin/env python3
"""Each change in the source that `lowtide explain` prints, applied, and what it came to.

  bench/advice.py [--lowtide build/lowtide] [--backend NAME=PYTHON]... [--cases FOLDER] [--json OUT.json] [MODEL]...

Programs: the bad ones of bad and good pairs in a folder of cases (index.json: `pair`), and three models in flax
(advice_models.py; they need flax and optax, in the environment that this runs in). Where a pair's good twin is the change, it is
taken; donations are made in the text of cases (arguments and results of one type in order, as JAX pairs them) and by
donate_argnames in models. Every change that is printed is applied: one for which this script knows no edit is a fault.

Promised and measured are peaks (MiB): `plan` is Lowtide's free plan of the changed program (`peak_bytes`), `account` its account
by XLA's rules (`input_peak_bytes`). With --backend, as in for_xla.py, also what XLA's compilers need before and after (NAME is
cpu, cpu-min or gpu). A change is worse where any of these is above what it was by more than a thousandth. Exit code 1 where one is, or
where fewer than nine in ten come true within a tenth.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
MIB = 1 << 20
WITHIN, WORSE = 0.1, 1.001
MODELS = {"gpt": {}, "gpt with one-hot ids": {"one_hot": True}, "unet": {}, "seq2seq": {}, "seq2seq with one-hot ids": {"one_hot": True}}


def explain(lowtide, path):
    done = subprocess.run([lowtide, "explain", path, "--json"], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{path}: exit {done.returncode} {done.stderr}")
    return json.loads(done.stdout)


def changes(report):
    """What is printed with a name in the source, each once."""
    told = {}
    for table in ("at_peak", "input_at_peak"):
        for row in report[table]:
            for cure in row["frees_it"]:
                if "in_your_source" in cure:
                    told[cure["what"]] = cure
    return list(told.values())


def shapes_of(text):
    """Types of the entry's parameters and of its results, and whether these are a tuple, as the layout in the header says."""
    header = text.split("\n", 1)[0]
    start = header.index("entry_computation_layout={") + len("entry_computation_layout={")
    depth, end = 1, start
    while depth:
        depth += {"{": 1, "}": -1}.get(header[end], 0)
        end += 1
    parameters, results = header[start:end - 1].split("->")
    kind = re.compile(r"\w+\[[\d,]*\]")
    return kind.findall(parameters), kind.findall(results), results.startswith("(")


def with_donated(text, numbers):
    """The module with these parameters donated: each result takes the first of its type, as JAX pairs them."""
    parameters, results, is_tuple = shapes_of(text)
    header, rest = text.split("\n", 1)
    taken = {int(n) for n in re.findall(r"\((\d+), \{\}", header.split("entry_computation_layout")[0])}
    used = {int(n) for n in re.findall(r"\{(\d*)\}: \(", header.split("entry_computation_layout")[0]) if n}
    free, pairs = [n for n in numbers if n not in taken], []
    for k, shape in enumerate(results):
        found = next((n for n in free if parameters[n] == shape), None) if k not in used else None
        if found is not None:
            free.remove(found)
            pairs.append(f"{{{k if is_tuple else ''}}}: ({found}, {{}}, may-alias)")
    if "input_output_alias={" in header:
        header = header.replace("input_output_alias={", "input_output_alias={ " + ", ".join(pairs) + ", ", 1)
    else:
        header = header.replace(", entry_computation_layout", f", input_output_alias={{ {', '.join(pairs)} }}, entry_computation_layout", 1)
    return header + "\n" + rest


def donated_in(text, what):
    one = re.match(r"donate parameter (\d+) of the module", what)
    return with_donated(text, [int(one[1])] if one else range(len(shapes_of(text)[0])))


class Case:
    def __init__(self, folder, name, pair):
        self.name, self.folder, self.pair = name, folder, pair
        self.text = open(os.path.join(folder, name + ".hlo")).read()

    def changed(self, cure):
        if cure["what"].startswith("donate"):
            return donated_in(self.text, cure["what"])
        if cure["what"].startswith("gather the rows") and "gather" in self.pair:
            return open(os.path.join(self.folder, self.pair + ".hlo")).read()
        return None


class Model:
    def __init__(self, name):
        import advice_models
        self.name, self.switches, self.lowered = name, MODELS[name], advice_models.lowered
        self.text = self.lowered(name.split()[0], **self.switches)

    def changed(self, cure):
        what, switches = cure["what"], dict(self.switches)
        if what.startswith("donate all"):
            switches["donate"] = ("params", "moments")
        elif what.startswith("donate "):
            switches["donate"] = (re.search(r'donate_argnames=\("(\w+)"', cure["in_your_source"])[1],)
        elif what.startswith("gather the rows"):
            switches["one_hot"] = False
        else:
            return None
        return self.lowered(self.name.split()[0], **switches)


def programs(options):
    with open(os.path.join(options.cases, "index.json")) as f:
        index = json.load(f)
    for name, case in index.items():
        if not options.models and case.get("pair") and "mesh" not in name:
            yield Case(options.cases, name, case["pair"])
    try:
        import flax, optax  # noqa: F401, E401
    except ImportError:
        print("without flax and optax: no models", file=sys.stderr)
        return
    for name in options.models or MODELS:
        yield Model(name)


def needs(options, backend, python, paths):
    """path -> bytes, by one of XLA's compilers"""
    done = subprocess.run([python, options.referee, backend, *paths], capture_output=True, text=True)
    records = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return {path: record.get("peak") for path, record in zip(paths, records)}


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--lowtide", default=os.path.join(HERE, "..", "build", "lowtide"))
    p.add_argument("--backend", action="append", default=[], help="NAME=PYTHON")
    p.add_argument("--referee", default=os.path.join(HERE, "..", "..", "shared", "referee", "xla_temp.py"))
    p.add_argument("--cases", default=os.path.join(HERE, "..", "..", "shared", "corpus", "cases"))
    p.add_argument("--json")
    p.add_argument("models", nargs="*")
    options = p.parse_args()
    rows, unknown = [], []
    with tempfile.TemporaryDirectory() as folder:
        files = {}

        def file_of(text):
            if text not in files:
                files[text] = os.path.join(folder, f"{len(files)}.hlo")
                with open(files[text], "w") as f:
                    f.write(text)
            return files[text]

        for program in programs(options):
            before = file_of(program.text)
            report = explain(options.lowtide, before)
            for cure in changes(report):
                text = program.changed(cure)
                if text is None:
                    unknown.append((program.name, cure["what"]))
                    continue
                after = file_of(text)
                changed = explain(options.lowtide, after)
                own = {"program": program.name, "what": cure["what"], "before": before, "after": after}
                if cure["bytes"] > 0:
                    rows.append({**own, "of": "plan", "was": report["peak_bytes"], "promised": report["peak_bytes"] - cure["bytes"],
                                 "measured": changed["peak_bytes"]})
                rows.append({**own, "of": "account", "was": report["input_peak_bytes"], "promised": cure["under_xla"]["peak_bytes"],
                             "measured": changed["input_peak_bytes"]})
        pairs = {row["before"]: 0 for row in rows} | {row["after"]: 0 for row in rows}
        xla = {name: needs(options, name, python, list(pairs)) for name, python in (b.split("=", 1) for b in options.backend)}
    print(f"{'program':26} {'change':44} {'of':8} {'was':>8} {'promised':>8} {'measured':>8} {'ratio':>6}"
          + "".join(f"  XLA {name}, before and after" for name in xla))
    worse, true = 0, 0
    for row in rows:
        ratio = row["measured"] / row["promised"]
        true += abs(ratio - 1) <= WITHIN
        peers = [(needed[row["before"]], needed[row["after"]]) for needed in xla.values()]
        is_worse = row["measured"] > WORSE * row["was"] or any(a and b and b > WORSE * a for a, b in peers)
        worse += is_worse
        row["xla"] = dict(zip(xla, peers))
        print(f"{row['program'][:26]:26} {row['what'][:44]:44} {row['of']:8} {row['was'] / MIB:8.0f} {row['promised'] / MIB:8.0f} "
              f"{row['measured'] / MIB:8.0f} {ratio:6.3f}" + "".join(f"  {a / MIB:9.0f} {b / MIB:9.0f}" if a and b else "          -         -" for a, b in peers)
              + ("  WORSE" if is_worse else ""))
    for name, what in unknown:
        print(f"{name}: no edit is known for: {what}")
    print(f"{len(rows)} figures of {len({(r['program'], r['what']) for r in rows})} changes: {true} within {WITHIN:.0%}, {worse} worse, {len(unknown)} not applied")
    if options.json:
        with open(options.json, "w") as f:
            json.dump([{k: v for k, v in row.items() if k not in ("before", "after")} for row in rows], f, indent=1)
    return int(bool(worse or unknown or true < 0.9 * len(rows)))


if __name__ == "__main__":
    sys.exit(main())
