#pragma once
/// Which leaves of the timeline are names of the same value, and which values must share a buffer.

#include <cstdint>
#include <utility>
#include <vector>

#include "analysis/donation.h"
#include "analysis/timeline.h"

namespace lowtide::engine {

inline constexpr int32_t kNoStep = -1;

/// The value of each leaf of the timeline. A value is identified by its defining leaf. Tuples, tuple elements,
/// bitcasts, barriers, calls and the ends of asynchronous pairs pass values on; so does a loop whose body returns a
/// carry unchanged.
struct Values {
  std::vector<int32_t> of_leaf;  ///< leaf -> value
  std::vector<Step> step_of;     ///< leaf -> step of its instruction; kNoStep if it has none
  /// Pairs that XLA keeps in one buffer: a loop's initial value, carry and result; a conditional's result and those of
  /// its branches; updates in place; donated parameters and the results declared to alias them.
  std::vector<std::pair<int32_t, int32_t>> tied;
};

struct ValueOptions {
  /// Assumes that a reshape moves no bytes, as no layouts require it.
  bool reshape_is_view = false;
};

Values find_values(const Module& module, const Leaves& leaves, const Timeline& timeline, const Donation& donation,
                   const ValueOptions& options);

}  // namespace lowtide::engine
