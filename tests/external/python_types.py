"""python_types.py ROOT BUILD: the package's types, by mypy, and what it says of programs that use them: of arrays, too, where BUILD has their
stubs. --control: one is wrong."""
import os
import shutil
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
ARRAYS = """
import lowtide
import lowtide.numpy as np

x: lowtide.array = lowtide.random.normal((3, 4), dtype=np.bfloat16, key=lowtide.random.key(0))
total: np.array = np.sum(x * 2 + [1.0], axis=0) @ np.ones(4)
height, width = x.shape
extent: int = height + width
y = x.at[0, 1:].set(3.0)[..., None].T
slope = lowtide.grad(lambda x: (x * x).sum())(y)
q, r = lowtide.linalg.qr(np.eye(3))
try:
    lowtide.eval(slope, q, r)
except lowtide.LimitError as error:
    needed: int = error.needed
"""


def main() -> int:
    try:
        import mypy  # noqa: F401
        import numpy  # noqa: F401
    except ImportError as error:
        print(f"SKIP: {error}")
        return 0
    root, stubs = os.path.abspath(sys.argv[1]), os.path.join(sys.argv[2], "python", "lowtide", "_arrays")
    control, has_arrays = "--control" in sys.argv, os.path.isdir(stubs)
    def checked(folder: str, *arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run([sys.executable, "-m", "mypy", "--cache-dir", os.devnull, *arguments], cwd=folder, env=os.environ | environment, capture_output=True, text=True,
                              timeout=600)
    package = checked(root, "--config-file", os.path.join(root, "pyproject.toml"))
    assert package.returncode == 0, package.stdout + package.stderr
    with tempfile.TemporaryDirectory() as folder:  # the package as it is installed
        shutil.copytree(os.path.join(root, "python"), os.path.join(folder, "python"), ignore=shutil.ignore_patterns("arrays"))
        if has_arrays:
            shutil.copytree(stubs, os.path.join(folder, "python", "lowtide", "_arrays"))
            package = checked(folder, "--config-file", os.path.join(root, "pyproject.toml"), "--follow-imports", "silent", "python/lowtide/_transforms.py", "python/lowtide/numpy.py")
            assert package.returncode == 0, package.stdout + package.stderr
        path = os.path.join(folder, "user.py")
        with open(path, "w") as file:
            file.write((WRONG if control else RIGHT) + (ARRAYS if has_arrays else ""))
        said = checked(folder, "--strict", "--config-file", os.devnull, "--follow-imports", "silent", path, MYPYPATH=os.path.join(folder, "python"))
    lines = [line for line in said.stdout.splitlines() if "user.py" in line]  # stubs are NumPy's own way: an == by element
    print("\n".join(lines) or f"no faults{'' if has_arrays else ', arrays left out'}")
    return int(not (len(lines) == 1 and "explain" in lines[0])) if control else int(bool(lines) or "user.py" in said.stderr)


if __name__ == "__main__":
    sys.exit(main())
