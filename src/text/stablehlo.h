#pragma once
/// Reads and prints StableHLO text (MLIR).

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/status.h"
#include "ir/module.h"

namespace lowtide::engine {

/// The elements of each `dense_resource<name>`, as bytes instead of text.
using MlirBlobs = std::unordered_map<std::string, std::string_view>;

/// Reads a module of StableHLO, chlo and shardy operations, in the pretty form, the generic form or a mixture. Its
/// entry is the function named `entry`; without a name @main, or the only public function. The module keeps the source,
/// so that later errors can refer to it. Errors: Fault::kInput or Fault::kUnsupported with file:line:col, the line and
/// a caret. The result is not verified (ops/verify.h).
Result<std::unique_ptr<Module>> parse_stablehlo(std::shared_ptr<const Source> source, const std::string& entry = "",
                                                std::shared_ptr<Context> context = {},
                                                const MlirBlobs* blobs = nullptr);

/// Text that parse_stablehlo and jaxlib read: print(parse(print(parse(print(m))))) == print(parse(print(m))). Tuples
/// become several values; reducers and loop bodies become regions. Fault::kUnsupported names an operation that
/// StableHLO lacks.
Result<std::string> print_stablehlo(const Module& module);

}  // namespace lowtide::engine
