"""Linear algebra on matrices in the last two dimensions, of float32 or float64; the leading dimensions are a batch."""

from lowtide._arrays.linalg import *  # noqa: F403
