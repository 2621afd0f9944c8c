"""jax_threads.py LIBRARY [--rounds N] [--sanitizer RUNTIME] [--control]: eight programs compiled and run at once by Python's threads on
JAX_PLATFORMS=lowtide, and SIGINT while one is compiled, after which the interpreter goes on.

--sanitizer: the runtime that a LIBRARY built with -fsanitize=thread or address asks for (`gcc -print-file-name=libtsan.so`; of clang
the shared one, for a plugin linked with -shared-libasan), and after a blank gcc's libstdc++.so.6, which must be there before
jaxlib's. Reports are counted, but for those of what jaxlib's thread for compiling made and hands over: how it does so the sanitizer
can't see. --control: a result is spoilt, which must be noticed."""
import argparse
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]


def programs(jax, jnp):
    """(function, arguments) of eight kinds: kernels, loops, sorts, linear algebra, convolutions, random numbers."""
    x = jax.random.normal(jax.random.key(0), (256, 128))
    weights = {"in": jnp.ones((128, 64)) / 64, "out": jnp.ones((64, 32)) / 32}

    def loss(weights, x):
        return -jnp.log(jax.nn.softmax(jnp.tanh(x @ weights["in"]) @ weights["out"], -1)[:, 0]).mean()

    return [
        (jax.value_and_grad(loss), (weights, x)),
        (lambda x: jax.lax.scan(lambda c, row: (c * 0.9 + row, jnp.sin(c).sum()), jnp.zeros(128), x)[1], (x,)),
        (lambda x: jnp.sort(x, 1) + jnp.cumsum(x, 0), (x,)),
        (lambda x: jnp.linalg.cholesky(x.T @ x + jnp.eye(128)), (x,)),
        (lambda x: jax.lax.conv_general_dilated(x[None, None], jnp.ones((4, 1, 5, 5)), (1, 1), "SAME"), (x,)),
        (lambda key: jax.random.normal(key, (300, 300)).sum(0), (jax.random.key(3),)),
        (lambda x: jax.nn.softmax(x @ x.T / 11, -1) @ x, (x,)),
        (lambda x: jax.lax.while_loop(lambda v: v[0] < 20, lambda v: (v[0] + 1, v[1] * 1.01 + 1), (0, x))[1], (x,)),
    ]


def child(rounds, control):
    import jax
    import jax.numpy as jnp
    import numpy as np
    assert "lowtide" in jax.devices()[0].client.platform_version
    every = programs(jax, jnp)
    wanted = [jax.tree.map(np.asarray, jax.jit(function)(*arguments)) for function, arguments in every]
    faults = []

    def work(k):
        function, arguments = every[k]
        try:
            for _ in range(rounds):
                fresh = jax.jit(lambda *a: function(*a))  # compiled anew
                results = [fresh(*arguments) for _ in range(5)]
                for got, want in zip(jax.tree.leaves(results[-1]), jax.tree.leaves(wanted[k])):
                    np.testing.assert_array_equal(np.asarray(got) + (control and k == 3), want)
        except BaseException as error:  # whatever it is, the test must hear of it
            faults.append(f"program {k}: {str(error).strip().splitlines()[0][:200]}")

    threads = [threading.Thread(target=work, args=(k,)) for k in range(len(every))]
    [t.start() for t in threads]
    [t.join() for t in threads]

    def deep(x):
        for k in range(60):
            x = jnp.tanh(x @ x + k) - jnp.sin(x).sum(0)
        return x

    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have started this with the signal ignored
    stopper = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    lowered = jax.jit(jax.grad(lambda x: deep(x).sum())).lower(jnp.ones((2048, 2048)))
    stopper.start()
    try:
        lowered.compile()
        time.sleep(5)  # a machine so fast that it was compiled before
        faults.append("nobody was interrupted")
    except KeyboardInterrupt:
        pass
    if float(jax.jit(lambda x: (x + 1).sum())(jnp.ones(5))) != 10:
        faults.append("after an interrupt another result")
    print("\n".join(faults) or f"{len(every)} programs, {rounds} rounds")
    return 1 if faults else 0


def reports_of(text):
    """Of a sanitizer, but for races with what jaxlib's thread for compiling made before it handed it over."""
    races = text.split("WARNING: ThreadSanitizer")[1:]
    ours = []
    for race in races:
        made = re.search(r"Location is heap block.*?\n\n", race, re.S)
        before = re.search(r"Previous (?:atomic )?write of size \d+ at \w+ by thread (T\d+)", race)
        compiler = before and re.search(rf"Thread {before[1]} 'tf_PjRtCompiler", race)
        handed_over = made and compiler and re.search(r"Client_Compile|LoadedExecutable_GetExecutable|Executable_DeserializeAndLoad", made[0])
        if not handed_over:
            ours.append(race)
    return ours + re.findall(r"ERROR: AddressSanitizer.*|.*runtime error:.*", text), len(races)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("root", nargs="?")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--sanitizer")
    parser.add_argument("--control", action="store_true")
    parser.add_argument("--child", action="store_true")
    options = parser.parse_args()
    if options.child:
        return child(options.rounds, options.control)
    try:
        import jax  # noqa: F401
    except ImportError as error:
        print(f"SKIP: {error}")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"JAX_PLATFORMS": "lowtide", "LOWTIDE_PJRT_LIBRARY": options.library, "LOWTIDE_CACHE": os.path.join(folder, "cache"),
                                    "PYTHONPATH": str(ROOT / "python"), "PYTHONDONTWRITEBYTECODE": "1"}
        if options.sanitizer:
            log = f"log_path={folder}/report"
            environment |= {"LD_PRELOAD": options.sanitizer, "ASAN_OPTIONS": f"detect_leaks=0:{log}", "UBSAN_OPTIONS": f"print_stacktrace=1:{log}",
                            "TSAN_OPTIONS": f"exitcode=0 history_size=7 ignore_noninstrumented_modules=1 {log}"}
        words = [sys.executable, __file__, options.library, "--child", "--rounds", str(options.rounds)] + ["--control"] * options.control
        ran = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=800)
        print(ran.stdout.strip() or ran.stderr[-2000:])
        reports, races = reports_of("".join(path.read_text(errors="replace") for path in sorted(pathlib.Path(folder).glob("report*"))))
        if options.sanitizer:
            print(f"{len(reports)} reports, and {races - len(reports) if races else 0} of what jaxlib hands over")
            print("\n".join(report[:1500] for report in reports[:3]))
    if options.control:
        return 0 if ran.returncode == 1 and "program 3" in ran.stdout else 1
    return 1 if ran.returncode or reports else 0


if __name__ == "__main__":
    sys.exit(main())
