"""python_arrays.py BUILD ROOT: arrays in Python beside NumPy. Each case is an expression that is computed twice, with NumPy's arrays and with
ours, of the same random numbers; every function that a header declares must be bound and stand in a case. --control: one result is
spoilt and one name is gone, which must be noticed."""
import os
import re
import sys

sys.dont_write_bytecode = True
from built_arrays import lowtide_of  # noqa: E402
from python_array_cases import CASES, MODULES, Beside, Draws  # noqa: E402

CONTROL = "--control" in sys.argv


OTHER = {"default_device": "one there is", "enqueue": "Python has threads", "to_dlpack": "__dlpack__", "to_dlpack_versioned": "__dlpack__", "dtype_to_string": "Dtype.name",
         "size_of": "Dtype.itemsize", "eval": "a tree", "fault": "", "kindof": "Dtype.name", "set_compile_mode": "enable_compile",
         **dict.fromkeys(("to_stream", "peek_default_stream", "new_thread_unsafe_stream", "new_thread_local_stream", "stream_from_thread_local_stream",
                          "get_streams", "clear_streams"), "any thread may use any stream")}


def declared(root, header):
    with open(os.path.join(root, "include/lowtide", header)) as file:
        text = re.sub(r"//[^\n]*", "", file.read())
    text = re.sub(r"class LOWTIDE_PUBLIC.*?\n};", "", text, flags=re.S)
    return set(re.findall(r"(?:LOWTIDE_PUBLIC|^inline)\s+[\w:<>, &*()]*?[\s&*](\w+)\(", text, flags=re.S | re.M)) - {"float"}  # operator float()


def unbound(root, lowtide, np):
    homes = {"ops.h": np, "dtype.h": np, "dlpack.h": np, "linalg.h": lowtide.linalg, "fft.h": lowtide.fft, "fast.h": lowtide.fast, "random.h": lowtide.random,
             "transforms.h": lowtide, "control.h": lowtide, "memory.h": lowtide, "io.h": lowtide, "stream.h": lowtide}
    missing = []
    for header, home in homes.items():
        names = declared(root, header)
        assert len(names) > 2, header
        gone = {"cosh"} if CONTROL and header == "ops.h" else set()
        missing += [f"{header}: {name} isn't bound" for name in sorted(names) if (name in gone or not hasattr(home, name)) and name not in OTHER]
        rows = {"ops.h": CASES, "linalg.h": MODULES["linalg"], "fft.h": MODULES["fft"]}.get(header, names)
        missing += [f"{header}: {name} has no case" for name in sorted(names) if name not in rows]
    return missing


def differs(numpy, got, wanted):
    """Why one result is another; empty: it isn't."""
    if isinstance(wanted, (list, tuple)):
        if len(got) != len(wanted):
            return f"{len(got)} results"
        return next((f"{i}: {said}" for i, (a, b) in enumerate(zip(got, wanted)) if (said := differs(numpy, a, b))), "")
    got, wanted = numpy.asarray(got), numpy.asarray(wanted)
    kinds = {"u": "i"}
    if got.shape != wanted.shape or kinds.get(got.dtype.kind, got.dtype.kind) != kinds.get(wanted.dtype.kind, wanted.dtype.kind):
        return f"{got.dtype}{got.shape} instead of {wanted.dtype}{wanted.shape}"
    if wanted.dtype.kind in "biu":
        return "" if numpy.array_equal(got, wanted) else f"{got} instead of {wanted}"
    size = max(1.0, float(numpy.max(numpy.abs(wanted), initial=0, where=numpy.isfinite(wanted))))
    return "" if numpy.allclose(got, wanted, rtol=2e-5, atol=2e-6 * size, equal_nan=True) else f"{got} instead of {wanted}"


def random_index(rng, shape, numpy):
    """Numbers, slices, None, an ellipsis, and arrays, of which all are broadcast together."""
    common = tuple(int(n) for n in rng.integers(1, 4, rng.integers(0, 3)))
    entries, d = [], 0
    dims = int(rng.integers(0, len(shape) + 1))
    for n in shape[:dims]:
        kind = rng.integers(5)
        if rng.integers(5) == 0:
            entries.append(None)
        if kind == 0:
            entries.append(int(rng.integers(-n, n)))
        elif kind in (1, 2):
            ends = [None if rng.integers(3) == 0 else int(rng.integers(-n - 1, n + 2)) for _ in range(2)]
            entries.append(slice(*ends, [None, 1, 2, -1, -3][rng.integers(5)]))
        else:
            entries.append(rng.integers(-n, n, common[int(rng.integers(len(common) + 1)):]).astype("int32"))
        d += 1
    if rng.integers(3) == 0:
        entries.append(Ellipsis)
        for n in shape[d:][::-1][:int(rng.integers(0, 2))]:
            entries.append(int(rng.integers(0, n)))
    return entries[0] if len(entries) == 1 and rng.integers(2) else tuple(entries)


def indexing(lowtide, numpy):
    rng = numpy.random.default_rng(5)
    updates = {"set": None, "add": numpy.add, "multiply": numpy.multiply, "minimum": numpy.minimum, "maximum": numpy.maximum}
    wrong = []
    for turn in range(400):
        shape = tuple(int(n) for n in rng.integers(1, 6, rng.integers(1, 5)))
        x = rng.integers(1, 99, shape).astype("float32")
        index = random_index(rng, shape, numpy)
        ours = tuple(lowtide.array(e) if isinstance(e, numpy.ndarray) and rng.integers(2) else e for e in index) if isinstance(index, tuple) else index
        said = differs(numpy, lowtide.array(x)[ours], x[index])
        if said:
            wrong.append(f"x[{index}] of {shape}: {said}")
        name = list(updates)[turn % 5]
        values = rng.integers(1, 9, x[index].shape[int(rng.integers(0, 1 + x[index].ndim)):]).astype("float32")
        expected = x.copy()
        if updates[name]:
            updates[name].at(expected, index, values)
        else:
            places = numpy.arange(x.size).reshape(shape)[index]
            if len(set(places.reshape(-1))) < places.size:  # of several values of one place any is right
                continue
            expected[index] = values
        said = differs(numpy, getattr(lowtide.array(x).at[ours], name)(values), expected)
        if said:
            wrong.append(f"x.at[{index}].{name} of {shape}: {said}")
    return wrong


def main():
    build, root = sys.argv[1:3]
    lowtide = lowtide_of(build, root, ("numpy",))
    if lowtide is None:
        return 0
    import numpy
    np = lowtide.numpy
    wrong = unbound(root, lowtide, np)
    beside = Beside(numpy)
    numpy.seterr(all="ignore")
    cases = CASES | {f"{module}.{name}": case for module, rows in MODULES.items() for name, case in rows.items()}
    for name, case in cases.items():
        for seed in range(3):
            wanted = case(beside, Draws(seed, numpy, lambda x: x))
            try:
                got = case(np, Draws(seed, numpy, lowtide.array))
            except Exception as error:
                wrong.append(f"{name}: {type(error).__name__}: {error}")
                break
            if CONTROL and name == "matmul":
                got[1] = got[1] + 0.01
            said = differs(numpy, got, wanted)
            if said:
                wrong.append(f"{name}: {said}")
                break
    wrong += indexing(lowtide, numpy)
    for line in wrong[:60]:
        print(line[:400])
    print(f"{len(cases)} cases, {len(wrong)} wrong")
    if CONTROL:
        return 0 if len(wrong) == 2 and "cosh" in wrong[0] and wrong[1].startswith("matmul: 1") else 1
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
