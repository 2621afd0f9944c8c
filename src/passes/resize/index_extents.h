#pragma once
/// Loops and the indices that they count: iterations, the stacks that are indexed by the counter, the constants
/// between.

#include "passes/resize/extents.h"

namespace lowtide::engine {

/// Of every dynamic-slice and dynamic-update-slice: where an index counts with a loop, the loop's iterations follow the
/// dimension, and so do constants in the loop's condition and on the index's way. Arithmetic that isn't understood
/// keeps the dimension and the loop as they are.
void relate_indices(const Module& module, ModuleExtents& extents);

}  // namespace lowtide::engine
