#pragma once
/// Rows of one array that several loops make part by part, as a stencil's edges and its middle: one loop makes them row
/// by row, so that a row is read once, and the parts of a row are one task.

#include "nest/nest.h"

namespace lowtide::engine {

/// Parallel loops that stand beside each other, have equal extents and step equally through what they store become one,
/// and so do the loops in it. Loops that only move elements stay: whole boxes are moved (schedule/box_moves.h).
Nest join_loops(Nest nest);

}  // namespace lowtide::engine
