#pragma once
/// Makes a program fit when XLA runs it: HLO that XLA reads, with streams chosen by a model of XLA's account.

#include <memory>
#include <optional>

#include "compile/frontier.h"
#include "report/fit_report.h"
#include "text/input.h"

namespace lowtide::engine {

struct FittedForXla {
  std::unique_ptr<Module> module;  ///< within the limit, or the tightest found, by the model
  FitReport report;                ///< sizes are the model's; XLA decides
};

/// Without a limit: the tightest. Programs that are yet to be partitioned aren't streamed: slices of sharded dimensions
/// would be exchanged in every iteration.
Result<FittedForXla> fit_for_xla(const Input& input, const Target& target, std::optional<int64_t> limit);

}  // namespace lowtide::engine
