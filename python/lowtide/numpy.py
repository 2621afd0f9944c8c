"""NumPy's names for lazily evaluated arrays, planned in as little memory as possible: docs/arrays.md.

    import lowtide.numpy as np

Functions take what array() takes: arrays, numbers, nested lists, NumPy arrays and objects with __dlpack__. A number
takes the type of the other operand. Arrays are immutable: x.at[index].set(value) returns a new one. Invalid arguments
are a ValueError, raised by the function and not by the evaluation.
"""

from lowtide import fft, linalg, random
from lowtide._arrays.numpy import *  # noqa: F403
from lowtide._arrays.numpy import (
    abs, arccos, arccosh, arcsin, arcsinh, arctan, arctan2, arctanh, array, bitwise_invert, concatenate, conjugate, divide, left_shift, max, min,
    negative, power, radians, degrees, remainder, right_shift, transpose,
)
from lowtide._files import load, save, savez

ndarray = array
absolute = abs
acos, acosh, asin, asinh, atan, atan2, atanh = arccos, arccosh, arcsin, arcsinh, arctan, arctan2, arctanh
amax, amin = max, min
bitwise_not = invert = bitwise_invert
bitwise_left_shift, bitwise_right_shift = left_shift, right_shift
concat = concatenate
conj = conjugate
deg2rad, rad2deg = radians, degrees
mod = remainder
permute_dims = transpose
pow = power
true_divide = divide
newaxis = None
pi, e, inf, nan = 3.141592653589793, 2.718281828459045, float("inf"), float("nan")
