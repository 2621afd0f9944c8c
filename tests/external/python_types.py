"""python_types.py ROOT: the package's types, by mypy, and what it says of programs that use them. --control: one is wrong."""
import os
import subprocess
import sys
import tempfile

RIGHT = """
import lowtide

def step(x: float) -> float:
    return x

report: lowtide.Report = lowtide.explain("step.hlo", rows=3)
rows: list[dict[str, object]] = list(report.rows)
found: int = lowtide.max_batch(step, 1.0, limit="8GiB", in_axes=0)
results: list[object] = list(lowtide.run("step.hlo", {"x": 1.0}, limit=1 << 30))
with lowtide.oom():
    lowtide.jit(step, donate_argnums=0)(1.0)
try:
    pass
except lowtide.LowtideError as error:
    kind: str = error.kind
"""
WRONG = RIGHT + "lowtide.explain()\n"


def main() -> int:
    try:
        import mypy  # noqa: F401
        import numpy  # noqa: F401
    except ImportError as error:
        print(f"SKIP: {error}")
        return 0
    root = sys.argv[1]
    def checked(*arguments: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run([sys.executable, "-m", "mypy", "--cache-dir", os.devnull, "--config-file", os.path.join(root, "pyproject.toml"), *arguments], cwd=root,
                              capture_output=True, text=True, timeout=600)
    package = checked()
    assert package.returncode == 0, package.stdout + package.stderr
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "user.py")
        with open(path, "w") as file:
            file.write(WRONG if "--control" in sys.argv else RIGHT)
        said = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--cache-dir", os.devnull, "--config-file", os.devnull, "--follow-imports", "silent", path],
                              env=os.environ | {"MYPYPATH": os.path.join(root, "python")}, capture_output=True, text=True, timeout=600)
    print(said.stdout.strip().splitlines()[-1])
    return int(said.returncode == 0) if "--control" in sys.argv else said.returncode


if __name__ == "__main__":
    sys.exit(main())
