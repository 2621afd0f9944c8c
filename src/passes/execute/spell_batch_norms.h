#pragma once
/// Writes batch-norm-training, -inference and -grad as arithmetic and sums over all dimensions but the feature's.
///
///                                                       mean = sum(x) / n
///     (y, mean, variance) =                        ==>  variance = sum((x - mean)^2) / n
///         batch-norm-training(x, scale, offset)         y = (x - mean) * (scale / sqrt(variance + epsilon)) + offset
///
/// Saves y and all that is made of it elementwise: what reads it makes it of x and three vectors. A training step whose
/// backward part reads y or its activation keeps x alone.
///
/// Requires: verified.  Keeps: roots, donation, schedule.
/// Numerics: reassociated: the definition doesn't say in which order it sums. Types narrower than f32 are computed in
/// f32. The variance is that of centred values, in two sums: the difference of two means is wrong where the mean is
/// much more than the spread.
/// Tests: tests/text/passes/spell-batch-norms/

#include "passes/pass.h"

namespace lowtide::engine {

Result<PassResult> spell_batch_norms(Module& module);

}  // namespace lowtide::engine
