#pragma once
/// One order planned to the end: what is live, what shares bytes, where it lies.

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

/// Where results can't lie over operands in these ways after all, they lie as kernels let them. useless: how large an
/// arena is one that the caller has no use for, whatever its size.
WorkPlan plan_work(const Module& module, const ValueTable& given, const WorkOrder& order, const Donations& donations,
                   NestCache& nests, const Packings& packings, InPlaceWays ways, Bytes useless);

}  // namespace lowtide::engine
