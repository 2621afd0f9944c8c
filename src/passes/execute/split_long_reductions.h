#pragma once
/// Splits a fold of many elements into few values into two folds.
///
///     s = f32[] reduce(x f32[1048576], 0), add         y = f32[1024,1024] reshape(x)
///                                               ==>    t = f32[1024] reduce(y, 0), dimensions={1}
///                                                      s = f32[] reduce(t, 0)
///
/// Costs bytes(t), at most kMostParts elements for each value; gains threads: the first fold has one independent part
/// per element of t. The parts depend on the shape alone, so that results are the same bits for every number of
/// threads; and they are shorter sums, which lose fewer bits than one long one.
///
/// Two reduced dimensions are folded one after the other; a single one is split at a divisor, otherwise its remainder
/// is folded separately.
///
/// Requires: verified.  Keeps: roots, donation, schedule.
/// Numerics: reassociated (HLO leaves the order of a fold open). If Module::sums_in_order, only folds whose order
///   doesn't matter are split.
/// A fold of several arrays is split if the body selects, like an argmax: each result is one of its two parameters.
/// Parts are combined in order, so that among equal ones the same is selected. Not split: other bodies than these and
/// add, multiply, minimum, maximum, and, or, xor; for selecting bodies, a dimension without a suitable divisor.
/// Tests: tests/text/passes/split-long-reductions/

#include "passes/pass.h"

namespace lowtide::engine {

inline constexpr int64_t kLongReduction = int64_t{1} << 16;  ///< per result, from which on splitting pays
/// The same if several dimensions are folded, and all results together take kLongReduction elements: one of the
/// dimensions is kept separate, and the rest is read in memory order. A single dimension that isn't the last:
/// kLongByRows and kLongInAll (passes/execute/parts.h).
inline constexpr int64_t kLongByDimensions = int64_t{1} << 12;

Result<PassResult> split_long_reductions(Module& module);

}  // namespace lowtide::engine
