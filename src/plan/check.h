#pragma once
/// Checks a placement. Shares no code with the packer.

#include <string>

#include "plan/problem.h"

namespace lowtide::engine {

/// Empty, or a sentence with the first fault found: overlap in time and space, misalignment, a bad offset or height.
std::string check_placement(const Problem& problem, const Placement& placement);

}  // namespace lowtide::engine
