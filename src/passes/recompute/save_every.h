#pragma once
/// Saves what a loop hands from iteration to iteration at the beginning of each group of k iterations, where every
/// iteration's was saved for a later loop, which makes the iterations of a group again before it needs them.
///
///     while (i, x): xs[i] = x  x = f(x)        while (g, x): cs[g] = x  while (l, x): x = f(x)
///     while (j, d): .. xs[n - 1 - j] ..   ==>  while (g, d): while (l, x = cs[n / k - 1 - g]): s[l] = x  x = f(x)
///                                                            while (l, d): .. s[k - 1 - l] ..
///
/// n stacked values become n / k + k, for one more run of the first loop; of the last iteration of a group only what
/// its slices are made of. Where some iterations are in no group, the loops are split first (split_trips.h).
///
/// Requires: verified, no calls.  Keeps: roots, donation, schedule.
/// Numerics: exact: the same operations on the same values.
/// Not done: where the later loop has other iterations, or reads the stacks at other
/// places than from the last to the first or from the first to the last.
/// Tests: tests/unit/save_every_test.cpp, tests/text/passes/save-every

#include <vector>

#include "passes/pass.h"

namespace lowtide::engine {

struct Grouping {
  int64_t k = 0;   ///< iterations of a group, from 2 on
  int64_t of = 0;  ///< so many iterations are in groups, the first ones; 0: as many as make whole groups
  bool operator==(const Grouping&) const = default;
};

Result<PassResult> save_every(Module& module, const Grouping& grouping);

/// Groupings that save anything, the one that saves least first.
std::vector<Grouping> groupings(const Module& module);

}  // namespace lowtide::engine
