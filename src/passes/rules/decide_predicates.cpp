#include "passes/rules/decide_predicates.h"

#include <algorithm>

#include "passes/rules/index_forms.h"
#include "passes/rules/integer_ranges.h"
#include "passes/rules/known_values.h"

namespace lowtide::engine {
namespace {

constexpr int kDeepestCondition = 24;  ///< operations looked through

/// A value whose elements are copies of another's: its dimension map[d] is dimension d of `of`.
struct Spread {
  const Instruction* of = nullptr;
  Dims map;  ///< -1 for dimensions of one element
};

Spread spread_of(const Instruction& value) {
  Spread spread{&value, {}};
  for (int64_t d = 0; d < value.shape.rank(); ++d) spread.map.push_back(value.shape.dims[d] == 1 ? -1 : d);
  for (int depth = 0; depth < kDeepestCondition; ++depth) {
    const Instruction& i = *spread.of;
    const bool moves = i.opcode == Opcode::kBroadcast || i.opcode == Opcode::kReshape ||
                       i.opcode == Opcode::kTranspose || i.opcode == Opcode::kCopy;
    if (!moves) break;
    const Shape& from = i.operand(0).shape;
    Dims map(from.dims.size(), -1);
    int64_t kept = 1;
    for (int64_t d = 0; d < i.shape.rank(); ++d) {
      const int64_t before = dimension_of_operand(i, d);
      if (before < 0) continue;
      const int64_t extent = from.dims[before];
      if (extent == 1) continue;
      map[before] = spread.map[d];
      kept *= extent;
    }
    if (kept != element_count(from)) break;  // a reshape that merges dimensions
    spread = {&i.operand(0), map};
  }
  return spread;
}

bool is_same(const Instruction& a, const Instruction& b) {
  const Spread x = spread_of(a), y = spread_of(b);
  return x.of == y.of && x.map == y.map;
}

/// The result of comparing integers in these ranges, if it is always the same.
std::optional<bool> decided(CompareDirection direction, const IntegerRange& a, const IntegerRange& b) {
  const bool less = a.greatest<b.least, greater = a.least> b.greatest;
  const bool at_most = a.greatest <= b.least, at_least = a.least >= b.greatest;
  const bool equal = at_most && at_least;
  const auto answer = [](bool yes, bool no) { return yes || no ? std::optional(yes) : std::nullopt; };
  switch (direction) {
    case CompareDirection::kEq: return answer(equal, less || greater);
    case CompareDirection::kNe: return answer(less || greater, equal);
    case CompareDirection::kLt: return answer(less, at_least);
    case CompareDirection::kLe: return answer(at_most, greater);
    case CompareDirection::kGt: return answer(greater, at_most);
    case CompareDirection::kGe: return answer(at_least, less);
  }
  return std::nullopt;
}

std::optional<bool> decide_compare(const Instruction& i, const IntegerRanges& ranges) {
  const Instruction &a = i.operand(0), &b = i.operand(1);
  const auto direction = i.as<CompareAttributes>().direction;
  if (!is_integral(a.shape.type)) return std::nullopt;
  if (is_same(a, b)) {
    return direction == CompareDirection::kEq || direction == CompareDirection::kLe ||
           direction == CompareDirection::kGe;
  }
  const auto x = ranges.of(a), y = ranges.of(b);
  return x && y ? decided(direction, *x, *y) : std::nullopt;
}

/// The value of all elements; none if they differ, or are unknown.
std::optional<bool> truth_of(const Instruction& i) {
  if (!i.shape.is_array() || i.shape.type != ElementType::kPred) return std::nullopt;
  if (const Value scalar = same_everywhere(i)) return integer_at(*scalar, 0) != 0;
  const Instruction& few = *spread_of(i).of;
  const Value known = few.opcode == Opcode::kConstant || few.opcode == Opcode::kPad || few.opcode == Opcode::kAnd
                          ? known_value(few)
                          : nullptr;
  if (!known || known->size() == 0) return std::nullopt;
  for (int64_t e = 1; e < known->size(); ++e) {
    if (integer_at(*known, e) != integer_at(*known, 0)) return std::nullopt;
  }
  return integer_at(*known, 0) != 0;
}

Instruction* decide_logic(const Instruction& i, Maker& maker) {
  if (i.shape.type != ElementType::kPred) return nullptr;
  if (is_same(i.operand(0), i.operand(1))) return i.operands[0];
  const bool neutral = i.opcode == Opcode::kAnd;
  for (size_t k = 0; k < 2; ++k) {
    const auto truth = truth_of(i.operand(k));
    if (!truth) continue;
    return *truth == neutral ? i.operands[1 - k] : maker.filled(ElementType::kPred, i.shape.dims, *truth ? 1 : 0);
  }
  return nullptr;
}

constexpr OpcodeSet kDecided = {Opcode::kCompare, Opcode::kNot, Opcode::kAnd, Opcode::kOr, Opcode::kSelect};

Instruction* decide(const Instruction& i, const IntegerRanges& ranges, Maker& maker) {
  switch (i.opcode) {
    case Opcode::kCompare: {
      const auto truth = decide_compare(i, ranges);
      return truth ? maker.filled(ElementType::kPred, i.shape.dims, *truth ? 1 : 0) : nullptr;
    }
    case Opcode::kNot: {
      const auto truth = truth_of(i.operand(0));
      return truth ? maker.filled(ElementType::kPred, i.shape.dims, *truth ? 0 : 1) : nullptr;
    }
    case Opcode::kAnd:
    case Opcode::kOr: return decide_logic(i, maker);
    case Opcode::kSelect: {
      if (is_same(i.operand(1), i.operand(2))) return i.operands[1];
      const auto truth = truth_of(i.operand(0));
      return truth ? i.operands[*truth ? 1 : 2] : nullptr;
    }
    default: return nullptr;
  }
}

}  // namespace

Result<PassResult> decide_predicates(Module& module) {
  if (!has_any(module, kDecided)) return PassResult{};
  const bool partitioned = is_partitioned(module);
  const IntegerRanges ranges(module);
  return rewrite_each(
      module, kDecided,
      [&](Instruction& i, Maker& maker) -> Instruction* {
        if (!i.shape.dynamic.empty() || (partitioned && i.sharding)) return nullptr;
        return decide(i, ranges, maker);
      },
      "predicates decided");
}

}  // namespace lowtide::engine
