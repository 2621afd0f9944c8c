#pragma once
/// Changes in the user's source that each correspond exactly to an edit of the module, with the edited module's account
/// by XLA's rules.

#include <vector>

#include "report/report.h"
#include "target/target.h"

namespace lowtide::engine {

struct PlannedSourceChange {
  std::string what;  ///< the edit, in terms of the module
  SourceChange in_source;
  std::vector<ValueName> removes;  ///< values of the module that aren't there any more
};

/// Indexing a table instead of multiplying it by one-hot rows, forward and in gradients: none if products of other
/// forms would change as well, or little is saved. Not for scheduled modules: XLA doesn't compile them again.
Result<std::vector<PlannedSourceChange>> source_changes(const Module& module, const Target& target, int64_t peak);

}  // namespace lowtide::engine
