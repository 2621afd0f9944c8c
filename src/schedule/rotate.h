#pragma once
/// How carries reach the next iteration if the body's root is elsewhere: by exchanging addresses if all of them may
/// move, by copies otherwise.

#include "schedule/coalesce.h"

namespace lowtide::engine {

struct LoopMoves {
  std::vector<int32_t> from, to;  ///< classes that exchange addresses: to[i] gets the address of from[i]
  std::vector<Move> copies;
};

/// By step, of the kLoopNext steps.
using LoopMovesOf = std::unordered_map<Step, LoopMoves>;

/// For the loop that ends its iterations at step `next`.
LoopMoves plan_loop_moves(const Flow& flow, Step next, const Classes& classes, const LiveRanges& live);

}  // namespace lowtide::engine
