#pragma once
/// Operations whose result element i needs element i of each operand: their shape rules.
///
/// unary    a T[s] -> T[s]                 (C1) the operand is an array of the operation's kinds of element
/// binary   a T[s], b T[s] -> T[s]         (C1) as above, for both  (C2) equal extents
///                                         (C3) one element type; floats may differ in precision, as TPU programs do

#include "ops/infer.h"
#include "ops/op_rule.h"

namespace lowtide {

/// The result has the operand's shape.
Result<Shape> infer_unary(const Instruction& instruction, Kinds kinds);
/// The result has the operands' shape; its precision, where theirs differ, is the declared one.
Result<Shape> infer_binary(const Instruction& instruction, Kinds kinds);
/// (C2) and (C3) of two shapes.
Status check_pair(const Instruction& instruction, const Shape& a, const Shape& b);
/// One element type, or two floats of different precision.
bool same_or_mixed_precision(ElementType a, ElementType b);
/// `shape` with another element type and no layout.
Shape with_type(const Shape& shape, ElementType type);

}  // namespace lowtide
