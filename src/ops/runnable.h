#pragma once
/// Finds operations that can't be run whatever their operands hold, so that plans report them before a run.

#include <string>

#include "ir/module.h"

namespace lowtide::engine {

/// The error message with which running this operation, or a computation that it always calls, fails; empty: it runs,
/// or whether it does depends on values. The interpreter itself reports operations that have no definition.
std::string why_not_run(const Instruction& instruction);

/// For single operations; defined next to their rules.
std::string why_custom_call_not_run(const Instruction& call);
std::string why_collective_not_run(const Instruction& collective);
std::string why_set_dimension_size_not_run(const Instruction& instruction);

}  // namespace lowtide::engine
