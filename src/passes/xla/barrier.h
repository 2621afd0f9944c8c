#pragma once
/// Barriers for compilers that take HLO: what is read through one is neither merged with equal values nor computed
/// before all that the barrier reads.

#include <vector>

#include "ir/module.h"
#include "passes/rewrite.h"

namespace lowtide::engine {

/// Appends one opt-barrier over `values`, arrays, and returns its elements; those of the first `silent` values have no
/// reader and get no instruction (null). All new instructions also go to the end of `order`.
std::vector<Instruction*> put_behind_barrier(Computation& computation, Names& names, const char* base,
                                             const std::vector<Instruction*>& values, size_t silent,
                                             std::vector<Instruction*>& order);

}  // namespace lowtide::engine
