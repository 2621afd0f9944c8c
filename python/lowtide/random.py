"""Random numbers, MLX's to the bit. A key is two words, an ordinary array of uint32; without one the next of the thread's sequence is used."""

from lowtide._arrays.random import *  # noqa: F403
