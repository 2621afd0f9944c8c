#pragma once
/// Splits a scatter of many updates into few elements: each part scatters into its own copy, and a fold combines the
/// copies.
///
///     c = s32[1024] scatter(x, i[4194304,1], u[4194304]), add
///       ==>  p = s32[16,1024] scatter(0, i[16,262144,1], u[16,262144]), add, along a batch dimension of 16
///            c = x + reduce(p), dimensions={0}, add
///
/// Costs a copy of the result for each part, at most kMostCopies bytes and 1/kWorthCopies of the updates in all; gains
/// threads: updates of one scatter may conflict anywhere, those of two parts don't. The parts depend on the shape
/// alone, so that results are the same bits for every number of threads.
///
/// Requires: verified.  Keeps: roots, donation, schedule.
/// Numerics: reassociated (HLO leaves the order of a scatter open). Where Module::sums_in_order, only those whose order
///   doesn't matter are split.
/// Not split: several operands, batch dimensions of its own, bodies that aren't one of add, multiply, minimum, maximum,
///   and, or, xor, counts of updates that the parts don't divide.
/// Tests: tests/text/passes/split-long-scatters/

#include "passes/pass.h"

namespace lowtide::engine {

inline constexpr int64_t kLongScatter = int64_t{1} << 15;  ///< updates from which on splitting pays
inline constexpr int64_t kMostScatterParts = 16, kLeastScatterParts = 2;
inline constexpr int64_t kWorthCopies = 2;
inline constexpr int64_t kMostCopies = int64_t{1} << 20;

Result<PassResult> split_long_scatters(Module& module);

}  // namespace lowtide::engine
