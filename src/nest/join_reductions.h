#pragma once
/// Fuses reductions over equal extents that read the same elements or compute the same terms: a mean and a mean of
/// squares, a greatest score and its exponentials' other sums.
///
///   parallel i < 1000                        parallel i < 1000
///     reduce k < 512 carrying a                reduce k < 512 carrying a, b
///       %0 = f32 tanh(b0[512 i + k])     ->      %0 = f32 tanh(b0[512 i + k])
///       next a + %0                              next a + %0, b + %0 * %0
///     reduce k < 512 carrying b
///       %1 = f32 tanh(b0[512 i + k])
///       next b + %1 * %1

#include "nest/nest.h"

namespace lowtide::engine {

/// Only for code generation: which arrays results may alias is decided on the nest as it was.
Nest join_reductions(Nest nest);

}  // namespace lowtide::engine
