#include "passes/rules/integer_ranges.h"

#include <algorithm>

#include "analysis/trip_count.h"
#include "passes/rewrite.h"
#include "passes/rules/loop_carry.h"

namespace lowtide::engine {
namespace {

constexpr int kDeepestRange = 12;                    ///< operations looked through
constexpr int64_t kMostElements = int64_t{1} << 14;  ///< of a constant that is read
constexpr int64_t kMostBound = int64_t{1} << 40;     ///< sums and differences of smaller numbers don't overflow
constexpr int64_t kMostStep = int64_t{1} << 30;      ///< and so do products of these

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
  return (type_kind(type) != TypeKind::kUnsigned || inner.least >= 0) && inner.least > -kMostBound &&
         inner.greatest < kMostBound;
}

Range united(const Range& a, const Range& b) { return {std::min(a.least, b.least), std::max(a.greatest, b.greatest)}; }

std::optional<Range> of_constant(const Instruction& i) {
  const Literal* literal = known_constant(i);
  if (!literal || literal->size() == 0 || literal->size() > kMostElements) return std::nullopt;
  Range range{integer_at(*literal, 0), integer_at(*literal, 0)};
  for (int64_t e = 1; e < literal->size(); ++e) {
    range = united(range, {integer_at(*literal, e), integer_at(*literal, e)});
  }
  const bool wraps = literal->shape().type == ElementType::kU64 && range.least < 0;  // numbers that s64 can't represent
  return wraps ? std::nullopt : std::optional(range);
}

/// As in C and C++, the remainder has the dividend's sign. The remainder by zero is the dividend.
std::optional<Range> of_remainder(const std::optional<Range>& a, const std::optional<Range>& b) {
  if (!b || b->least <= 0) return std::nullopt;
  const int64_t most = b->greatest - 1;
  if (!a) return Range{-most, most};
  return Range{a->least >= 0 ? 0 : std::max(-most, a->least), a->greatest <= 0 ? 0 : std::min(most, a->greatest)};
}

/// Do sums and differences of such numbers fit?
bool is_small(const Range& range) { return range.least > -kMostBound && range.greatest < kMostBound; }

}  // namespace

std::optional<IntegerRange> IntegerRanges::of_arithmetic(const Instruction& i, int depth) const {
  const auto a = find(i.operand(0), depth + 1), b = find(i.operand(1), depth + 1);
  if (i.opcode == Opcode::kRemainder) return of_remainder(a, b);
  if (i.opcode == Opcode::kMinimum || i.opcode == Opcode::kMaximum) {
    if (!a || !b) return std::nullopt;
    const bool low = i.opcode == Opcode::kMinimum;
    return low ? Range{std::min(a->least, b->least), std::min(a->greatest, b->greatest)}
               : Range{std::max(a->least, b->least), std::max(a->greatest, b->greatest)};
  }
  if (!a || !b || !is_small(*a) || !is_small(*b)) return std::nullopt;
  const Range made = i.opcode == Opcode::kAdd ? Range{a->least + b->least, a->greatest + b->greatest}
                                              : Range{a->least - b->greatest, a->greatest - b->least};
  return is_inside(made, i.shape.type) ? std::optional(made) : std::nullopt;
}

std::optional<IntegerRange> IntegerRanges::of_carry(const Instruction& read) const {
  const auto loop = loop_of_.find(read.parent);
  if (loop == loop_of_.end() || read.shape.rank() != 0) return std::nullopt;
  const Instruction& runs = *loop->second;
  const auto progression = progression_of(runs, read.as<TupleIndexAttributes>().index);
  if (!progression || progression->start <= -kMostBound || progression->start >= kMostBound) return std::nullopt;
  const int64_t start = progression->start, step = progression->step;
  if (step == 0) return Range{start, start};
  const auto count = trip_count(runs);
  if (!count || count->carry < 0 || step <= -kMostStep || step >= kMostStep || count->trips >= kMostStep)
    return std::nullopt;
  // The condition reads the carry once more than the body does.
  const bool in_body = read.parent == runs.called[1];
  const int64_t steps = in_body ? std::max<int64_t>(count->trips - 1, 0) : count->trips;
  const Range range = united({start, start}, {start + steps * step, start + steps * step});
  return is_inside(range, read.shape.type) ? std::optional(range) : std::nullopt;
}

std::optional<IntegerRange> IntegerRanges::look(const Instruction& i, int depth) const {
  switch (i.opcode) {
    case Opcode::kConstant: return of_constant(i);
    case Opcode::kGetTupleElement: return i.operand(0).opcode == Opcode::kParameter ? of_carry(i) : std::nullopt;
    case Opcode::kIota: {
      const int64_t n = i.shape.dims[i.as<IotaAttributes>().dimension];
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
      // If the bounds cross, the upper one wins.
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

std::optional<IntegerRange> IntegerRanges::find(const Instruction& i, int depth) const {
  if (!i.shape.is_array() || !is_integral(i.shape.type) || i.shape.type == ElementType::kPred) return std::nullopt;
  if (depth > kDeepestRange) return range_of_type(i.shape.type);
  const auto found = look(i, depth);
  return found ? found : range_of_type(i.shape.type);
}

IntegerRanges::IntegerRanges(const Module& module) {
  const auto callers = count_callers(module);
  for (const auto& computation : module.computations()) {
    for (const auto& i : computation->instructions()) {
      if (i->opcode != Opcode::kWhile) continue;
      for (const Computation* called : i->called) {
        if (callers.at(called) == 1) loop_of_[called] = i.get();
      }
    }
  }
}

}  // namespace lowtide::engine
