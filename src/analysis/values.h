#pragma once
/// Which leaves of the timeline are the same value under several names, and which values must share a buffer.

#include <cstdint>
#include <utility>
#include <vector>

#include "analysis/donation.h"
#include "analysis/timeline.h"

namespace lowtide::engine {

inline constexpr int32_t kNoStep = -1;

/// Leaves of the timeline, folded into values. A value is named by its defining leaf. Tuples, tuple elements, bitcasts,
/// barriers, calls and the ends of asynchronous pairs pass values on; so does a loop whose body returns a carry
/// untouched.
struct Values {
  std::vector<int32_t> of_leaf;  ///< leaf -> value
  std::vector<Step> step_of;     ///< leaf -> step of its instruction; kNoStep where that has none
  /// Pairs that XLA keeps in one buffer: a loop's initial value, carry and result; a conditional's result and those of
  /// its branches; updates in place; donated parameters and the results declared to live in them.
  std::vector<std::pair<int32_t, int32_t>> tied;
};

struct ValueOptions {
  /// A reshape moves no bytes (no layouts are known that say otherwise).
  bool reshape_is_view = false;
};

Values find_values(const Module& module, const Leaves& leaves, const Timeline& timeline, const Donation& donation,
                   const ValueOptions& options);

}  // namespace lowtide::engine
