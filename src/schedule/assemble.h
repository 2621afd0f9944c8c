#pragma once
/// Operands of a concatenation that are computed directly at their place in its result: no copy is needed, and they
/// take no bytes of their own.

#include "schedule/host.h"
#include "schedule/rotate.h"

namespace lowtide::engine {

/// alive: by class; for a class in the arena it is extended by the lifetimes of the parts placed in it. Done only if
/// the peak doesn't rise.
Hosting assemble(const Flow& flow, const Classes& classes, const LoopMovesOf& loop_moves, NestCache& nests,
                 std::vector<LivePieces>& alive);

/// Is every result of the step already complete once its operands are computed?
bool is_assembled(const FlowStep& step, const Classes& classes, const Hosting& hosting, NestCache& nests);

}  // namespace lowtide::engine
