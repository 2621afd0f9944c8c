#pragma once
/// What reduce, reduce-window and their relatives ask of inputs, initial values and the folding computation.

#include "ops/checks.h"

namespace lowtide::engine {

/// Operands are N inputs of equal extents (constraint `extents`), then N scalars (constraint `scalars`). Gives N >= 1.
Result<size_t> check_folded_inputs(const Instruction& instruction, int scalars, int extents);

/// Computation `which` takes 2N scalars and gives N of the types of its first N parameters, as a tuple where N > 1.
/// Gives those types: they may be wider than the inputs' (an f32 accumulator of bf16 inputs).
Result<std::vector<ElementType>> check_reducer(const Instruction& instruction, size_t which, size_t inputs,
                                               int constraint);

/// What a fold gives, its floats in the precision that is declared: programs for TPUs round the finished fold.
Shape as_declared(Shape folded, const Shape& declared);
Result<Value> rounded_as(const Value& folded, const Shape& declared);

}  // namespace lowtide::engine
