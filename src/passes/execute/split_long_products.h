#pragma once
/// Splits a product of many terms with few results, which no library computes, into parts and their sum.
///
///     s = f32[64] dot(v f32[40000], x f32[40000,64])
///       ==>  p = f32[250,64] dot(f32[250,160] v, f32[250,160,64] x), along a batch dimension of 250
///            s = f32[64] reduce(p, 0), dimensions={0}, add
///
/// Costs bytes(p), at most kMostPartSums elements (passes/execute/parts.h); gains threads: a vector times a matrix has
/// its columns side by side in a few vectors, and is otherwise computed by as many threads. The parts depend on the
/// shape alone, so that results are the same bits for every number of threads.
///
/// Requires: verified.  Keeps: roots, donation, schedule.
/// Numerics: reassociated. Where Module::sums_in_order, nothing is split.
/// Not split: batches, several contracted dimensions, results narrower than f32 (which are rounded once), complex and
///   integer products.
/// Tests: tests/text/passes/split-long-products/

#include "passes/pass.h"

namespace lowtide::engine {

Result<PassResult> split_long_products(Module& module, const Target& target);

}  // namespace lowtide::engine
