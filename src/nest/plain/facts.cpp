#include "nest/plain/facts.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace lowtide::engine {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double rounded_to(ElementType type, double x) {
  return type == ElementType::kF32 ? static_cast<double>(static_cast<float>(x)) : x;
}
int digits_of(ElementType type) { return type == ElementType::kF32 ? 24 : 53; }

double number_of(const Node& constant) {
  return constant.type == ElementType::kF32 ? std::bit_cast<float>(static_cast<uint32_t>(constant.bits[0]))
                                            : std::bit_cast<double>(constant.bits[0]);
}

int grid_of(double x) {
  if (x == 0) return 1000;
  int exponent = 0;
  auto fraction = static_cast<int64_t>(std::ldexp(std::frexp(x, &exponent), 53));
  return exponent - 53 + std::countr_zero(static_cast<uint64_t>(fraction));
}

/// Forgets the grid if results may be so large that they are rounded.
void round(FloatFacts& facts, ElementType type) {
  if (facts.grid > INT_MIN / 2 && !(facts.size() <= std::ldexp(1.0, facts.grid + digits_of(type))))
    facts.grid = INT_MIN;
}

int trailing_zeros(const NestBuilder& nest, NodeId id) {
  const Node& node = nest.node(id);
  if (node.kind == NodeKind::kConstant) return node.bits[0] == 0 ? 64 : std::countr_zero(node.bits[0]);
  if (node.kind != NodeKind::kOperation) return 0;
  switch (node.opcode) {
    case Opcode::kConvert:
      return is_integral(nest.node(node.operands[0]).type) ? trailing_zeros(nest, node.operands[0]) : 0;
    case Opcode::kOr: return std::min(trailing_zeros(nest, node.operands[0]), trailing_zeros(nest, node.operands[1]));
    case Opcode::kAnd: return std::max(trailing_zeros(nest, node.operands[0]), trailing_zeros(nest, node.operands[1]));
    case Opcode::kShiftLeft:
      if (const auto count = nest.known_integer(node.operands[1]); count && *count >= 0 && *count < 64) {
        return trailing_zeros(nest, node.operands[0]) + static_cast<int>(*count);
      }
      return 0;
    default: return 0;
  }
}

}  // namespace

const FloatFacts& PlainNest::facts(NodeId id) {
  const auto at = static_cast<size_t>(id);
  if (found_.size() <= at) facts_.resize(nest().nodes.size()), found_.resize(nest().nodes.size());
  if (!found_[at]) {
    const FloatFacts made = find(id);
    facts_[at] = made;
    found_[at] = true;
  }
  return facts_[at];
}

void PlainNest::declare(NodeId id, const FloatFacts& known) {
  if (is_constant(id)) return;
  facts(id);
  facts_[id] = known;
}

Bounds PlainNest::integer_bounds(NodeId id) const {
  const Node& made = node(id);
  const Bounds known{made.least, made.greatest};
  if (made.kind != NodeKind::kOperation) return known;
  const auto natural = [](const Bounds& b) { return b.least >= 0 && b.greatest < INT64_MAX; };
  switch (made.opcode) {
    case Opcode::kOr: {
      const Bounds a = integer_bounds(made.operands[0]), b = integer_bounds(made.operands[1]);
      if (!natural(a) || !natural(b)) return known;
      const auto width = std::bit_width(static_cast<uint64_t>(std::max(a.greatest, b.greatest)));
      return {std::max(a.least, b.least), static_cast<int64_t>((uint64_t{1} << width) - 1)};
    }
    case Opcode::kShiftLeft: {
      const Bounds a = integer_bounds(made.operands[0]);
      const auto count = known_integer(made.operands[1]);
      const int bits = type_bits(made.type);
      if (!count || *count < 0 || *count >= bits || !natural(a) || a.greatest > (int64_t{1} << (bits - 1)) >> *count) {
        return known;
      }
      return {a.least << *count, a.greatest << *count};
    }
    case Opcode::kConvert: {
      if (!is_integral(node(made.operands[0]).type)) return known;
      const Bounds a = integer_bounds(made.operands[0]), range = range_of(made.type);
      return natural(a) && a.greatest <= range.greatest ? a : known;
    }
    default: return known;
  }
}

FloatFacts PlainNest::of_constant(const Node& constant) const {
  const double value = number_of(constant);
  if (std::isnan(value)) return {};
  FloatFacts facts{value, value, false, value == 0 && std::signbit(value), INT_MIN};
  if (std::isfinite(value)) facts.grid = grid_of(value);
  return facts;
}

