#!/usr/bin/env python3
"""Nests that grid_test --record wrote, on an NVIDIA GPU: every byte must be what this machine's grid made of it, with results of
their own and over operands; only the payload of a NaN may be another one. A control: without its last block a kernel must make something else of nearly every nest. Those
without recorded contents are timed: milliseconds, and the buffers' bytes over that time.

usage: grids_on_device.py FOLDER
It needs numpy and the driver (libcuda.so.1); without one it is skipped.
"""
import ctypes
import json
import pathlib
import sys
import time

import numpy

GUARD, FILL = 256, 0x5A
# Bytes of a part, the mask without its sign, and its infinity: what is larger is NaN. Other types are compared as they are.
NANS = {"bf16": ("<u2", 0x7FFF, 0x7F80), "f16": ("<u2", 0x7FFF, 0x7C00)}
NANS |= dict.fromkeys(("f32", "c64"), ("<u4", 0x7FFFFFFF, 0x7F800000)) | dict.fromkeys(("f64", "c128"), ("<u8", (1 << 63) - 1, 0x7FF << 52))


def are_equal(got, want, kind):
    if got == want or kind not in NANS:
        return got == want
    width, mask, infinity = NANS[kind]
    a, b = (numpy.frombuffer(data, width) for data in (got, want))
    return bool(numpy.all((a == b) | ((a & mask > infinity) & (b & mask > infinity))))


class Device:
    def __init__(self):
        self.cuda = ctypes.CDLL("libcuda.so.1")
        self.ask("cuInit", 0)
        device, context = ctypes.c_int(), ctypes.c_void_p()
        self.ask("cuDeviceGet", ctypes.byref(device), 0)
        self.ask("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.ask("cuCtxSetCurrent", context)
        name = ctypes.create_string_buffer(100)
        self.ask("cuDeviceGetName", name, 100, device)
        self.name = name.value.decode()
        self.modules = {}

    def ask(self, function, *arguments):
        code = getattr(self.cuda, function)(*arguments)
        if code != 0:
            text = ctypes.c_char_p()
            self.cuda.cuGetErrorString(code, ctypes.byref(text))
            raise RuntimeError(f"{function}: {text.value.decode() if text.value else code}")

    def allocate(self, count):
        address = ctypes.c_uint64()
        self.ask("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(max(count, 1)))
        return address.value

    def free(self, address):
        self.ask("cuMemFree_v2", ctypes.c_uint64(address))

    def put(self, address, data):
        if data:
            self.ask("cuMemcpyHtoD_v2", ctypes.c_uint64(address), data, ctypes.c_size_t(len(data)))

    def get(self, address, count):
        data = ctypes.create_string_buffer(max(count, 1))
        if count:
            self.ask("cuMemcpyDtoH_v2", data, ctypes.c_uint64(address), ctypes.c_size_t(count))
        return data.raw[:count]

    def kernel(self, path, number):
        if path not in self.modules:
            module = ctypes.c_void_p()
            self.ask("cuModuleLoadData", ctypes.byref(module), pathlib.Path(path).read_bytes() + b"\0")
            self.modules[path] = module
        function = ctypes.c_void_p()
        self.ask("cuModuleGetFunction", ctypes.byref(function), self.modules[path], f"kernel{number}".encode())
        return function

    def launch(self, path, launches, addresses, without_last_block=False):
        for number, launch in enumerate(launches):
            values = [ctypes.c_uint64(a) for a in addresses] + [ctypes.c_int64(0), ctypes.c_int64(launch["extent"])]
            pointers = (ctypes.c_void_p * len(values))(*(ctypes.cast(ctypes.pointer(v), ctypes.c_void_p) for v in values))
            blocks = launch["blocks"] - 1 if without_last_block and number + 1 == len(launches) else launch["blocks"]
            if blocks:
                self.ask("cuLaunchKernel", self.kernel(path, number), blocks, 1, 1, launch["threads"], 1, 1, 0, None, pointers, None)

    def wait(self):
        self.ask("cuCtxSynchronize")


def run(device, folder, case, data, control=False):
    """Names of buffers that are wrong."""
    over = case.get("over")
    addresses = [device.allocate(b["bytes"] + GUARD) for b in case["buffers"]]
    for address, b in zip(addresses, case["buffers"]):
        device.put(address, data[b["before"]:b["before"] + b["bytes"]] + bytes([FILL]) * GUARD)
    given = list(addresses)
    if over:
        given[over[0]] = given[over[1]]
    device.launch(str(folder / case["ptx"]), case["launches"], given, control)
    device.wait()
    wrong = []
    for k, b in enumerate(case["buffers"]):
        got = device.get(given[k], b["bytes"] + GUARD)
        if got[b["bytes"]:] != bytes([FILL]) * GUARD:
            wrong.append(f"buffer {k} beyond its end")
        want = b.get("after", b["before"] if not over or k != over[1] else None)
        if want is not None and not are_equal(got[:b["bytes"]], data[want:want + b["bytes"]], b["type"]):
            wrong.append(f"buffer {k}")
    for address in addresses:
        device.free(address)
    return wrong


def time_of(device, folder, case):
    """Seconds of the fastest of several launches."""
    addresses = [device.allocate(b["bytes"]) for b in case["buffers"]]
    for address, b in zip(addresses, case["buffers"]):
        device.ask("cuMemsetD8_v2", ctypes.c_uint64(address), ctypes.c_ubyte(0x3C), ctypes.c_size_t(b["bytes"]))
    best = float("inf")
    for _ in range(8):
        device.wait()
        start = time.perf_counter()
        device.launch(str(folder / case["ptx"]), case["launches"], addresses)
        device.wait()
        best = min(best, time.perf_counter() - start)
    for address in addresses:
        device.free(address)
    return best


def main():
    folder = pathlib.Path(sys.argv[1])
    try:
        device = Device()
    except (OSError, RuntimeError) as error:
        print(f"SKIP: no NVIDIA GPU: {error}")
        return 0
    cases = json.loads((folder / "cases.json").read_text())
    data = (folder / "cases.bin").read_bytes()
    wrong, checked, over, noticed = [], 0, 0, 0
    for case in cases:
        if "before" not in case["buffers"][0]:
            continue
        checked, over = checked + 1, over + ("over" in case)
        found = run(device, folder, case, data)
        wrong += [f"{case['program']} {case['name']} ({case['ptx']}): {', '.join(found)}"] if found else []
        noticed += bool(run(device, folder, case, data, control=True)) if "over" not in case else 0
    print("\n".join(wrong[:20]))
    print(f"{device.name}: {checked} nests, {over} of them over an operand, {len(wrong)} wrong; without their last block {noticed} of {checked - over} are noticed")
    for case in cases:
        if "before" in case["buffers"][0]:
            continue
        seconds, total = time_of(device, folder, case), sum(b["bytes"] for b in case["buffers"])
        print(f"{case['program']:32}{case['name'][:24]:26}{1e3 * seconds:9.3f} ms{total / 2**30:8.2f} GiB{total / seconds / 1e12:7.2f} TB/s")
    return int(bool(wrong) or noticed * 10 < 9 * (checked - over))


if __name__ == "__main__":
    sys.exit(main())
