#include "nest/plain/plain.h"

#include <bit>
#include <cmath>
#include <optional>

namespace lowtide::engine {
namespace {

bool is_number(Plain x, double value) {
  if (!x.is_constant()) return false;
  const uint64_t bits = x.node().bits[0];
  if (x.width() == 64) return bits == std::bit_cast<uint64_t>(value);
  return static_cast<uint32_t>(bits) == std::bit_cast<uint32_t>(static_cast<float>(value));
}

/// Simplifies x + 0, x * 1 and the like.
std::optional<Plain> identity(Opcode opcode, Plain a, Plain b) {
  const auto keeps = [](Plain x, Plain zero) {
    return is_number(zero, -0.0) || (is_number(zero, 0.0) && !x.nest->facts(x.id).may_be_minus_zero);
  };
  switch (opcode) {
    case Opcode::kAdd:
      if (keeps(a, b)) return a;
      if (keeps(b, a)) return b;
      return {};
    case Opcode::kSubtract:
      if (is_number(b, 0.0)) return a;
      return {};
    case Opcode::kMultiply:
      if (is_number(b, 1.0)) return a;
      if (is_number(a, 1.0)) return b;
      return {};
    case Opcode::kDivide:
      if (is_number(b, 1.0)) return a;
      return {};
    default: return {};
  }
}

/// Is x available further outside than y?
bool is_outside(Plain x, Plain y) {
  const int32_t outer = x.node().block, inner = y.node().block;
  return x.is_constant() || (outer != inner && x.nest->inner_block(outer, inner) == inner);
}

/// Rewrites (x + u) + v as x + (u + v) if both u and v are outside x's loop, so that one sum is computed outside.
std::optional<Plain> regrouped(Plain sum, Plain v) {
  const Node& node = sum.node();
  if (node.kind != NodeKind::kOperation || node.opcode != Opcode::kAdd) return {};
  Plain x = sum.with(node.operands[0]), u = sum.with(node.operands[1]);
  if (is_outside(x, u)) std::swap(x, u);
  if (x.is_constant() || !is_outside(u, x) || !is_outside(v, x)) return {};
  return x + (u + v);
}

/// The bits of a narrow unsigned integer as a wider one, computed from the value that it was narrowed from.
std::optional<Plain> widened(Plain narrow, ElementType wide) {
  const Node& node = narrow.node();
  if (node.kind == NodeKind::kConstant) return narrow.integer(wide, static_cast<int64_t>(node.bits[0]));
  if (node.kind != NodeKind::kOperation) return {};
  const auto operand = [&](size_t k) { return widened(narrow.with(node.operands[k]), wide); };
  switch (node.opcode) {
    case Opcode::kConvert: {
      const Plain from = narrow.with(node.operands[0]);
      if (from.type() == wide) return from & ((int64_t{1} << narrow.width()) - 1);
      return type_kind(from.type()) == TypeKind::kUnsigned && from.width() < narrow.width() ? widened(from, wide)
                                                                                            : std::nullopt;
    }
    case Opcode::kAnd:
    case Opcode::kOr:
    case Opcode::kXor: {
      const auto a = operand(0), b = operand(1);
      if (!a || !b) return {};
      return a->apply(node.opcode, *b);
    }
    case Opcode::kShiftRightLogical: {
      const auto a = operand(0), count = operand(1);
      if (!a || !count || !count->is_constant()) return {};
      return a->apply(node.opcode, *count);
    }
    default: return {};
  }
}

}  // namespace

std::optional<double> known_number(Plain x) {
  if (!x.is_constant()) return {};
  const uint64_t bits = x.node().bits[0];
  const double value =
      x.width() == 32 ? std::bit_cast<float>(static_cast<uint32_t>(bits)) : std::bit_cast<double>(bits);
  return std::isnan(value) ? std::nullopt : std::optional(value);
}

Plain Plain::apply(Opcode opcode, ElementType result, std::initializer_list<NodeId> operands) const {
  if (operands.size() == 2) {
    const Plain a = with(operands.begin()[0]), b = with(operands.begin()[1]);
    if (is_wide_float(result)) {
      if (const auto same = identity(opcode, a, b)) return *same;
    } else if (opcode == Opcode::kAdd && is_integral(result)) {
      if (const auto sum = regrouped(a, b)) return *sum;
      if (const auto sum = regrouped(b, a)) return *sum;
    }
  }
  return with(nest->operation(opcode, result, operands));
}

Plain Plain::to(ElementType other) const {
  if (type_kind(type()) == TypeKind::kUnsigned && type_kind(other) == TypeKind::kUnsigned &&
      type_bits(other) > width() && type_bits(other) <= 32) {
    if (const auto wide = widened(*this, other)) return *wide;
  }
  return with(nest->convert(id, other));
}

Plain compare(CompareDirection direction, Plain a, Plain b) {
  if (is_wide_float(a.type()) && !(a.is_constant() && b.is_constant())) {
    const FloatFacts x = a.nest->facts(a.id), y = b.nest->facts(b.id);
    const bool ordered = !x.may_be_nan && !y.may_be_nan;
    const bool below = x.greatest<y.least, above = x.least> y.greatest;
    const bool not_above = x.greatest <= y.least, not_below = x.least >= y.greatest;
    std::optional<bool> known;
    switch (direction) {  // results that are also false for NaN don't need `ordered`
      case CompareDirection::kLt:
        if (not_below) known = false;
        if (ordered && below) known = true;
        break;
      case CompareDirection::kLe:
        if (above) known = false;
        if (ordered && not_above) known = true;
        break;
      case CompareDirection::kGt:
        if (not_above) known = false;
        if (ordered && above) known = true;
        break;
      case CompareDirection::kGe:
        if (below) known = false;
        if (ordered && not_below) known = true;
        break;
      case CompareDirection::kEq:
        if (below || above) known = false;
        if (ordered && a.id == b.id) known = true;
        break;
      case CompareDirection::kNe:
        if (ordered && a.id == b.id) known = false;
        if (below || above) known = true;
        break;
    }
    if (known) return a.truth(*known);
  }
  return a.with(a.nest->compare(a.id, b.id, {.direction = direction}));
}

Plain polynomial(Plain x, std::span<const double> coefficients) {
  Plain sum = x.constant(coefficients.back());
  for (size_t i = coefficients.size() - 1; i > 0; --i) sum = fma(sum, x, coefficients[i - 1]);
  return sum;
}

Plain with_sign_of(Plain magnitude, Plain sign) {
  const Plain bits = bits_of(magnitude);
  const int64_t mask = bits.width() == 64 ? INT64_MIN : INT32_MIN;
  return ((bits & ~mask) | (bits_of(sign) & mask)).as(magnitude.type());
}

Plain power_of_two(Plain n) {
  const bool wide = n.width() == 64;
  return ((n + (wide ? 1023 : 127)) << (wide ? 52 : 23)).as(float_like(n.type()));
}

Plain scaled(Plain x, Plain n) {
  const Plain half = shift_right_arithmetic(n, 1);
  return x * power_of_two(half) * power_of_two(n - half);
}

}  // namespace lowtide::engine
