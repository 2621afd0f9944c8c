#pragma once
/// Relates trip counts to the stacks that loop counters index, and to the constants in the indices' computation.

#include "passes/resize/extents.h"

namespace lowtide::engine {

/// For every dynamic-slice and dynamic-update-slice: if an index counts with a loop, the loop's trip count depends on
/// the dimension, and so do constants in the loop's condition and in the index's computation. Arithmetic that isn't
/// understood keeps the dimension and the loop unchanged.
void relate_indices(const Module& module, ModuleExtents& extents);

}  // namespace lowtide::engine
