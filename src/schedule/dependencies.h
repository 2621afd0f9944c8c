#pragma once
/// Which steps must be complete before a step starts: ProgramStep::after, for backends that run steps concurrently.
///
/// Two steps of a block conflict if one writes bytes that the other reads or writes: operands, results, scratch, the
/// predicate; for a loop and for branches, everything that their blocks touch. Slots have the addresses of that place
/// in the block, in every iteration: rotations are followed from iteration to iteration until the addresses repeat.
/// Calls with side effects conflict with each other. Each conflicting pair is ordered as in the block, through other
/// steps if possible, so that no dependency is redundant. Steps that only rename (kRotate), and those that do nothing,
/// wait for no step.

#include "schedule/program.h"

namespace lowtide::engine {

void find_dependencies(Program& program);

}  // namespace lowtide::engine
