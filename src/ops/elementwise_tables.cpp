/// The tables of elementwise operations with one or two operands of one type; elementwise.h states their constraints.

#include "ops/elementwise.h"

namespace lowtide {
namespace {

template <Kinds kinds>
constexpr OpRule unary() {
  return {.infer = [](const Instruction& instruction) { return infer_unary(instruction, kinds); }};
}
template <Kinds kinds>
constexpr OpRule binary() {
  return {.infer = [](const Instruction& instruction) { return infer_binary(instruction, kinds); }};
}

/// The result is an array of predicates.
Result<Shape> infer_is_finite(const Instruction& instruction) {
  LT_ASSIGN_OR_RETURN(const Shape operand, infer_unary(instruction, kFloats));
  return with_type(operand, ElementType::kPred);
}

/// Copies whole tuples, too.
Result<Shape> infer_copy(const Instruction& instruction) {
  if (instruction.operands.size() != 1) return broken(instruction, "C1", "expects one operand");
  return instruction.operand(0).shape;
}

Result<Value> eval_copy(const Instruction&, Operands operands, EvalContext&) { return operands[0]; }

}  // namespace

const OpRule kAbsRule = unary<kNumbers>();
const OpRule kAcosRule = unary<kFloats | kComplexes>();
const OpRule kAcoshRule = unary<kFloats | kComplexes>();
const OpRule kAsinRule = unary<kFloats | kComplexes>();
const OpRule kAsinhRule = unary<kFloats | kComplexes>();
const OpRule kAtanRule = unary<kFloats | kComplexes>();
const OpRule kAtanhRule = unary<kFloats | kComplexes>();
const OpRule kCbrtRule = unary<kFloats | kComplexes>();
const OpRule kCeilRule = unary<kFloats>();
const OpRule kCoshRule = unary<kFloats | kComplexes>();
const OpRule kCosineRule = unary<kFloats | kComplexes>();
const OpRule kCountLeadingZerosRule = unary<kIntegers>();
const OpRule kErfRule = unary<kFloats>();
const OpRule kExponentialRule = unary<kFloats | kComplexes>();
const OpRule kExponentialMinusOneRule = unary<kFloats | kComplexes>();
const OpRule kFloorRule = unary<kFloats>();
const OpRule kLogRule = unary<kFloats | kComplexes>();
const OpRule kLogPlusOneRule = unary<kFloats | kComplexes>();
const OpRule kLogisticRule = unary<kFloats | kComplexes>();
const OpRule kNegateRule = unary<kNumbers>();
const OpRule kNotRule = unary<kPredicates | kIntegers>();
const OpRule kPopcntRule = unary<kIntegers>();
const OpRule kRoundNearestAfzRule = unary<kFloats>();
const OpRule kRoundNearestEvenRule = unary<kFloats>();
const OpRule kRsqrtRule = unary<kFloats | kComplexes>();
const OpRule kSignRule = unary<kNumbers>();
const OpRule kSineRule = unary<kFloats | kComplexes>();
const OpRule kSinhRule = unary<kFloats | kComplexes>();
const OpRule kSqrtRule = unary<kFloats | kComplexes>();
const OpRule kTanRule = unary<kFloats | kComplexes>();
const OpRule kTanhRule = unary<kFloats | kComplexes>();
const OpRule kIsFiniteRule{.infer = infer_is_finite};
const OpRule kCopyRule{.infer = infer_copy, .eval = eval_copy};

const OpRule kAddRule = binary<kAnything>();
const OpRule kAndRule = binary<kPredicates | kIntegers>();
const OpRule kAtan2Rule = binary<kFloats | kComplexes>();
const OpRule kDivideRule = binary<kNumbers>();
const OpRule kMaximumRule = binary<kAnything>();
const OpRule kMinimumRule = binary<kAnything>();
const OpRule kMulhiRule = binary<kIntegers>();
const OpRule kMultiplyRule = binary<kAnything>();
const OpRule kOrRule = binary<kPredicates | kIntegers>();
const OpRule kPowerRule = binary<kNumbers>();
const OpRule kRemainderRule = binary<kNumbers>();
const OpRule kShiftLeftRule = binary<kIntegers>();
const OpRule kShiftRightArithmeticRule = binary<kIntegers>();
const OpRule kShiftRightLogicalRule = binary<kIntegers>();
const OpRule kSubtractRule = binary<kNumbers>();
const OpRule kXorRule = binary<kPredicates | kIntegers>();

}  // namespace lowtide
