#pragma once
/// Operands of a concatenation that are made at once where it would put them: nothing is left to copy, and they take no
/// bytes of their own.

#include "schedule/host.h"
#include "schedule/rotate.h"

namespace lowtide::engine {

/// alive: by class; of a class in the arena it grows by the lives of the parts that lie in it. Only where the most
/// bytes alive don't become more for it.
Hosting assemble(const Flow& flow, const Classes& classes, const LoopMovesOf& loop_moves, NestCache& nests,
                 std::vector<LivePieces>& alive);

/// Is every result of the step made by those who made its operands?
bool is_assembled(const FlowStep& step, const Classes& classes, const Hosting& hosting, NestCache& nests);

}  // namespace lowtide::engine
