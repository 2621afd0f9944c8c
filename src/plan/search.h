#pragma once
/// Exact packing under a capacity, by depth-first search over placements in canonical order.
///
/// Every packing can be pushed down until each buffer rests on another or at offset 0; placing its buffers from the
/// lowest offset up then visits it. So the search places buffers at non-decreasing offsets, each at the lowest offset
/// that the earlier ones allow, and prunes a branch where
///   - in some section the lowest offset still possible plus the bytes still to place exceed the capacity;
///   - another buffer would fit entirely below the next one (that packing isn't pushed down);
///   - the buffer just withdrawn has nothing left above it: another place for it changes nothing;
///   - a part of the problem that shares no time with the rest has already failed with the same lowest offsets.
/// The rest after a placement is often disconnected in time: the parts are solved one by one, each with an order of its
/// own. Restarts with growing budgets go through several orders. The ideas, except the memory of failed parts, are
/// those of MiniMalloc (Moffitt, ASPLOS 2023).

#include <cstdint>
#include <span>
#include <vector>

#include "plan/problem.h"

namespace lowtide::engine {

enum class SearchOutcome : uint8_t { kFound, kImpossible, kBudgetSpent };

struct SearchLimits {
  Bytes capacity = 0;
  int64_t nodes = 0;  ///< budget; reduced by the number visited
};

/// Offsets for the chosen buffers (in their order), none ending above the capacity. All have a size and a life.
SearchOutcome search_placement(const Problem& problem, std::span<const int32_t> chosen, SearchLimits& limits,
                               std::vector<ArenaOffset>& offsets);

}  // namespace lowtide::engine
