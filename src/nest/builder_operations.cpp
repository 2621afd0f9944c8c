/// How a NestBuilder simplifies operations on integers and predicates: affine forms, identities, constants, bounds.

#include <algorithm>

#include "base/int128.h"
#include "nest/builder.h"
#include "nest/identities.h"

namespace lowtide::engine {
namespace {

bool fits(Bounds bounds, ElementType type) {
  // bounds at the ends of s64 are saturated: the sum may be anything
  if (bounds.least == INT64_MIN || bounds.greatest == INT64_MAX) return false;
  const Bounds range = type == ElementType::kU64 ? Bounds{0, INT64_MAX} : range_of(type);
  return bounds.least >= range.least && bounds.greatest <= range.greatest;
}

/// Are all numbers so small that sums of two can't overflow? Larger ones aren't treated as indices.
bool is_small(const Affine& a) {
  constexpr int64_t kLargest = int64_t{1} << 62;
  const auto small = [](int64_t x) { return x > -kLargest && x < kLargest; };
  return small(a.constant) &&
         std::all_of(a.terms.begin(), a.terms.end(), [&](const auto& term) { return small(term.coefficient); });
}

/// Are all numbers small after multiplication by the factor, so that `times` doesn't overflow?
bool may_scale(const Affine& a, int64_t factor) {
  const auto small = [&](int64_t x) {
    const Int128 product = Int128{x} * factor;
    return product > -(Int128{1} << 62) && product < (Int128{1} << 62);
  };
  return small(a.constant) &&
         std::all_of(a.terms.begin(), a.terms.end(), [&](const auto& term) { return small(term.coefficient); });
}

/// Can `type` represent every value of `other`?
bool holds_all(ElementType type, ElementType other) {
  if (is_floating(type) && is_floating(other)) {
    const bool small = other == ElementType::kBF16 || other == ElementType::kF16;
    return type == ElementType::kF64 ? small || other == ElementType::kF32 : type == ElementType::kF32 && small;
  }
  if (!is_integral(type) || !is_integral(other) || type_bits(type) <= type_bits(other)) return false;
  return type_kind(type) == TypeKind::kSigned || type_kind(other) == TypeKind::kUnsigned;
}

}  // namespace

// Replaces an integer operation whose exact result is affine and fits its type (nothing wraps) by that sum, converted.
std::optional<NodeId> NestBuilder::in_affine_form(Opcode opcode, ElementType type, std::span<const NodeId> operands) {
  if (!is_integral(type) || operands.empty() || operands.size() > 2) return {};
  std::vector<Affine> views;
  for (const NodeId operand : operands) {
    auto view = affine_view(operand);
    if (!view || !is_small(*view)) return {};
    views.push_back(std::move(*view));
  }
  const auto scaled = [&](const Affine& a, int64_t factor) -> std::optional<Affine> {
    if (!may_scale(a, factor)) return {};
    return times(a, factor);
  };
  const auto positive_constant = [&](const Affine& a) { return a.terms.empty() && a.constant > 0; };
  std::optional<Affine> exact;
  switch (opcode) {
    case Opcode::kConvert: exact = views[0]; break;
    case Opcode::kAdd: exact = plus(views[0], views[1]); break;
    case Opcode::kSubtract: exact = plus(views[0], times(views[1], -1)); break;
    case Opcode::kNegate: exact = times(views[0], -1); break;
    case Opcode::kMultiply:
      if (views[1].terms.empty()) exact = scaled(views[0], views[1].constant);
      if (views[0].terms.empty()) exact = scaled(views[1], views[0].constant);
      break;
    case Opcode::kShiftLeft:
      if (views[1].terms.empty() && views[1].constant >= 0 && views[1].constant < type_bits(type) - 1) {
        exact = scaled(views[0], int64_t{1} << views[1].constant);
      }
      break;
    case Opcode::kShiftRightLogical:
      if (views[1].terms.empty() && views[1].constant >= 0 && views[1].constant < type_bits(type) - 1 &&
          bounds(views[0]).least >= 0) {
        exact = floor_divide(views[0], int64_t{1} << views[1].constant);
      }
      break;
    case Opcode::kDivide:
      if (positive_constant(views[1]) && bounds(views[0]).least >= 0) {
        exact = floor_divide(views[0], views[1].constant);
      }
      break;
    case Opcode::kRemainder:
      if (positive_constant(views[1]) && bounds(views[0]).least >= 0) exact = remainder(views[0], views[1].constant);
      break;
    case Opcode::kAnd:  // with 2^n - 1: a remainder
      if (positive_constant(views[1]) && (views[1].constant & (views[1].constant + 1)) == 0 &&
          bounds(views[0]).least >= 0) {
        exact = remainder(views[0], views[1].constant + 1);
      }
      break;
    case Opcode::kMaximum:
    case Opcode::kMinimum: {
      const Bounds difference = bounds(plus(views[0], times(views[1], -1)));
      if (difference.least >= 0) exact = views[opcode == Opcode::kMaximum ? 0 : 1];
      if (difference.greatest <= 0) exact = views[opcode == Opcode::kMaximum ? 1 : 0];
      break;
    }
    default: break;
  }
  if (!exact || !is_small(*exact) || !fits(bounds(*exact), type)) return {};
  const NodeId value = value_of(*exact);
  if (type == ElementType::kS64) return value;
  if (const auto constant = known_integer(value)) return integer(type, *constant);
  Node made{.kind = NodeKind::kOperation, .opcode = Opcode::kConvert, .type = type};
  made.operands = {value};
  made.least = node(value).least;
  made.greatest = node(value).greatest;
  return make(std::move(made));
}

NodeId NestBuilder::compare(NodeId a, NodeId b, CompareAttributes how) {
  const auto left = affine_view(a), right = affine_view(b);
  if (left && right && is_small(*left) && is_small(*right)) {
    if (const auto known = known_comparison(plus(*left, times(*right, -1)), how.direction)) {
      return integer(ElementType::kPred, *known);
    }
  }
  Node made{.kind = NodeKind::kOperation, .opcode = Opcode::kCompare, .type = ElementType::kPred, .compare = how};
  made.operands = {a, b};
  if (const auto constant = folded(made)) return *constant;
  return make(std::move(made));
}

// Identities that hold for every integer and predicate.
std::optional<NodeId> NestBuilder::simplified(const Node& made) {
  const auto& operands = made.operands;
  const ElementType type = made.type;
  const bool is_predicate = type == ElementType::kPred;
  if (made.opcode == Opcode::kSelect) {
    if (operands[1] == operands[2]) return operands[1];
    if (const auto known = known_integer(operands[0])) return operands[*known != 0 ? 1 : 2];
    return {};
  }
  if (made.opcode == Opcode::kConvert) {
    // a conversion there and back, through a type that holds every value
    const Node& inner = node(operands[0]);
    if (inner.kind != NodeKind::kOperation || inner.opcode != Opcode::kConvert) return {};
    return node(inner.operands[0]).type == type && holds_all(inner.type, type) ? std::optional(inner.operands[0])
                                                                               : std::nullopt;
  }
  if (is_floating(type)) return simplified_number(*this, made);
  if (!is_predicate && !is_integral(type)) return {};
  if (made.opcode == Opcode::kNot) {
    const Node& inner = node(operands[0]);
    if (inner.kind == NodeKind::kOperation && inner.opcode == Opcode::kNot) return inner.operands[0];
    if (const auto known = known_integer(operands[0])) return integer(type, is_predicate ? *known == 0 : ~*known);
    return {};
  }
  if (operands.size() != 2 || node(operands[0]).type != type || node(operands[1]).type != type) return {};
  const auto a = known_integer(operands[0]), b = known_integer(operands[1]);
  const int64_t ones = integer_of_bits(type, bits_of_integer(type, is_predicate ? 1 : -1));
  const auto either = [&](int64_t value) { return a == value ? operands[1] : operands[0]; };
  const auto has = [&](int64_t value) { return a == value || b == value; };
  const auto shift = [&](auto f) -> std::optional<NodeId> {
    if (b == 0) return operands[0];
    if (a && b) return integer(type, f(*a, *b));
    return {};
  };
  const int bits = type_bits(type);
  switch (made.opcode) {
    case Opcode::kAdd:
      if (is_predicate) return {};
      if (has(0)) return either(0);
      if (a && b) return integer(type, static_cast<int64_t>(static_cast<uint64_t>(*a) + static_cast<uint64_t>(*b)));
      return {};
    case Opcode::kSubtract:
      if (b == 0) return operands[0];
      if (operands[0] == operands[1]) return integer(type, 0);
      if (a && b) return integer(type, static_cast<int64_t>(static_cast<uint64_t>(*a) - static_cast<uint64_t>(*b)));
      return {};
    case Opcode::kMultiply:
      if (is_predicate) return {};
      if (has(0)) return integer(type, 0);
      if (has(1)) return either(1);
      if (a && b) return integer(type, static_cast<int64_t>(static_cast<uint64_t>(*a) * static_cast<uint64_t>(*b)));
      return {};
    case Opcode::kAnd:
      if (has(0)) return integer(type, 0);
      if (has(ones)) return either(ones);
      if (operands[0] == operands[1]) return operands[0];
      if (a && b) return integer(type, *a & *b);
      return {};
    case Opcode::kOr:
      if (has(ones)) return integer(type, ones);
      if (has(0)) return either(0);
      if (operands[0] == operands[1]) return operands[0];
      if (a && b) return integer(type, *a | *b);
      return {};
    case Opcode::kXor:
      if (has(0)) return either(0);
      if (operands[0] == operands[1]) return integer(type, 0);
      if (a && b) return integer(type, *a ^ *b);
      return {};
    case Opcode::kShiftLeft:
      return shift([&](int64_t x, int64_t by) {
        return static_cast<uint64_t>(by) >= static_cast<uint64_t>(bits)
                   ? 0
                   : static_cast<int64_t>(static_cast<uint64_t>(x) << by);
      });
    case Opcode::kShiftRightLogical:
      return shift([&](int64_t x, int64_t by) {
        if (static_cast<uint64_t>(by) >= static_cast<uint64_t>(bits)) return int64_t{0};
        const int up = 64 - bits;
        return static_cast<int64_t>((static_cast<uint64_t>(x) << up >> up) >> by);
      });
    default: return {};
  }
}

Bounds NestBuilder::bounds_of_operation(const Node& made) const {
  const Bounds range = range_of(made.type);
  if (!is_integral(made.type)) return range;
  std::vector<Bounds> in;
  for (const NodeId operand : made.operands) {
    const Node& value = node(operand);
    if (!is_integral(value.type) && value.type != ElementType::kPred) return range;
    in.push_back({value.least, value.greatest});
  }
  // of u64 only numbers known to be in s64's range have bounds
  const auto is_known = [&](size_t k) { return node(made.operands[k]).type != ElementType::kU64 || in[k].least >= 0; };
  const auto within = [&](Int128 least, Int128 greatest) {
    const Int128 lowest = made.type == ElementType::kU64 ? 0 : range.least;
    if (least < lowest || greatest > range.greatest) return range;
    return Bounds{static_cast<int64_t>(least), static_cast<int64_t>(greatest)};
  };
  for (size_t k = 0; k < in.size(); ++k) {
    if (!is_known(k)) {
      const bool masks = made.opcode == Opcode::kAnd || made.opcode == Opcode::kMinimum;
      if (!masks && made.opcode != Opcode::kShiftRightLogical && made.opcode != Opcode::kRemainder) return range;
    }
  }
  switch (made.opcode) {
    case Opcode::kConvert: return within(in[0].least, in[0].greatest);
    case Opcode::kAdd: return within(Int128{in[0].least} + in[1].least, Int128{in[0].greatest} + in[1].greatest);
    case Opcode::kSubtract: return within(Int128{in[0].least} - in[1].greatest, Int128{in[0].greatest} - in[1].least);
    case Opcode::kNegate: return within(-Int128{in[0].greatest}, -Int128{in[0].least});
    case Opcode::kMultiply: {
      const Int128 products[] = {Int128{in[0].least} * in[1].least, Int128{in[0].least} * in[1].greatest,
                                 Int128{in[0].greatest} * in[1].least, Int128{in[0].greatest} * in[1].greatest};
      return within(*std::min_element(products, products + 4), *std::max_element(products, products + 4));
    }
    case Opcode::kMaximum: return within(std::max(in[0].least, in[1].least), std::max(in[0].greatest, in[1].greatest));
    case Opcode::kMinimum:
      if (!is_known(0) || !is_known(1)) {
        const size_t k = is_known(0) ? 0 : 1;
        return is_known(k) ? within(0, in[k].greatest) : range;
      }
      return within(std::min(in[0].least, in[1].least), std::min(in[0].greatest, in[1].greatest));
    case Opcode::kClamp:  // min(max(x, low), high), which is high if low > high
      return within(std::min(in[2].least, std::max(in[0].least, in[1].least)),
                    std::min(in[2].greatest, std::max(in[0].greatest, in[1].greatest)));
    case Opcode::kSelect: return within(std::min(in[1].least, in[2].least), std::max(in[1].greatest, in[2].greatest));
    case Opcode::kAnd:
      for (size_t k = 0; k < 2; ++k) {
        const bool other_may_be_less = is_known(1 - k) && in[1 - k].least >= 0 && in[1 - k].greatest < in[k].greatest;
        if (is_known(k) && in[k].least >= 0 && !other_may_be_less) return within(0, in[k].greatest);
      }
      return range;
    case Opcode::kShiftRightLogical:
      if (const auto by = known_integer(made.operands[1]); by && *by > 0 && *by < 64) {
        const int bits = type_bits(made.type);
        if (is_known(0) && in[0].least >= 0) return within(0, in[0].greatest >> *by);
        return *by >= bits ? within(0, 0) : within(0, static_cast<int64_t>(~uint64_t{0} >> (64 - bits) >> *by));
      }
      return range;
    case Opcode::kRemainder:
      if (const auto by = known_integer(made.operands[1]); by && *by > 0) {
        const bool natural = (is_known(0) && in[0].least >= 0) || type_kind(made.type) == TypeKind::kUnsigned;
        return within(natural ? 0 : Int128{1} - *by, Int128{*by} - 1);
      }
      return range;
    case Opcode::kDivide:
      if (const auto by = known_integer(made.operands[1]); by && *by > 0) {
        return within(in[0].least / *by, in[0].greatest / *by);
      }
      return range;
    default: return range;
  }
}

}  // namespace lowtide::engine
