#include "analysis/trip_count.h"

#include <charconv>

#include "ir/element_read.h"
#include "ir/literal.h"

namespace lowtide::engine {
namespace {

/// The loop-carried value that `value` reads, through copies; -1: none.
int64_t carry_read(const Instruction& value) {
  if (value.opcode == Opcode::kCopy) return carry_read(value.operand(0));
  return element_read(value);
}

std::optional<int64_t> scalar_constant(const Instruction& value) {
  if (value.opcode == Opcode::kCopy) return scalar_constant(value.operand(0));
  const auto* constant = value.if_as<ConstantAttributes>();
  if (!constant || !constant->value || !constant->value->known()) return std::nullopt;
  if (!is_integral(value.shape.type) || constant->value->size() != 1 || value.shape.rank() != 0) return std::nullopt;
  return index_at(*constant->value, 0);
}

const Instruction* initial_of(const Instruction& loop, int64_t carry) {
  const Instruction& start = loop.operand(0);
  if (start.opcode != Opcode::kTuple) return nullptr;
  return start.operands[carry];
}

const Instruction* next_of(const Instruction& loop, int64_t carry) {
  const Instruction& root = *loop.called[1]->root;
  return root.opcode == Opcode::kTuple ? root.operands[carry] : nullptr;
}

/// The value of a constant, or of a carry that starts as one and never changes.
std::optional<int64_t> bound_of(const Instruction& loop, const Instruction& value) {
  if (const auto constant = scalar_constant(value)) return constant;
  const int64_t carry = carry_read(value);
  if (carry < 0) return std::nullopt;
  const Instruction* next = next_of(loop, carry);
  const Instruction* initial = initial_of(loop, carry);
  if (!next || !initial || carry_read(*next) != carry) return std::nullopt;
  return scalar_constant(*initial);
}

/// The constant that the body adds to the carry in an iteration.
std::optional<int64_t> step_of(const Instruction& loop, int64_t carry) {
  const Instruction* next = next_of(loop, carry);
  while (next && next->opcode == Opcode::kCopy) next = next->operands[0];
  if (!next || (next->opcode != Opcode::kAdd && next->opcode != Opcode::kSubtract)) return std::nullopt;
  const int sign = next->opcode == Opcode::kAdd ? 1 : -1;
  if (carry_read(next->operand(0)) == carry) {
    if (const auto step = bound_of(loop, next->operand(1))) return sign * *step;
  }
  if (sign > 0 && carry_read(next->operand(1)) == carry) return bound_of(loop, next->operand(0));
  return std::nullopt;
}

CompareDirection mirrored(CompareDirection direction) {
  switch (direction) {
    case CompareDirection::kLt: return CompareDirection::kGt;
    case CompareDirection::kLe: return CompareDirection::kGe;
    case CompareDirection::kGt: return CompareDirection::kLt;
    case CompareDirection::kGe: return CompareDirection::kLe;
    default: return direction;
  }
}

/// Iterations of `for (i = start; i <direction> bound; i += step)`, if it ends without wrapping.
std::optional<int64_t> trips_of(int64_t start, int64_t step, CompareDirection direction, int64_t bound) {
  constexpr int64_t kFar = int64_t{1} << 31;
  if (start <= -kFar || start >= kFar || bound <= -kFar || bound >= kFar || step <= -kFar || step >= kFar) return {};
  int64_t distance = 0;  // counted upward, like `step` below
  switch (direction) {
    case CompareDirection::kLt: distance = bound - start; break;
    case CompareDirection::kLe: distance = bound - start + 1; break;
    case CompareDirection::kGt: distance = start - bound, step = -step; break;
    case CompareDirection::kGe: distance = start - bound + 1, step = -step; break;
    case CompareDirection::kNe:
      distance = step > 0 ? bound - start : start - bound;
      step = step > 0 ? step : -step;
      if (step == 0 || distance < 0 || distance % step != 0) return {};
      break;
    case CompareDirection::kEq: return {};
  }
  if (distance <= 0) return 0;
  if (step <= 0) return {};
  return (distance + step - 1) / step;
}

/// Can the type represent all values of the counter, including the final one that ends the loop?
bool holds(ElementType type, int64_t start, int64_t step, int64_t trips) {
  int64_t last = 0;
  if (__builtin_mul_overflow(step, trips, &last) || __builtin_add_overflow(last, start, &last)) return false;
  const int bits = type_bits(type);
  const bool is_unsigned = type_kind(type) == TypeKind::kUnsigned;
  if (is_unsigned && last < 0) return false;
  if (bits >= 64) return true;
  const int64_t beyond = int64_t{1} << (is_unsigned ? bits : bits - 1);
  return last < beyond && last >= (is_unsigned ? 0 : -beyond);
}

std::optional<int64_t> declared_trips(const Instruction& loop) {
  const std::string& config = loop.backend_config;
  const size_t at = config.find("known_trip_count");
  if (at == std::string::npos) return std::nullopt;
  const size_t digit = config.find_first_of("0123456789", at);
  if (digit == std::string::npos || digit > at + 48) return std::nullopt;
  int64_t trips = 0;
  const auto read = std::from_chars(config.data() + digit, config.data() + config.size(), trips);
  if (read.ec != std::errc()) return std::nullopt;
  return trips;
}

std::optional<TripCount> counted(const Instruction& loop) {
  const Instruction& test = *loop.called[0]->root;
  if (test.opcode != Opcode::kCompare) return std::nullopt;
  for (const size_t side : {size_t{0}, size_t{1}}) {
    const int64_t carry = carry_read(test.operand(side));
    if (carry < 0 || !is_integral(test.operand(side).shape.type)) continue;
    const auto bound = bound_of(loop, test.operand(1 - side));
    const auto step = step_of(loop, carry);
    const Instruction* initial = initial_of(loop, carry);
    if (!bound || !step || !initial) continue;
    const auto start = scalar_constant(*initial);
    if (!start) continue;
    const CompareDirection direction = test.as<CompareAttributes>().direction;
    const auto trips = trips_of(*start, *step, side == 0 ? direction : mirrored(direction), *bound);
    if (trips && holds(test.operand(side).shape.type, *start, *step, *trips))
      return TripCount{*trips, carry, *start, *step};
  }
  return std::nullopt;
}

}  // namespace

std::optional<TripCount> trip_count(const Instruction& loop) {
  if (loop.opcode != Opcode::kWhile || loop.called.size() != 2 || !loop.called[0]->root || !loop.called[1]->root)
    return {};
  if (loop.operands.size() != 1 || !loop.shape.is_tuple()) return {};
  if (const auto count = counted(loop)) return count;
  if (const auto trips = declared_trips(loop)) return TripCount{*trips, -1, 0, 0};
  return std::nullopt;
}

std::optional<Progression> progression_of(const Instruction& loop, int64_t carry) {
  const Instruction* initial = initial_of(loop, carry);
  const auto start = initial ? scalar_constant(*initial) : std::nullopt;
  const Instruction* next = next_of(loop, carry);
  if (!start || !next) return std::nullopt;
  if (carry_read(*next) == carry) return Progression{*start, 0};
  const auto step = step_of(loop, carry);
  return step ? std::optional(Progression{*start, *step}) : std::nullopt;
}

std::optional<int64_t> trip_step(const Instruction& loop) {
  const Instruction& test = *loop.called[0]->root;
  if (test.opcode != Opcode::kCompare) return std::nullopt;
  for (const size_t side : {size_t{0}, size_t{1}}) {
    const int64_t carry = carry_read(test.operand(side));
    if (carry < 0) continue;
    if (const auto step = step_of(loop, carry)) return step;
  }
  return std::nullopt;
}

}  // namespace lowtide::engine
