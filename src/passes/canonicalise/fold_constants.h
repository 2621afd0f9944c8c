#pragma once
/// Computes small values that depend on constants alone, and takes the branch of a select that a constant chooses.
///
///     a = s32[] constant(3)                                p = s32[] constant(12)
///     b = s32[] constant(4)                        ==>
///     p = s32[] multiply(a, b)
///     c = pred[] constant(true)
///     s = f32[8] select(c, x, y)                           s is x
///
/// Saves the instruction and its operands: bytes are small by construction. The real gain is known indices: a slice, a
/// trip count, a mask's bound.
///
/// It never increases memory much: the result has at most kLargestFolded bytes, the operands kLargestOperands together.
/// A broadcast or an iota isn't folded at any size: it is computed where it is read, while a constant's memory is never
/// freed.
///
/// Requires: verified.  Keeps: roots, donation, schedule.
/// Numerics: exact: results are computed by the operations' definitions, as in the interpreter.
/// Not folded: abbreviated constants `{...}`, operations that call computations (reduce, sort, while) or draw random
///   numbers, values placed in another memory space, instructions that control edges hold.
/// Tests: tests/text/passes/fold-constants/

#include "passes/pass.h"

namespace lowtide::engine {

inline constexpr int64_t kLargestFolded = 1024;         ///< bytes of the result
inline constexpr int64_t kLargestOperands = 64 * 1024;  ///< bytes of the operands together

Result<PassResult> fold_constants(Module& module);

}  // namespace lowtide::engine
