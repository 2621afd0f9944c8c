"""Discrete Fourier transforms, with NumPy's names and conventions; results are complex64, or float32."""

from lowtide._arrays.fft import *  # noqa: F403
