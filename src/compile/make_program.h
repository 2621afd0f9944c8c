#pragma once
/// The last part of a plan: from the rewritten module to the program.

#include "compile/compile.h"
#include "schedule/nest_cache.h"

namespace lowtide::engine {

/// Sets the program, and what makes it again. found: streams that rows of the pipeline made by themselves.
Status make_program(Compiled& compiled, const std::shared_ptr<Module>& rewritten, const Decisions& decisions,
                    const std::vector<StreamDecision>& found, const std::shared_ptr<KnownNests>& nests);

/// A wrong plan would be a wrong answer: a plainer one, with no value over another, takes the place of one that
/// check_program() refuses (Program::refused); with LOWTIDE_CHECK that is a fault.
Status check_plan(Compiled& compiled);

}  // namespace lowtide::engine
