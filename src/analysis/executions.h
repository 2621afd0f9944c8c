#pragma once
/// How often the computations of a module run while it runs once.

#include <unordered_map>

#include "ir/module.h"

namespace lowtide::engine {

/// By computation: 1 for the entry; bodies of loops as often as guessed_trips() says, for each run of what calls them.
/// Of branches each counts as taken. What no loop, branch or call runs (combiners of reductions) is not there.
std::unordered_map<const Computation*, double> executions(const Module& module);

}  // namespace lowtide::engine
