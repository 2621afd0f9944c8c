"""Building blocks of models: norms, rotary positions, attention."""

from lowtide._arrays.fast import *  # noqa: F403
