#pragma once
/// Which leaves of the timeline are names of the same value, and which values must share a buffer.

#include <cstdint>
#include <unordered_map>
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
  /// By value: the one that it continues, unchanged: what enters a loop's body and what leaves it, a branch's result.
  std::unordered_multimap<int32_t, int32_t> continues;
};

struct ValueOptions {
  /// Assumes that a reshape moves no bytes, as no layouts require it.
  bool reshape_is_view = false;
  /// A loop's condition reads the initial value, which it shares with the body: not a carry of its own.
  bool tests_initial = false;
};

Values find_values(const Module& module, const Leaves& leaves, const Timeline& timeline, const Donation& donation,
                   const ValueOptions& options);

}  // namespace lowtide::engine
