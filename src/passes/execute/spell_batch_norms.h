#pragma once
/// Writes batch-norm-training, -inference and -grad as arithmetic and sums over all dimensions but the feature's.
///
///                                                       mean = sum(x) / n
///     (y, mean, variance) =                        ==>  variance = sum((x - mean)^2) / n
///         batch-norm-training(x, scale, offset)         y = (x - mean) * (scale / sqrt(variance + epsilon)) + offset
///
/// Saves y and everything computed from it elementwise: readers compute it from x and three vectors. A training step
/// whose backward pass reads y or its activation keeps only x.
///
/// Requires: verified.  Keeps: roots, donation, schedule.
/// Numerics: reassociated: the definition doesn't say in which order it sums. Types narrower than f32 are computed in
/// f32. The variance is computed from centred values, in two passes: the difference of two means is inaccurate if the
/// mean is much larger than the spread.
/// Tests: tests/text/passes/spell-batch-norms/

#include "passes/pass.h"

namespace lowtide::engine {

Result<PassResult> spell_batch_norms(Module& module);

}  // namespace lowtide::engine
