#pragma once
/// Changes in the user's source, each of which is exactly an edit of the module that was made, with the account of the
/// module so edited by XLA's rules.

#include <vector>

#include "report/report.h"
#include "target/target.h"

namespace lowtide::engine {

struct PlannedSourceChange {
  std::string what;  ///< the edit, in the module's words
  SourceChange in_source;
  std::vector<ValueName> removes;  ///< values of the module that aren't there any more
};

/// Rows of a table taken by their ids instead of multiplied by one-hot rows, forwards and in gradients: nothing where
/// products of other forms would go with those, or little is saved. Not of scheduled modules: XLA compiles none twice.
Result<std::vector<PlannedSourceChange>> source_changes(const Module& module, const Target& target, int64_t peak);

}  // namespace lowtide::engine
