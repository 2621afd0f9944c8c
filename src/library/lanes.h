#pragma once
/// Work on several threads with scratch whose size is known beforehand: a lane is a share of the tasks, with a part of
/// the scratch of its own. How many lanes there are depends on shapes, never on threads.

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/thread_pool.h"

namespace lowtide {

inline int64_t align_scratch(int64_t bytes) { return (bytes + 63) / 64 * 64; }

struct Lanes {
  int64_t tasks = 0;
  int64_t bytes = 0;  ///< of one lane
  int64_t count = 1;

  Lanes() = default;
  /// As many as share 4 MiB, at least 2, at most 32.
  Lanes(int64_t tasks, int64_t lane_bytes) : tasks(tasks), bytes(align_scratch(lane_bytes)) {
    constexpr int64_t kShared = int64_t{4} << 20, kFewest = 2, kMost = 32;
    const int64_t fit = bytes > 0 ? kShared / bytes : kMost;
    count = std::max<int64_t>(std::min(tasks, std::clamp(fit, kFewest, kMost)), 1);
  }
  int64_t scratch_bytes() const { return bytes * count; }

  /// f(task, scratch of the lane)
  template <class F>
  void run(ThreadPool& pool, void* scratch, F&& f) const {
    pool.run(count, [&](int64_t lane, int) {
      std::byte* own = bytes > 0 ? static_cast<std::byte*>(scratch) + lane * bytes : nullptr;
      for (int64_t task = lane; task < tasks; task += count) f(task, own);
    });
  }
};

}  // namespace lowtide
