#pragma once
/// What a plan recomputes, as its user would write it: checkpoints, and what they save.

#include <string>
#include <vector>

#include "base/status.h"
#include "compile/planner.h"

namespace lowtide::engine {

/// A sentence per change: which loop's body, or which values, jax.checkpoint would have to surround, with the names
/// that its policy saves and the lines at which these are given. Of programs that jax.jit made. It is what
/// the plan does, not a promise: what XLA makes of the changed source, XLA decides.
Result<std::vector<std::string>> source_words(const Planner& planner, const Decisions& decisions);

}  // namespace lowtide::engine
