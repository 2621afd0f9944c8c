#pragma once
/// Monotonic time.

#include <chrono>
#include <cstdint>

namespace lowtide::engine {

/// Nanoseconds since some moment before the process began.
inline int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

inline double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace lowtide::engine
