#pragma once
/// Candidate orders of the whole module; the planner tries them and keeps the best.

#include "schedule/order.h"

namespace lowtide::engine {

/// The first is the given one. Nested computations come before their callers, so that their memory is known there.
/// budget: orders tried by local improvement, for all computations together.
std::vector<WorkOrder> candidate_orders(const Module& module, const ModuleWork& work, ValueTable& values,
                                        int64_t budget);

}  // namespace lowtide::engine
