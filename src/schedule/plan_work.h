#pragma once
/// Plans one order to the end: live ranges, shared bytes, offsets.

#include "schedule/storages.h"

namespace lowtide::engine {

struct WorkPlan {
  Flow flow;
  Classes classes;
  LoopMovesOf loop_moves;
  Placed placed;
  std::vector<int64_t> bytes;  ///< by value
  int64_t copied_bytes = 0;    ///< by moves that stay
  bool has_strips = false, has_moves = false;
  bool better_than(const WorkPlan& other) const {
    return placed.temp_bytes() != other.placed.temp_bytes() ? placed.temp_bytes() < other.placed.temp_bytes()
                                                            : copied_bytes < other.copied_bytes;
  }
};

/// If results can't alias operands in these ways after all, they alias them only as kernels allow. useless: arenas of
/// at least this size are of no use to the caller.
WorkPlan plan_work(const Module& module, const ValueTable& given, const WorkOrder& order, const Donations& donations,
                   NestCache& nests, const Packings& packings, InPlaceWays ways, Bytes useless);

}  // namespace lowtide::engine
