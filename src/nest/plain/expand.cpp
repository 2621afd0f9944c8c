#include "nest/plain/expand.h"

#include <cmath>
#include <optional>

#include "nest/plain/functions.h"
#include "nest/plain/integers.h"
#include "nest/plain/reinterpret.h"
#include "nest/plain/small_floats.h"

namespace lowtide::engine {
namespace {

Plain predicate_operation(Opcode opcode, Plain a, Plain b) {
  switch (opcode) {
    case Opcode::kAdd:
    case Opcode::kMaximum:
    case Opcode::kOr: return a | b;
    case Opcode::kMultiply:
    case Opcode::kMinimum:
    case Opcode::kAnd: return a & b;
    case Opcode::kSubtract:
    case Opcode::kXor: return a ^ b;
    default: LT_ASSERT(false, std::string(opcode_name(opcode)) + " of predicates has no expansion"); return a;
  }
}

Plain compare_predicates(CompareDirection direction, Plain a, Plain b) {
  switch (direction) {
    case CompareDirection::kEq: return !(a ^ b);
    case CompareDirection::kNe: return a ^ b;
    case CompareDirection::kGe: return a | !b;
    case CompareDirection::kGt: return a & !b;
    case CompareDirection::kLe: return (!a) | b;
    default: return (!a) & b;
  }
}

/// The bits of a float as an integer with the order of TOTALORDER.
Plain total_order(Plain x) {
  const Plain bits = bits_of(x);
  const Plain all_but_sign = shift_right_logical(shift_right_arithmetic(bits, bits.width() - 1), 1);
  return bits ^ all_but_sign;
}

Plain compared(const CompareAttributes& how, const PlainValue& a, const PlainValue& b) {
  const auto relation = [&](Plain x, Plain y) { return compare(how.direction, x, y); };
  if (is_complex(a.type)) {
    const Plain re = relation(a.re, b.re), im = relation(a.im, b.im);
    return how.direction == CompareDirection::kEq ? re & im : re | im;
  }
  if (a.type == ElementType::kPred) return compare_predicates(how.direction, a.re, b.re);
  const bool total = is_floating(a.type) && how.type == CompareType::kTotalOrder;
  return total ? relation(total_order(a.re), total_order(b.re)) : relation(a.re, b.re);
}

/// Rounds to the nearest integer, and away from zero in the middle between two.
Plain round_away(Plain x) {
  const Plain magnitude = absolute(x);
  const Plain cut = magnitude.apply(Opcode::kFloor);
  return with_sign_of(select(magnitude - cut >= 0.5, cut + 1.0, cut), x);
}

Plain float_function(Opcode opcode, Plain x) {
  switch (opcode) {
    case Opcode::kAcos: return arc_cosine(x);
    case Opcode::kAcosh: return area_cosine(x);
    case Opcode::kAsin: return arc_sine(x);
    case Opcode::kAsinh: return area_sine(x);
    case Opcode::kAtan: return arc_tangent(x);
    case Opcode::kAtanh: return area_tangent(x);
    case Opcode::kCbrt: return cube_root(x);
    case Opcode::kCosh: return hyperbolic_cosine(x);
    case Opcode::kCosine: return cosine(x);
    case Opcode::kErf: return error_function(x);
    case Opcode::kExponential: return exponential(x);
    case Opcode::kExponentialMinusOne: return exp_minus_one(x);
    case Opcode::kLog: return logarithm(x);
    case Opcode::kLogPlusOne: return log_plus_one(x);
    case Opcode::kLogistic: return logistic(x);
    case Opcode::kRsqrt: return reciprocal_root(x);
    case Opcode::kSine: return sine(x);
    case Opcode::kSinh: return hyperbolic_sine(x);
    case Opcode::kTan: return tangent(x);
    case Opcode::kTanh: return hyperbolic_tangent(x);
    case Opcode::kRoundNearestAfz: return round_away(x);
    case Opcode::kSign: return select((x == 0.0) | is_nan(x), x, with_sign_of(x.constant(1.0), x));
    default: return x.apply(opcode);  // already plain
  }
}

/// HLO's maximum and minimum. For a constant, one comparison is enough: the constant is the result only if it is beyond
/// the number, or is the zero that wins over the other zero.
Plain extremum(Opcode opcode, Plain a, Plain b) {
  if (a.is_constant()) std::swap(a, b);
  const std::optional<double> limit = known_number(b);
  if (!limit || a.is_constant()) return a.apply(opcode, b);
  const FloatFacts& facts = a.nest->facts(a.id);
  const bool order_of_zeros = *limit == 0 && facts.may_be_minus_zero;
  if (!facts.may_be_nan && !order_of_zeros) {
    if (opcode == Opcode::kMaximum ? facts.least >= *limit : facts.greatest <= *limit) return a;
  }
  const bool wins = *limit == 0 && std::signbit(*limit) == (opcode == Opcode::kMinimum);
  if (opcode == Opcode::kMaximum) return select(wins ? a <= b : a < b, b, a);
  return select(wins ? a >= b : a > b, b, a);
}

Plain float_function(Opcode opcode, Plain a, Plain b) {
  switch (opcode) {
    case Opcode::kAtan2: return arc_tangent(a, b);
    case Opcode::kPower: return power(a, b);
    case Opcode::kRemainder: return float_remainder(a, b);
    case Opcode::kMaximum:
    case Opcode::kMinimum: return extremum(opcode, a, b);
    default: return a.apply(opcode, b);
  }
}

/// Are results representable in the operands' type without rounding? f8 types may lack a negative zero.
bool is_exact(Opcode opcode, ElementType type) {
  if (type_bits(type) < 16) return false;
  switch (opcode) {
    case Opcode::kAbs:
    case Opcode::kNegate:
    case Opcode::kFloor:
    case Opcode::kCeil:
    case Opcode::kRoundNearestAfz:
    case Opcode::kRoundNearestEven:
    case Opcode::kSign:
    case Opcode::kMaximum:
    case Opcode::kMinimum:
    case Opcode::kRemainder: return true;
    default: return false;
  }
}

Plain brought_back(Opcode opcode, ElementType type, Plain result) {
  return is_small_float(type) && !is_exact(opcode, type) ? rounded(type, result) : result;
}

/// Declares facts about a function's result, given those about its argument; the range is slightly wider than the true
/// one.
void declare_range(Opcode opcode, const FloatFacts& x, Plain result) {
  FloatFacts known;
  known.may_be_nan = x.may_be_nan;
  switch (opcode) {
    case Opcode::kSine:
    case Opcode::kCosine: known.may_be_nan = x.may_be_nan || x.size() == infinity(); [[fallthrough]];
    case Opcode::kTanh:
    case Opcode::kErf: known.least = -1.00001, known.greatest = 1.00001; break;
    case Opcode::kLogistic: known.least = 0, known.greatest = 1.00001; break;
    case Opcode::kExponential: {
      const double most = std::exp(x.greatest) * 1.00001;
      known.least = 0, known.greatest = most < 1e37 ? most : infinity();
      known.may_be_minus_zero = false;
      break;
    }
    case Opcode::kLogPlusOne: {
      if (!(x.least > -1 && x.greatest < infinity())) return;
      const double least = std::log1p(x.least), greatest = std::log1p(x.greatest);
      known.least = least - 1e-5 * std::fabs(least), known.greatest = greatest + 1e-5 * std::fabs(greatest);
      break;
    }
    default: return;
  }
  result.nest->declare(result.id, known);
}

Plain unary(Opcode opcode, ElementType type, Plain a) {
  if (type == ElementType::kPred) return opcode == Opcode::kNot ? !a : a;
  if (is_integral(type)) return integer_operation(opcode, type, a);
  const Plain result = float_function(opcode, a);
  declare_range(opcode, a.nest->facts(a.id), result);
  return brought_back(opcode, type, result);
}

Plain binary(Opcode opcode, ElementType type, Plain a, Plain b) {
  if (type == ElementType::kPred) return predicate_operation(opcode, a, b);
  if (is_integral(type)) return integer_operation(opcode, type, a, b);
  return brought_back(opcode, type, float_function(opcode, a, b));
}

/// The wider type of floats of different types; for f16 and bf16 f32, in which both are held anyway.
ElementType common_type(std::span<const PlainValue> operands) {
  ElementType widest = operands[0].type;
  for (const PlainValue& operand : operands) {
    if (operand.type == widest) continue;
    widest = operand.type == ElementType::kF64 || widest == ElementType::kF64 ? ElementType::kF64 : ElementType::kF32;
  }
  return widest;
}

}  // namespace

PlainValue expand(const Node& node, std::span<const PlainValue> given) {
  std::vector<PlainValue> operands(given.begin(), given.end());
  const ElementType result = node.type;
  const PlainValue& a = operands[0];
  switch (node.opcode) {
    case Opcode::kCopy:
    case Opcode::kConvert:
      if (a.type == result) return a;
      if (is_complex(a.type) && !is_complex(result)) return {result, converted(a.re, a.re.type(), result), {}, {}};
      if (is_complex(a.type)) return {result, a.re.to(held_type(result)), a.im.to(held_type(result)), {}};
      if (is_complex(result)) {
        const Plain re = converted(a.re, a.type, held_type(result));
        return {result, re, re.constant(0.0), {}};
      }
      return {result, converted(a.re, a.type, result), {}, {}};
    case Opcode::kBitcastConvert: return reinterpreted(a, result);
    case Opcode::kReducePrecision: return {result, with_fewer_bits(a, node.reduce_precision), {}, {}};
    case Opcode::kStochasticConvert: return {result, rounded_by_chance(a, operands[1], result), {}, {}};
    case Opcode::kComplex: return {result, a.re, operands[1].re, {}};
    case Opcode::kReal: return {result, a.re, {}, {}};
    case Opcode::kImag: return {result, is_complex(a.type) ? a.im : a.re.constant(0.0), {}, {}};
    case Opcode::kSelect: {
      const PlainValue &yes = operands[1], &no = operands[2];
      if (is_complex(yes.type)) return {result, select(a.re, yes.re, no.re), select(a.re, yes.im, no.im), {}};
      return {result, select(a.re, converted(yes.re, yes.type, result), converted(no.re, no.type, result)), {}, {}};
    }
    case Opcode::kIsFinite: return {result, absolute(a.re) < infinity(), {}, {}};
    default: break;
  }
  const ElementType type = common_type(operands);
  for (PlainValue& operand : operands) {
    if (operand.type != type) operand = {type, converted(operand.re, operand.type, type), {}, {}};
  }
  if (node.opcode == Opcode::kCompare) return {result, compared(node.compare, a, operands[1]), {}, {}};
  if (node.opcode == Opcode::kAbs && is_complex(type)) return {result, hypotenuse(a.re, a.im), {}, {}};
  if (is_complex(type)) {
    const PlainComplex value = operands.size() == 1
                                   ? complex_operation(node.opcode, a.complex())
                                   : complex_operation(node.opcode, a.complex(), operands[1].complex());
    return {result, value.re, value.im, {}};
  }
  Plain value = a.re;
  if (node.opcode == Opcode::kClamp) {
    value = binary(Opcode::kMinimum, type, binary(Opcode::kMaximum, type, a.re, operands[1].re), operands[2].re);
  } else {
    value = operands.size() == 1 ? unary(node.opcode, type, a.re) : binary(node.opcode, type, a.re, operands[1].re);
  }
  return {result, converted(value, type, result), {}, {}};
}

}  // namespace lowtide::engine
