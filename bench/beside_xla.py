"""One table beside XLA:CPU: each program on both, turn about, the fastest of several turns. Used by the tables of operations."""
import argparse
import json
import math
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
BINARY = str(HERE.parent / "build" / "lowtide")


def seconds_of_ours(lowtide, path, repeat=4):
    done = subprocess.run([lowtide, "run", str(path), "--repeat", str(repeat), "--json"], capture_output=True, text=True, check=True)
    return min(json.loads(done.stdout)["run_seconds"])


class Peer:
    """A process in which XLA has compiled one program."""

    def __init__(self, path):
        self.process = subprocess.Popen([sys.executable, str(HERE / "xla_worker.py"), str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.process.stdout.readline()

    def seconds(self, repeat=4):
        self.process.stdin.write(f"{repeat}\n")
        self.process.stdin.flush()
        return min(json.loads(self.process.stdout.readline())["seconds"])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()


def fastest(lowtide, path, rounds, repeat=4, measure=None):
    """XLA's seconds, ours, and of another program of ours that is measured in the same turns."""
    xla = ours = other = math.inf
    with Peer(path) as peer:
        for _ in range(rounds):
            xla = min(xla, peer.seconds(repeat))
            ours = min(ours, seconds_of_ours(lowtide, path, repeat))
            if measure:
                other = min(other, seconds_of_ours(lowtide, measure, repeat))
    return xla, ours, other


def parser(doc):
    """What all tables are told."""
    made = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("lowtide", nargs="?", default=BINARY)
    made.add_argument("--rounds", type=int, default=3)
    made.add_argument("--only", default="")
    return made


def measured(programs, options, repeat=lambda flops: 4):
    """Of programs (name, flops, text): name, flops, XLA's seconds and ours."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "program.hlo"
        for name, flops, text in programs:
            path.write_text(text)
            xla, ours, _ = fastest(options.lowtide, path, options.rounds, repeat(flops))
            yield name, flops, xla, ours


def geometric_mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else 1


def summary(ratios, what):
    return f"{len(ratios)} {what}: {geometric_mean(ratios):.2f} of XLA:CPU's time in geometric mean, worst {max(ratios, default=1):.2f}"
