"""The peer in a process of its own: compiles one HLO file for XLA:CPU, then, for every line on stdin that holds a number n,
runs it n times on the seeded arguments and prints one JSON line. Arguments that the program donates are put anew for each
run, outside of the time taken. Started by models.py.

  xla_worker.py PROGRAM.hlo [--min]      --min: XLA's memory-optimised scheduler
"""
import ctypes
import gc
import json
import os
import re
import sys
import time

if "--min" in sys.argv:
    os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_cpu_scheduler_type=CPU_SCHEDULER_TYPE_MEMORY_OPTIMIZED"
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "external"))
import xla

if xla.absent():
    print(json.dumps({"absent": xla.absent()}), flush=True)
    sys.exit(0)


def status(key):
    with open("/proc/self/status") as text:
        return int(re.search(key + r":\s+(\d+)", text.read())[1]) * 1024


text = open(sys.argv[1]).read()
start = time.time()
executable, shapes = xla.compiled(text)
record = {"compile_seconds": time.time() - start, "temp": executable.get_compiled_memory_stats().temp_size_in_bytes}
print(json.dumps(record), flush=True)
numbers = [xla.seeded(k, dtype, dims) for k, (dtype, dims) in enumerate(shapes)]
first = True
for line in sys.stdin:
    seconds, growth = [], None
    for _ in range(int(line)):
        arguments = [xla.jax.device_put(x) for x in numbers]
        xla.jax.block_until_ready(arguments)
        if first:
            gc.collect()
            ctypes.CDLL("libc.so.6").malloc_trim(0)  # freed bytes that malloc kept would hide growth
            base = status("VmRSS")
            with open("/proc/self/clear_refs", "w") as clear:
                clear.write("5")
        start = time.perf_counter()
        results = [r[0] for r in executable.execute_sharded(arguments).disassemble_into_single_device_arrays()]
        xla.jax.block_until_ready(results)
        seconds.append(time.perf_counter() - start)
        if first:
            growth, first = status("VmHWM") - base, False
        del results, arguments
    print(json.dumps({"seconds": seconds, "resident_growth": growth}), flush=True)
