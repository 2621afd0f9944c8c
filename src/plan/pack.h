#pragma once
/// Finds offsets for all buffers in an arena that is as small as possible.
///
/// Buffers that share no time, not even through others, are packed separately (components). Each component starts with
/// the best of the greedy orders; if that is above the bound and the component isn't too large, an exact search tries
/// to reach the bound, then ever better heights. Large ones are improved by placing those buffers first that ended too
/// high. Budgets count work, not seconds: the same problem always gets the same placement.

#include "base/progress.h"
#include "plan/greedy.h"
#include "plan/problem.h"

namespace lowtide::engine {

/// For a search that the user waits for: a MiB is worth a tenth of a second.
inline constexpr int64_t kWorkPerByte = 10;

struct PackOptions {
  Bytes capacity = 0;            ///< stop at this height; 0: as low as possible
  int64_t work = 100'000'000;    ///< visits of buffers during search: some 10^8 take a second
  int64_t work_per_byte = 0;     ///< at most this per byte that could be saved; 0: unlimited
  size_t least_orders = 1;       ///< greedy orders that are tried whatever work they take
  Progress* progress = nullptr;  ///< null: not reported
};

Placement pack(const Problem& problem, const PackOptions& options = {});

/// A lower bound of every arena: the load, with sizes rounded up where alignment wastes the bytes after them.
Bytes packing_bound(const Problem& problem);

}  // namespace lowtide::engine
