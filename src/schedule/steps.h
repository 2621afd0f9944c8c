#pragma once
/// Converts the sequence of steps to nested program steps over slots.

#include "schedule/storages.h"

namespace lowtide::engine {

/// Why two values that a move connects don't share bytes.
using ReasonOf = std::function<std::string(const Move&)>;

std::vector<ProgramStep> emit_steps(const Flow& flow, const Classes& classes, const LoopMovesOf& loop_moves,
                                    const Hosting& hosting, const ReasonOf& reason, NestCache& nests,
                                    std::vector<Region>& regions, int64_t& kernels);

}  // namespace lowtide::engine
