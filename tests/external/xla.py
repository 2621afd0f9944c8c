"""Runs HLO text on XLA:CPU through jaxlib: the other executor. Private calls of jaxlib 0.10; absent() says when they can't be had."""
import os

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

_missing = None
try:
    import numpy as np
    import ml_dtypes
    import jax

    jax.config.update("jax_enable_x64", True)
    import jaxlib._hlo as hlo
    import jaxlib._jax as _jax
    from jax._src import compiler
    from jax._src.interpreters import mlir
    from jax._src.lib import xla_client
    from jax._src.lib.mlir import ir

    DTYPES = {"pred": np.bool_, "s8": np.int8, "u8": np.uint8, "s16": np.int16, "u16": np.uint16, "s32": np.int32,
              "u32": np.uint32, "s64": np.int64, "u64": np.uint64, "f16": np.float16, "bf16": ml_dtypes.bfloat16,
              "f32": np.float32, "f64": np.float64, "c64": np.complex64, "c128": np.complex128}
except Exception as error:  # any shape of jax that isn't this one
    _missing = f"{type(error).__name__}: {error}"


def absent():
    """Why XLA can't be asked, or None."""
    return _missing


class Rejected(Exception):
    """XLA doesn't take the program."""


def seeded(k, dtype, dims, seed=0):
    """Element i of argument k from splitmix64(seed 2^56 + k 2^40 + i)."""
    with np.errstate(over="ignore"):
        z = np.arange(int(np.prod(dims)), dtype=np.uint64) + np.uint64((seed << 56) + (k << 40)) + np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        h = (z ^ (z >> np.uint64(31))) >> np.uint64(40)
    if dtype is np.bool_:
        return (h % np.uint64(2)).astype(np.bool_).reshape(dims)
    if np.issubdtype(dtype, np.integer):
        return (h % np.uint64(8)).astype(dtype).reshape(dims)
    wide = np.float64 if np.dtype(dtype).itemsize > 4 else np.float32
    return (0.1 + 0.9 * (h.astype(np.float64) / 2**24)).astype(wide).astype(dtype).reshape(dims)


def as_mlir(text):
    """A module as StableHLO's text, and (dtype, extents) of each argument."""
    import re
    try:
        computation = hlo.XlaComputation(hlo.hlo_module_from_text(text).as_serialized_hlo_module_proto())
        shapes = [(DTYPES[re.match(r"\w+", str(s))[0]], s.dimensions()) for s in computation.program_shape().parameter_shapes()]
        return _jax.mlir.xla_computation_to_mlir_module(computation), shapes
    except Exception as error:
        raise Rejected(str(error)) from error


def compiled_mlir(program, before=lambda: None):
    """An executable for what as_mlir gave. before: called when the client is about to have the program, which is parsed by then."""
    try:
        device = jax.local_devices()[0]
        with mlir.make_ir_context():
            options = compiler.get_compile_options(num_replicas=1, num_partitions=1)
            parsed = ir.Module.parse(program)
            before()
            return compiler.backend_compile_and_load(device.client, parsed, xla_client.DeviceList((device,)), options, [])
    except Exception as error:
        raise Rejected(str(error)) from error


def compiled(text):
    """An executable for a module, and (dtype, extents) of each argument."""
    program, shapes = as_mlir(text)
    return compiled_mlir(program), shapes


def run(text, seed=0):
    """The flattened results of a module on its seeded arguments."""
    executable, shapes = compiled(text)
    arguments = [jax.device_put(seeded(k, dtype, dims, seed)) for k, (dtype, dims) in enumerate(shapes)]
    try:
        results = executable.execute_sharded(arguments).disassemble_into_single_device_arrays()
        return [np.asarray(r[0]) for r in results]
    except jax.errors.JaxRuntimeError as error:
        if "UNIMPLEMENTED" in str(error):  # some products of two types are compiled, and have no code
            raise Rejected(str(error)) from error
        raise