FloatFacts PlainNest::of_bits(NodeId integer, ElementType type) const {
  const Bounds bounds = integer_bounds(integer);
  const int64_t infinity = type == ElementType::kF32 ? 0x7f800000 : 0x7ff0000000000000;
  if (bounds.least < 0 || bounds.greatest >= infinity) return {};
  const auto value = [&](int64_t bits) -> double {
    return type == ElementType::kF32 ? std::bit_cast<float>(static_cast<uint32_t>(bits)) : std::bit_cast<double>(bits);
  };
  FloatFacts facts{value(bounds.least), value(bounds.greatest), false, false, INT_MIN};
  if (facts.least >= std::numeric_limits<float>::min()) {
    facts.grid = std::ilogb(facts.least) - (digits_of(type) - 1) + trailing_zeros(*this, integer);
  }
  return facts;
}

/// Facts about an f16 made from bits, as f32.
FloatFacts PlainNest::of_half(const Node& half) const {
  if (half.kind != NodeKind::kOperation || half.opcode != Opcode::kBitcastConvert) return {};
  const Bounds bounds = integer_bounds(half.operands[0]);
  if (bounds.least < 0 || bounds.greatest >= 0x7c00) return {};
  FloatFacts facts{Float16::decode(static_cast<uint32_t>(bounds.least)),
                   Float16::decode(static_cast<uint32_t>(bounds.greatest)), false, false, -24};
  if (bounds.least >= 0x400) facts.grid = std::ilogb(facts.least) - 10 + trailing_zeros(*this, half.operands[0]);
  return facts;
}

FloatFacts PlainNest::of_product(const Node& made) {
  const FloatFacts a = facts(made.operands[0]), b = facts(made.operands[1]);
  const auto is_negation = [&](NodeId x, NodeId y) {
    const Node& other = node(y);
    return other.kind == NodeKind::kOperation && other.opcode == Opcode::kNegate && other.operands[0] == x;
  };
  FloatFacts facts;
  facts.may_be_nan = a.may_be_nan || b.may_be_nan || a.size() == kInfinity || b.size() == kInfinity;
  const double size = a.size() * b.size(), most = std::isnan(size) ? kInfinity : rounded_to(made.type, size);
  if (made.operands[0] == made.operands[1]) {
    const double closest = a.least > 0 ? a.least : a.greatest < 0 ? a.greatest : 0;
    facts = {rounded_to(made.type, closest * closest), most, a.may_be_nan, false, INT_MIN};
  } else if (is_negation(made.operands[0], made.operands[1]) || is_negation(made.operands[1], made.operands[0])) {
    facts = {-most, 0, a.may_be_nan, true, INT_MIN};
  } else if (!facts.may_be_nan) {
    const double products[] = {a.least * b.least, a.least * b.greatest, a.greatest * b.least, a.greatest * b.greatest};
    facts.least = rounded_to(made.type, *std::min_element(products, products + 4));
    facts.greatest = rounded_to(made.type, *std::max_element(products, products + 4));
    const bool natural = a.least >= 0 && b.least >= 0 && !a.may_be_minus_zero && !b.may_be_minus_zero;
    facts.may_be_minus_zero = !natural;
  }
  if (a.grid > INT_MIN / 2 && b.grid > INT_MIN / 2) facts.grid = a.grid + b.grid;
  round(facts, made.type);
  return facts;
}

FloatFacts PlainNest::of_select(const Node& made) {
  const FloatFacts a = facts(made.operands[1]), b = facts(made.operands[2]);
  FloatFacts facts{std::min(a.least, b.least), std::max(a.greatest, b.greatest), a.may_be_nan || b.may_be_nan,
                   a.may_be_minus_zero || b.may_be_minus_zero, std::min(a.grid, b.grid)};
  // x < c ? c : x
  const Node& condition = node(made.operands[0]);
  if (condition.opcode == Opcode::kCompare && condition.operands[0] == made.operands[2] &&
      condition.operands[1] == made.operands[1]) {
    const CompareDirection way = condition.compare.direction;
    if (way == CompareDirection::kLt || way == CompareDirection::kLe) facts.least = std::max(facts.least, a.least);
    if (way == CompareDirection::kGt || way == CompareDirection::kGe) {
      facts.greatest = std::min(facts.greatest, a.greatest);
    }
  }
  return facts;
}

