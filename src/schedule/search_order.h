#pragma once
/// Candidate orders of the whole module; whoever plans tries them and keeps the best.

#include "schedule/order.h"

namespace lowtide::engine {

/// The first is the given one. Nested computations come before those that call them, so that a caller knows what they
/// hold. budget: orders tried by local improvement, for all computations together.
std::vector<WorkOrder> candidate_orders(const Module& module, const ModuleWork& work, ValueTable& values,
                                        int64_t budget);

}  // namespace lowtide::engine
