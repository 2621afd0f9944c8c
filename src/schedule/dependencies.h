#pragma once
/// What must be complete before a step starts: ProgramStep::after, for those who run steps side by side.
///
/// Two steps of a block conflict where one writes bytes that the other reads or writes: operands, results, scratch, the
/// predicate; of a loop and of branches, all that their blocks touch. Slots lie where they lie at that place of the
/// block, in every trip: rotations are followed from iteration to iteration until the addresses come back. Calls with
/// side effects conflict with each other. Each pair in conflict is ordered as in the block, by way of other steps where
/// that will do, so that each dependency is needed. Steps that only rename (kRotate), and those that have nothing to
/// do, wait for nobody.

#include "schedule/program.h"

namespace lowtide::engine {

void find_dependencies(Program& program);

}  // namespace lowtide::engine
