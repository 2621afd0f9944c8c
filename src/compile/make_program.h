#pragma once
/// The last part of a plan: from the rewritten module to the program.

#include "compile/compile.h"
#include "schedule/nest_cache.h"

namespace lowtide::engine {

/// Sets the program, and the decisions that replay it. found: streams that passes made by default.
void make_program(Compiled& compiled, const std::shared_ptr<Module>& rewritten, const Decisions& decisions,
                  const std::vector<StreamDecision>& found, const std::shared_ptr<KnownNests>& nests);

/// A plan that check_program() rejects would give wrong results: it is replaced by one in which no values share bytes
/// (Program::refused); with LOWTIDE_CHECK a rejection is an error.
Status check_plan(Compiled& compiled);

}  // namespace lowtide::engine
