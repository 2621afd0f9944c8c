#pragma once
/// Writes new extents into a copy of a module: shapes, attributes, literals and scalar constants.

#include "passes/resize/solve_extents.h"

namespace lowtide::engine {

/// `copy` is a clone of `module`, whose extents were solved.
void set_extents(const Module& module, const ModuleExtents& extents, const SolvedExtents& solved, Module& copy);

}  // namespace lowtide::engine
