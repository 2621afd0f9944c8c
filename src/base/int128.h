#pragma once

#include <cstdint>

namespace lowtide::engine {

/// Products of 64-bit steps and bounds, and sums of them.
using Int128 = __int128;

inline int64_t saturated(Int128 x) {
  return x < INT64_MIN ? INT64_MIN : x > INT64_MAX ? INT64_MAX : static_cast<int64_t>(x);
}

}  // namespace lowtide::engine
