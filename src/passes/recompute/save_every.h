#pragma once
/// Saves loop-carried values only at the beginning of each group of k iterations, instead of in every iteration, for a
/// later loop, which reruns the iterations of a group before it needs them.
///
///     while (i, x): xs[i] = x  x = f(x)        while (g, x): cs[g] = x  while (l, x): x = f(x)
///     while (j, d): .. xs[n - 1 - j] ..   ==>  while (g, d): while (l, x = cs[n / k - 1 - g]): s[l] = x  x = f(x)
///                                                            while (l, d): .. s[k - 1 - l] ..
///
/// n stacked values become n / k + k, for one more run of the first loop, with the last iteration of a group reduced to
/// what its slices depend on. If some iterations are in no group, the loops are split first (split_trips.h).
///
/// Requires: verified, no calls.  Keeps: roots, donation, schedule.
/// Numerics: exact: the same operations on the same values.
/// Not done if the later loop has another trip count, or reads the stacks in another order than first to last or last
/// to first.
/// Tests: tests/unit/save_every_test.cpp, tests/text/passes/save-every

#include <vector>

#include "passes/pass.h"

namespace lowtide::engine {

struct Grouping {
  int64_t k = 0;   ///< iterations of a group, from 2 on
  int64_t of = 0;  ///< the first so many iterations are grouped; 0: as many as make whole groups
  bool operator==(const Grouping&) const = default;
};

Result<PassResult> save_every(Module& module, const Grouping& grouping);

/// Groupings that save memory, by increasing savings.
std::vector<Grouping> groupings(const Module& module);

/// Several groupings of all iterations, each but the first one of the groups of the one before: two, and three, if they
/// leave clearly less than one fewer.
std::vector<std::vector<Grouping>> nested_groupings(const Module& module);

}  // namespace lowtide::engine
