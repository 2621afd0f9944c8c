#pragma once
/// Regions, and whole modules as work, by their operations' definitions: the oracle for kernels, and for what regions
/// are said to be.

#include <functional>
#include <span>

#include "base/status.h"
#include "region/work.h"

namespace lowtide::engine {

/// `inputs` and, for outputs that are updates, `updated` (null elsewhere) hold the arrays in the region's order.
/// The results are those of its outputs. Faults as in interp/interpreter.h.
Result<std::vector<Value>> interpret(const Region& region, std::span<const Value> inputs,
                                     std::span<const Value> updated);

/// How a region is run.
using RunRegion =
    std::function<Result<std::vector<Value>>(const Region&, std::span<const Value>, std::span<const Value>)>;

/// The entry computation, piece of work by piece: nothing but what is stored passes from one to the next. Results
/// flattened in tuple order, arguments as in interp/interpreter.h. Regions by definition, or by `run_region`.
Result<std::vector<Value>> interpret(const ModuleWork& work, std::vector<Value> arguments,
                                     const RunRegion& run_region = {});

}  // namespace lowtide::engine
