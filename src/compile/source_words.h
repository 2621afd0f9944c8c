#pragma once
/// Expresses what a plan recomputes as a change of the user's source: checkpoints, and the values they save.

#include <string>
#include <vector>

#include "base/status.h"
#include "compile/planner.h"

namespace lowtide::engine {

/// One sentence per change: the loop body or values that jax.checkpoint should surround, the names that its policy
/// saves, and the source lines of these. Only for programs from jax.jit. It describes the plan and guarantees nothing
/// about XLA's memory for the changed source.
Result<std::vector<std::string>> source_words(const Planner& planner, const Decisions& decisions);

}  // namespace lowtide::engine
