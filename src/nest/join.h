#pragma once
/// Fuses loops that compute parts of the same rows, such as a stencil's edges and its middle: one loop computes them
/// row by row, so that a row is read once, and the parts of a row are one task.

#include "nest/nest.h"

namespace lowtide::engine {

/// Adjacent parallel loops with equal extents and equal strides of their stores become one, and so do their inner
/// loops. Loops that only move elements are left alone: whole boxes are moved (schedule/box_moves.h).
Nest join_loops(Nest nest);

}  // namespace lowtide::engine
