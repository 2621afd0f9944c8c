#pragma once
/// A region by its operations' definitions: the oracle for kernels, and for what regions are said to be.

#include <span>

#include "base/status.h"
#include "region/region.h"

namespace lowtide {

/// `inputs` and, for outputs that are updates, `updated` (null elsewhere) hold the arrays in the region's order.
/// The results are those of its outputs. Faults as in interp/interpreter.h.
Result<std::vector<Value>> interpret(const Region& region, std::span<const Value> inputs,
                                     std::span<const Value> updated);

}  // namespace lowtide
