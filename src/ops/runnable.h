#pragma once
/// Operations that can't be run, whatever their operands hold: what a plan can say before anything runs.

#include <string>

#include "ir/module.h"

namespace lowtide::engine {

/// The sentence with which running this operation ends, itself or in what it always calls; empty: it runs, or it
/// depends on values whether it does. Operations without a definition at all are the interpreter's to name.
std::string why_not_run(const Instruction& instruction);

/// Of single operations, beside their definitions.
std::string why_custom_call_not_run(const Instruction& call);
std::string why_collective_not_run(const Instruction& collective);
std::string why_set_dimension_size_not_run(const Instruction& instruction);

}  // namespace lowtide::engine
