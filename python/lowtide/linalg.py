"""Linear algebra on matrices in the last two dimensions, of float32 or float64; what lies before them is a batch."""

from lowtide._arrays.linalg import *  # noqa: F403
