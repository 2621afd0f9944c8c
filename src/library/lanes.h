#pragma once
/// Runs work on several threads with scratch whose size is known in advance: a lane executes one task after another in
/// its own part of the scratch. The number of lanes depends on shapes, never on threads; which lane executes a task is
/// arbitrary, and the task's results must not depend on it.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "base/thread_pool.h"

namespace lowtide::engine {

inline int64_t align_scratch(int64_t bytes) { return (bytes + 63) / 64 * 64; }

struct Lanes {
  int64_t tasks = 0;
  int64_t bytes = 0;  ///< of one lane
  int64_t count = 1;

  Lanes() = default;
  /// As many lanes as fit into `shared_bytes`, at least 2, at most 32.
  Lanes(int64_t tasks, int64_t lane_bytes, int64_t shared_bytes = int64_t{4} << 20)
      : tasks(tasks), bytes(align_scratch(lane_bytes)) {
    constexpr int64_t kFewest = 2, kMost = 32;
    const int64_t fit = bytes > 0 ? shared_bytes / bytes : kMost;
    count = std::max<int64_t>(std::min(tasks, std::clamp(fit, kFewest, kMost)), 1);
  }
  int64_t scratch_bytes() const { return bytes * count; }

  /// Calls f(task, scratch of the lane), or f(task, scratch of the lane, lane).
  template <class F>
  void run(ThreadPool& pool, void* scratch, F&& f) const {
    std::atomic<int64_t> next = 0;
    // Several at once where there are many: the counter waits for all that was stored before.
    constexpr int64_t kShares = 16, kMostAtOnce = 16;
    const int64_t some = std::clamp<int64_t>(tasks / (count * kShares), 1, kMostAtOnce);
    pool.run(count, [&](int64_t lane, int) {
      std::byte* own = bytes > 0 ? static_cast<std::byte*>(scratch) + lane * bytes : nullptr;
      for (int64_t first = next.fetch_add(some); first < tasks; first = next.fetch_add(some)) {
        for (int64_t task = first; task < std::min(first + some, tasks); ++task) {
          if constexpr (std::is_invocable_v<F, int64_t, std::byte*, size_t>) {
            f(task, own, static_cast<size_t>(lane));
          } else {
            f(task, own);
          }
        }
      }
    });
  }
};

}  // namespace lowtide::engine
