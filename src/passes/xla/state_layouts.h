#pragma once
/// States that what a loop slices is row-major, for compilers that choose the layout of an array by its slices'
/// readers.
///
///     body: s = f32[4096,1,14336] dynamic-slice(w, 0, i, 0)           ==>     s' = s as f32[4096,1,14336]{2,1,0}
///           p = dot(x, s8 convert(s))                                         p = dot(x, s8 convert(s'))
///
/// XLA:GPU's products of 8 bits want their sums along rows. Through elementwise operations and slices that becomes the
/// layout of what the loop carries, and all of w is copied, transposed, before the loop: a step of Llama 8B in int8
/// made four copies of 7 GiB. With its layout stated, only the slice is copied.
///
/// Saves: bytes(w) for each array that a loop slices for such products.
/// Requires: verified.  Keeps: roots, donation, schedule.
/// Numerics: exact.
/// Only for XLA:GPU. Not stated: slices of arrays smaller than kSmallestSliced, or of entries; in modules whose
///   arguments have other layouts.
/// Tests: tests/text/passes/state-layouts/

#include "passes/pass.h"

namespace lowtide::engine {

inline constexpr int64_t kSmallestSliced = 1 << 20;  ///< bytes

Result<PassResult> state_layouts(Module& module, const Target& target);

}  // namespace lowtide::engine
