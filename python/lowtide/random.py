"""Random numbers, bit for bit those of MLX. A key is two words, an ordinary array of uint32; by default the next one of the
thread's sequence is used."""

from lowtide._arrays.random import *  # noqa: F403
