#pragma once
/// Checks of inputs, initial values and the folding computation for reduce, reduce-window and similar operations.

#include "ops/checks.h"

namespace lowtide::engine {

/// Returns N >= 1 if operands are N inputs of equal extents (constraint `extents`), then N scalars (`scalars`).
Result<size_t> check_folded_inputs(const Instruction& instruction, int scalars, int extents);

/// Checks that computation `which` takes 2N scalars and returns N of the types of its first N parameters, as a tuple if
/// N > 1. Returns those types: they may be wider than the inputs' (an f32 accumulator of bf16 inputs).
Result<std::vector<ElementType>> check_reducer(const Instruction& instruction, size_t which, size_t inputs,
                                               int constraint);

/// A fold's shape or value, with floats in the declared precision: programs for TPUs round the finished fold.
Shape as_declared(Shape folded, const Shape& declared);
Result<Value> rounded_as(const Value& folded, const Shape& declared);

}  // namespace lowtide::engine
