#pragma once
/// Offsets for all buffers in an arena as low as can be found.
///
/// Buffers that share no time, not even through others, are packed apart (components). Each starts with the best of the
/// greedy orders; one that stays above the bound and isn't too large is searched exactly, for the bound first, then for
/// ever better heights between. Large ones are improved by placing first what ended too high. Budgets are counted in
/// work, not in seconds: the same problem always gets the same placement.

#include <limits>

#include "base/progress.h"
#include "plan/greedy.h"
#include "plan/problem.h"

namespace lowtide::engine {

/// Of a search that someone waits for: a MiB is worth a tenth of a second.
inline constexpr int64_t kWorkPerByte = 10;

struct PackOptions {
  Bytes capacity = 0;          ///< low enough: stop there; 0: as low as possible
  int64_t work = 100'000'000;  ///< visits of buffers during search: some 10^8 take a second
  int64_t work_per_byte = 0;   ///< no more than that for each byte to be saved; 0: however few they are
  Bytes useless = std::numeric_limits<Bytes>::max();  ///< a height from which on no placement is better than another
  Progress* progress = nullptr;                       ///< of whoever waits for this; null: nobody
};

Placement pack(const Problem& problem, const PackOptions& options = {});

/// A lower bound of every arena: the load, with sizes rounded up where alignment wastes the bytes after them.
Bytes packing_bound(const Problem& problem);

}  // namespace lowtide::engine
