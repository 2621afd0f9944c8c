#pragma once
/// Interprets regions, and whole modules as work, by their operations' definitions: the reference for kernels and for
/// forming regions.

#include <functional>
#include <span>

#include "base/status.h"
#include "region/work.h"

namespace lowtide::engine {

/// `inputs` and, for outputs that are updates, `updated` (null elsewhere) hold the arrays in the region's order.
/// The results are those of its outputs. Errors as in interp/interpreter.h.
Result<std::vector<Value>> interpret(const Region& region, std::span<const Value> inputs,
                                     std::span<const Value> updated);

/// How a region is run.
using RunRegion =
    std::function<Result<std::vector<Value>>(const Region&, std::span<const Value>, std::span<const Value>)>;

/// Runs the entry computation piece by piece: only stored values pass from one piece to the next. Results flattened in
/// tuple order, arguments as in interp/interpreter.h. Regions are interpreted, or run by `run_region`.
Result<std::vector<Value>> interpret(const ModuleWork& work, std::vector<Value> arguments,
                                     const RunRegion& run_region = {});

}  // namespace lowtide::engine
