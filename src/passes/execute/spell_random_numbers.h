#pragma once
/// Replaces `rng` by a counter-based generator's bits and arithmetic on them.
///
///                                              counter = rng-get-and-update-state(), delta=blocks
///     rng(a, b), distribution=rng_uniform  ==> bits = rng-bit-generator({0, counter}), algorithm=rng_philox
///                                              a + (bits >> k) 2^-d (b - a), and a where that rounds up to b
///                                              (integers: a + bits mod (b - a))
///     rng(m, s), distribution=rng_normal   ==> m + s sqrt(-2 log u) cos(2 pi v), u and v made as above
///                                              (Box, Muller: A note on the generation of random normal deviates; 1958)
///
/// Saves the numbers: each can be generated where it is read. Types narrower than f32 are computed in f32.
///
/// Requires: verified.  Keeps: roots, donation, schedule.
/// Numerics: exact, by the definition in ops/rng.cpp.
/// Tests: tests/text/passes/spell-random-numbers/, tests/text/eval/rng_*.hlo

#include "passes/pass.h"

namespace lowtide::engine {

Result<PassResult> spell_random_numbers(Module& module);

}  // namespace lowtide::engine
