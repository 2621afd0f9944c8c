#pragma once
/// The definition of convolution, executed; its rule stands in convolution.cpp.

#include "ops/op_rule.h"

namespace lowtide::engine {

Result<Value> eval_convolution(const Instruction& convolution, Operands operands, EvalContext& context);

}  // namespace lowtide::engine
