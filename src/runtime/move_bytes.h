#pragma once
/// Moves bytes within host memory.

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/thread_pool.h"

namespace lowtide::engine {

/// Bytes that move at the same time as others.
struct Shift {
  std::byte* to = nullptr;
  const std::byte* from = nullptr;
  int64_t bytes = 0;
};
inline constexpr size_t kStripBytes = size_t{32} << 10;
/// Moves all of them as if each were read before any is written. Any two ranges are equal, begin at the same address,
/// or are disjoint; a single range may overlap itself. `strip`: scratch of kStripBytes.
void shift_at_once(std::span<const Shift> shifts, std::span<std::byte> strip, ThreadPool& pool);

}  // namespace lowtide::engine