FloatFacts PlainNest::of_fma(const Node& made) {
  const FloatFacts a = facts(made.operands[0]), b = facts(made.operands[1]), c = facts(made.operands[2]);
  if (a.may_be_nan || b.may_be_nan || c.may_be_nan) return {};
  if (a.size() == kInfinity || b.size() == kInfinity || c.size() == kInfinity) return {};
  const double products[] = {a.least * b.least, a.least * b.greatest, a.greatest * b.least, a.greatest * b.greatest};
  // Rounded once if the double's sum is exact, else one number farther out.
  const auto sum = [&](double product, double term, double beyond) {
    const double exact = product + term, part = exact - product;
    const bool is_exact = made.type == ElementType::kF32 && (product - (exact - part)) + (term - part) == 0;
    if (is_exact) return rounded_to(made.type, exact);
    return made.type == ElementType::kF32
               ? static_cast<double>(std::nextafter(static_cast<float>(exact), static_cast<float>(beyond)))
               : std::nextafter(std::nextafter(exact, beyond), beyond);
  };
  return {sum(*std::min_element(products, products + 4), c.least, -kInfinity),
          sum(*std::max_element(products, products + 4), c.greatest, kInfinity), false, true, INT_MIN};
}

FloatFacts PlainNest::find(NodeId id) {
  const Node made = node(id);  // a copy, since nodes may move when others are made
  if (made.kind == NodeKind::kConstant) return of_constant(made);
  if (made.kind == NodeKind::kFma) return of_fma(made);
  if (made.kind != NodeKind::kOperation) return {};
  const auto operand = [&](size_t k) { return facts(made.operands[k]); };
  switch (made.opcode) {
    case Opcode::kBitcastConvert:
      return is_integral(node(made.operands[0]).type) ? of_bits(made.operands[0], made.type) : FloatFacts{};
    case Opcode::kMultiply: return of_product(made);
    case Opcode::kSelect: return of_select(made);
    case Opcode::kNegate: {
      FloatFacts a = operand(0);
      std::swap(a.least, a.greatest);
      a.least = -a.least, a.greatest = -a.greatest, a.may_be_minus_zero = true;
      return a;
    }
    case Opcode::kSqrt: {
      const FloatFacts a = operand(0);
      if (a.may_be_nan || a.least < 0) return FloatFacts{};
      return {rounded_to(made.type, std::sqrt(a.least)), rounded_to(made.type, std::sqrt(a.greatest)), false,
              a.may_be_minus_zero, INT_MIN};
    }
    case Opcode::kAbs: {
      FloatFacts a = operand(0);
      const double closest = a.least > 0 ? a.least : a.greatest < 0 ? -a.greatest : 0;
      return {closest, a.size(), a.may_be_nan, false, a.grid};
    }
    case Opcode::kAdd:
    case Opcode::kSubtract: {
      const FloatFacts a = operand(0);
      FloatFacts b = operand(1);
      if (made.opcode == Opcode::kSubtract) {
        std::swap(b.least, b.greatest);
        b.least = -b.least, b.greatest = -b.greatest;
        b.may_be_minus_zero = true;  // if b is +0
      }
      FloatFacts sum;
      sum.may_be_nan = a.may_be_nan || b.may_be_nan || (a.size() == kInfinity && b.size() == kInfinity);
      sum.may_be_minus_zero = a.may_be_minus_zero && b.may_be_minus_zero;
      if (!(a.size() == kInfinity || b.size() == kInfinity)) {
        sum.least = rounded_to(made.type, a.least + b.least);
        sum.greatest = rounded_to(made.type, a.greatest + b.greatest);
      }
      sum.grid = std::min(a.grid, b.grid);
      round(sum, made.type);
      return sum;
    }
    case Opcode::kConvert: {
      const Node& from = node(made.operands[0]);
      if (from.type == ElementType::kF16) return of_half(from);
      if (!is_integral(from.type)) return FloatFacts{};
      const Bounds bounds = integer_bounds(made.operands[0]);
      FloatFacts facts;
      facts.may_be_nan = facts.may_be_minus_zero = false;
      if (from.type == ElementType::kU64 && bounds.least < 0) return facts;
      facts = {rounded_to(made.type, static_cast<double>(bounds.least)),
               rounded_to(made.type, static_cast<double>(bounds.greatest)), false, false, 0};
      round(facts, made.type);
      return facts;
    }
    default: return FloatFacts{};
  }
}

}  // namespace lowtide::engine
