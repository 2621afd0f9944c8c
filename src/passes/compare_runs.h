#pragma once
/// Compares what two modules compute: both run in the interpreter on the same seeded arguments.

#include <string>

#include "base/status.h"
#include "ir/module.h"
#include "passes/pass.h"

namespace lowtide::engine {

/// Empty if the results agree as `numerics` requires (kExact: bit by bit), otherwise a sentence that names the first
/// difference. An error of kind kUnsupported or kInput: `before` can't be run, so there is nothing to compare.
Result<std::string> difference_of_runs(const Module& before, const Module& after, Numerics numerics, uint64_t seed);

}  // namespace lowtide::engine
