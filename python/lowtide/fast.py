"""What models are made of: norms, rotary positions, attention."""

from lowtide._arrays.fast import *  # noqa: F403
