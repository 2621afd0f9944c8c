#pragma once
/// Evaluates convolution by its definition; its rule is in convolution.cpp.

#include "ops/op_rule.h"

namespace lowtide::engine {

Result<Value> eval_convolution(const Instruction& convolution, Operands operands, EvalContext& context);

}  // namespace lowtide::engine
