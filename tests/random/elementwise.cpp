/// Elementwise operations and sources.

#include "operations.h"

namespace lowtide::engine {
namespace {

constexpr Opcode kFloatUnary[] = {
    Opcode::kNegate,
    Opcode::kAbs,
    Opcode::kSign,
    Opcode::kFloor,
    Opcode::kCeil,
    Opcode::kRoundNearestEven,
    Opcode::kRoundNearestAfz,
    Opcode::kExponential,
    Opcode::kExponentialMinusOne,
    Opcode::kLog,
    Opcode::kLogPlusOne,
    Opcode::kTanh,
    Opcode::kErf,
    Opcode::kLogistic,
    Opcode::kSqrt,
    Opcode::kRsqrt,
    Opcode::kCbrt,
    Opcode::kTan,
    Opcode::kSine,
    Opcode::kCosine,
    Opcode::kIsFinite,
    Opcode::kCopy,
    Opcode::kReducePrecision,
};
constexpr Opcode kIntegerUnary[] = {Opcode::kNegate, Opcode::kAbs,       Opcode::kSign,
                                    Opcode::kNot,    Opcode::kPopcnt,    Opcode::kCountLeadingZeros,
                                    Opcode::kCopy,   Opcode::kOptBarrier};
constexpr Opcode kUnsignedUnary[] = {Opcode::kNot, Opcode::kPopcnt, Opcode::kCountLeadingZeros};
constexpr Opcode kFloatBinary[] = {Opcode::kAdd,      Opcode::kAdd,    Opcode::kSubtract, Opcode::kMultiply,
                                   Opcode::kMultiply, Opcode::kDivide, Opcode::kMaximum,  Opcode::kMinimum,
                                   Opcode::kPower,    Opcode::kAtan2,  Opcode::kRemainder};
constexpr Opcode kIntegerBinary[] = {Opcode::kAdd,
                                     Opcode::kSubtract,
                                     Opcode::kMultiply,
                                     Opcode::kDivide,
                                     Opcode::kRemainder,
                                     Opcode::kMaximum,
                                     Opcode::kMinimum,
                                     Opcode::kPower,
                                     Opcode::kAnd,
                                     Opcode::kOr,
                                     Opcode::kXor,
                                     Opcode::kShiftLeft,
                                     Opcode::kShiftRightArithmetic,
                                     Opcode::kShiftRightLogical};
constexpr Opcode kPredicateBinary[] = {Opcode::kAnd, Opcode::kOr, Opcode::kXor};

/// Operations on floats of several precisions, as TPU programs have them; jaxlib doesn't read those.
bool mixes(Scope& scope, Draws& choices) { return !scope.for_xla() && choices.one_in(8); }

/// This float type or one with less precision: what is computed in `type` is rounded to it.
ElementType narrower(Draws& choices, ElementType type) {
  constexpr ElementType kSmall[] = {ElementType::kBF16, ElementType::kF16, ElementType::kF32};
  if (type == ElementType::kF64) return choices.of(kSmall);
  return type == ElementType::kF32 ? kSmall[choices.below(2)] : type;
}

}  // namespace

Instruction* value_of_shape(Scope& scope, Draws& choices, const Shape& shape) {
  Instruction* found = choices.one_in(4) ? nullptr : scope.choose(choices, has_shape(shape));
  return found ? found : scope.constant_array(shape, choices);
}

bool make_unary(Scope& scope, Draws& choices) {
  Instruction* operand = scope.choose(choices, is_any);
  if (!operand) return false;
  const ElementType type = operand->shape.type;
  if (is_complex(type)) return make_complex_unary(scope, choices, operand);
  const TypeKind kind = type_kind(type);
  const Opcode op = kind == TypeKind::kFloat       ? choices.of(kFloatUnary)
                    : kind == TypeKind::kSigned    ? choices.of(kIntegerUnary)
                    : kind == TypeKind::kPredicate ? Opcode::kNot
                                                   : choices.of(kUnsignedUnary);
  Shape shape = op == Opcode::kIsFinite ? with_type(operand->shape, ElementType::kPred) : operand->shape;
  Attributes attributes;
  if (op == Opcode::kReducePrecision)
    attributes = ReducePrecisionAttributes{type == ElementType::kF16 ? 5 : 8, choices.between(2, 7)};
  const bool rounds =
      op == Opcode::kAbs || op == Opcode::kTanh || op == Opcode::kExponential || op == Opcode::kLogistic;
  if (rounds && is_floating(type) && mixes(scope, choices)) shape = with_type(shape, narrower(choices, type));
  return scope.append(op, shape, {operand}, attributes) != nullptr;
}

bool make_binary(Scope& scope, Draws& choices) {
  Instruction* a = scope.choose(choices, is_any);
  if (!a) return false;
  if (is_complex(a->shape.type)) return make_complex_binary(scope, choices, a);
  const TypeKind kind = type_kind(a->shape.type);
  Opcode op = kind == TypeKind::kFloat       ? choices.of(kFloatBinary)
              : kind == TypeKind::kPredicate ? choices.of(kPredicateBinary)
                                             : choices.of(kIntegerBinary);
  if (!scope.for_xla() && is_integral(a->shape.type) && choices.one_in(12)) op = Opcode::kMulhi;
  Instruction* b = nullptr;
  if (op == Opcode::kPower) {
    b = scope.broadcast(scope.constant(a->shape.type, static_cast<double>(choices.between(0, 4))), a->shape.dims, {});
  } else {
    b = value_of_shape(scope, choices, a->shape);
  }
  const bool rounds = op == Opcode::kAdd || op == Opcode::kSubtract || op == Opcode::kMultiply || op == Opcode::kDivide;
  if (rounds && kind == TypeKind::kFloat && mixes(scope, choices)) {
    const Shape other = with_type(a->shape, narrower(choices, a->shape.type));
    b = value_of_shape(scope, choices, other);
    return scope.append(op, choices.one_in(2) ? other : a->shape, {a, b}) != nullptr;
  }
  return scope.append(op, a->shape, {a, b}) != nullptr;
}

bool make_compare(Scope& scope, Draws& choices) {
  Instruction* a = scope.choose(choices, [](const auto& e) { return e.fact.exact() && !is_complex_value(e); });
  if (!a) return false;
  CompareAttributes attributes;
  attributes.direction = static_cast<CompareDirection>(choices.below(6));
  return scope.append(Opcode::kCompare, with_type(a->shape, ElementType::kPred),
                      {a, value_of_shape(scope, choices, a->shape)}, attributes) != nullptr;
}

bool make_select(Scope& scope, Draws& choices) {
  Instruction* which =
      scope.choose(choices, [](const auto& e) { return e.instruction->shape.type == ElementType::kPred; });
  if (!which) return false;
  Instruction* yes = scope.choose(choices, [&](const auto& e) {
    return e.instruction->shape.dims == which->shape.dims || which->shape.dims.empty();
  });
  if (!yes) return false;
  if (which->shape.dims != yes->shape.dims) which = scope.broadcast(which, yes->shape.dims, {});
  return scope.append(Opcode::kSelect, yes->shape, {which, yes, value_of_shape(scope, choices, yes->shape)}) != nullptr;
}

bool make_clamp(Scope& scope, Draws& choices) {
  Instruction* operand = scope.choose(
      choices, [](const auto& e) { return e.instruction->shape.type != ElementType::kPred && !is_complex_value(e); });
  if (!operand) return false;
  const ElementType type = operand->shape.type;
  const auto low = static_cast<double>(choices.between(type_kind(type) == TypeKind::kUnsigned ? 0 : -3, 2));
  const auto high = low + static_cast<double>(choices.between(0, 4));
  Instruction *least = scope.constant(type, low), *greatest = scope.constant(type, high);
  if (choices.one_in(2)) {
    least = scope.broadcast(least, operand->shape.dims, {});
    greatest = scope.broadcast(greatest, operand->shape.dims, {});
  }
  return scope.append(Opcode::kClamp, operand->shape, {least, operand, greatest}) != nullptr;
}

bool make_convert(Scope& scope, Draws& choices) {
  Instruction* operand = scope.choose(choices, [](const auto& e) { return !is_complex_value(e); });
  if (!operand) return false;
  const ElementType from = operand->shape.type, to = random_type(choices);
  if (is_integral(from) && is_integral(to) && choices.one_in(2)) {
    Dims dims = operand->shape.dims;
    const int ratio_up = type_bits(from) / type_bits(to), ratio_down = type_bits(to) / type_bits(from);
    if (ratio_up > 1) dims.push_back(ratio_up);
    if (ratio_down > 1) {
      if (dims.empty() || dims.back() != ratio_down) return false;
      dims.pop_back();
    }
    return scope.append(Opcode::kBitcastConvert, Shape::array(to, dims), {operand}) != nullptr;
  }
  return scope.append(Opcode::kConvert, with_type(operand->shape, to), {operand}) != nullptr;
}

bool make_source(Scope& scope, Draws& choices) {
  const ElementType type = random_type(choices);
  const Shape shape = random_shape(choices, type);
  if (choices.one_in(2) || shape.dims.empty() || type == ElementType::kPred) {
    return scope.constant_array(shape, choices) != nullptr;
  }
  return scope.append(Opcode::kIota, shape, {}, IotaAttributes{choices.below(shape.rank())}) != nullptr;
}

}  // namespace lowtide::engine
