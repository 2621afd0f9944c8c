"""The arrays' names besides NumPy's (lowtide.numpy): transformations, memory, streams, files. `lowtide` re-exports all
of them."""

import lowtide.fast as fast
import lowtide.fft as fft
import lowtide.linalg as linalg
import lowtide.numpy as numpy
import lowtide.random as random
from lowtide._arrays import (
    LimitError, Plan, Program, clear_cache, disable_compile, enable_compile, get_active_memory, get_array_buffer_size, get_cache_memory, get_memory_limit,
    get_peak_memory, memory_stats, plan_stats, reset_peak_memory, set_cache_limit, set_memory_limit, set_wired_limit, use,
)
from lowtide._arrays.numpy import Dtype, array, stop_gradient
from lowtide._files import load, load_safetensors, save, save_safetensors, savez
from lowtide._streams import Stream, default_stream, new_stream, set_default_stream, stream, synchronize
from lowtide._transforms import (
    async_eval, checkpoint, compile, cond, custom_function, custom_vjp, eval, function_of, grad, jvp, limit, plan, scan, to_program,
    value_and_grad, vjp, vmap, while_loop,
)

__all__ = [
    "Dtype", "LimitError", "Plan", "Program", "Stream", "array", "async_eval", "checkpoint", "clear_cache", "compile", "cond", "custom_function", "custom_vjp",
    "default_stream", "disable_compile", "enable_compile", "eval", "fast", "fft", "function_of", "get_active_memory", "get_array_buffer_size", "get_cache_memory",
    "get_memory_limit", "get_peak_memory", "grad", "jvp", "limit", "linalg", "load", "load_safetensors", "memory_stats", "new_stream", "numpy",
    "plan", "plan_stats", "random", "reset_peak_memory", "save", "save_safetensors", "savez", "scan", "set_cache_limit", "set_default_stream",
    "set_memory_limit", "set_wired_limit", "stop_gradient", "stream", "synchronize", "to_program", "use", "value_and_grad", "vjp", "vmap", "while_loop",
]
