#include "passes/rules/integer_ranges.h"

#include <algorithm>

#include "passes/rewrite.h"

namespace lowtide {
namespace {

constexpr int kDeepest = 12;                         ///< operations looked through
constexpr int64_t kMostElements = int64_t{1} << 14;  ///< of a constant that is read
constexpr int64_t kMostNumber = int64_t{1} << 40;    ///< sums and products of smaller numbers fit

using Range = IntegerRange;

std::optional<Range> range_of_type(ElementType type) {
  const int bits = type_bits(type);
  if (bits > 32) return std::nullopt;
  if (type_kind(type) == TypeKind::kUnsigned) return Range{0, (int64_t{1} << bits) - 1};
  return Range{-(int64_t{1} << (bits - 1)), (int64_t{1} << (bits - 1)) - 1};
}

bool is_inside(const Range& inner, ElementType type) {
  const auto all = range_of_type(type);
  if (all) return inner.least >= all->least && inner.greatest <= all->greatest;
  return (type_kind(type) != TypeKind::kUnsigned || inner.least >= 0) && inner.least > -kMostNumber &&
         inner.greatest < kMostNumber;
}

Range united(const Range& a, const Range& b) { return {std::min(a.least, b.least), std::max(a.greatest, b.greatest)}; }

std::optional<Range> find(const Instruction& i, int depth);

std::optional<Range> of_constant(const Instruction& i) {
  const Literal* literal = known_constant(i);
  if (!literal || literal->size() == 0 || literal->size() > kMostElements) return std::nullopt;
  Range range{integer_at(*literal, 0), integer_at(*literal, 0)};
  for (int64_t e = 1; e < literal->size(); ++e) {
    range = united(range, {integer_at(*literal, e), integer_at(*literal, e)});
  }
  return range;
}

/// C and C++ have the same remainder: its sign is the dividend's. By zero the dividend comes out.
std::optional<Range> of_remainder(const std::optional<Range>& a, const std::optional<Range>& b) {
  if (!b || b->least <= 0) return std::nullopt;
  const int64_t most = b->greatest - 1;
  if (!a) return Range{-most, most};
  return Range{a->least >= 0 ? 0 : std::max(-most, a->least), a->greatest <= 0 ? 0 : std::min(most, a->greatest)};
}

std::optional<Range> of_arithmetic(const Instruction& i, int depth) {
  const auto a = find(i.operand(0), depth + 1), b = find(i.operand(1), depth + 1);
  if (i.opcode == Opcode::kRemainder) return of_remainder(a, b);
  if (i.opcode == Opcode::kMinimum || i.opcode == Opcode::kMaximum) {
    if (!a || !b) return std::nullopt;
    const bool low = i.opcode == Opcode::kMinimum;
    return low ? Range{std::min(a->least, b->least), std::min(a->greatest, b->greatest)}
               : Range{std::max(a->least, b->least), std::max(a->greatest, b->greatest)};
  }
  if (!a || !b) return std::nullopt;
  for (const int64_t n : {a->least, a->greatest, b->least, b->greatest}) {
    if (std::abs(n) >= kMostNumber) return std::nullopt;
  }
  const Range made = i.opcode == Opcode::kAdd ? Range{a->least + b->least, a->greatest + b->greatest}
                                              : Range{a->least - b->greatest, a->greatest - b->least};
  return is_inside(made, i.shape.type) ? std::optional(made) : std::nullopt;
}

std::optional<Range> look(const Instruction& i, int depth) {
  switch (i.opcode) {
    case Opcode::kConstant: return of_constant(i);
    case Opcode::kIota: {
      const int64_t n = i.shape.dims[static_cast<size_t>(i.as<IotaAttributes>().dimension)];
      return n > 0 && is_inside({0, n - 1}, i.shape.type) ? std::optional(Range{0, n - 1}) : std::nullopt;
    }
    case Opcode::kBroadcast:
    case Opcode::kReshape:
    case Opcode::kTranspose:
    case Opcode::kCopy:
    case Opcode::kSlice:
    case Opcode::kDynamicSlice:
    case Opcode::kGather:
    case Opcode::kReverse: return find(i.operand(0), depth + 1);
    case Opcode::kConvert: {
      if (!is_integral(i.operand(0).shape.type)) return std::nullopt;
      const auto before = find(i.operand(0), depth + 1);
      return before && is_inside(*before, i.shape.type) ? before : std::nullopt;
    }
    case Opcode::kConcatenate: {
      std::optional<Range> all = find(i.operand(0), depth + 1);
      for (const Instruction* operand : i.operands) {
        const auto next = find(*operand, depth + 1);
        if (!all || !next) return std::nullopt;
        all = united(*all, *next);
      }
      return all;
    }
    case Opcode::kSelect: {
      const auto a = find(i.operand(1), depth + 1), b = find(i.operand(2), depth + 1);
      return a && b ? std::optional(united(*a, *b)) : std::nullopt;
    }
    case Opcode::kClamp: {
      const auto low = find(i.operand(0), depth + 1), high = find(i.operand(2), depth + 1);
      if (!low || !high) return std::nullopt;
      // Where the bounds cross, the upper one wins.
      return Range{std::min(low->least, high->least), high->greatest};
    }
    case Opcode::kAdd:
    case Opcode::kSubtract:
    case Opcode::kRemainder:
    case Opcode::kMinimum:
    case Opcode::kMaximum: return of_arithmetic(i, depth);
    default: return std::nullopt;
  }
}

std::optional<Range> find(const Instruction& i, int depth) {
  if (!i.shape.is_array() || !is_integral(i.shape.type) || i.shape.type == ElementType::kPred) return std::nullopt;
  if (depth > kDeepest) return range_of_type(i.shape.type);
  const auto found = look(i, depth);
  return found ? found : range_of_type(i.shape.type);
}

}  // namespace

std::optional<IntegerRange> range_of(const Instruction& value) { return find(value, 0); }

}  // namespace lowtide
