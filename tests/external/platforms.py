"""For scripts that run themselves once for each of JAX's platforms: XLA's cpu, and Lowtide's from a build."""
import importlib
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def are_missing(*modules):
    """Prints why a test is skipped, if it is: one of these can't be imported."""
    try:
        for name in modules:
            importlib.import_module(name)
    except ImportError as error:
        print(f"SKIP: {error}")
        return True
    return False


def environment(library, **more):
    return os.environ | {"LOWTIDE_PJRT_LIBRARY": library, "PYTHONPATH": str(ROOT / "python"), "PYTHONDONTWRITEBYTECODE": "1"} | more


def run_again(name, script, *words, **variables):
    """The output of the script, run with these words and variables; None, and its last words printed, where it fails."""
    ran = subprocess.run([sys.executable, script, *words], env=variables, capture_output=True, text=True, timeout=600)
    if ran.returncode == 0:
        return ran.stdout
    print(f"{name}: exit {ran.returncode}: " + "\n".join(ran.stderr.strip().splitlines()[-12:]))
    return None
