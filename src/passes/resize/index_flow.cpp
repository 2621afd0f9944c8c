#include "passes/resize/index_flow.h"

#include <algorithm>

#include "ir/element_read.h"
#include "passes/rewrite.h"

namespace lowtide::engine {
namespace {

using Kind = IndexFlow::Kind;

constexpr int kMostSteps = 300;  ///< traced along one index

IndexFlow constant(int64_t value) { return {.kind = Kind::kConstant, .start = value}; }

}  // namespace

IndexFlows::IndexFlows(const Module& module) {
  for (const auto& computation : module.computations()) {
    for (const auto& i : computation->instructions()) {
      for (const Computation* called : i->called) {
        std::vector<const Instruction*>& callers = callers_[called];
        if (callers.empty() || callers.back() != i.get()) callers.push_back(i.get());
      }
    }
  }
  for (const auto& computation : module.computations()) {
    for (const auto& i : computation->instructions()) {
      if (i->opcode != Opcode::kWhile) continue;
      const auto count = trip_count(*i);
      if (!count || loop_of_body_.contains(i->called[1])) continue;
      loop_of_body_.emplace(i->called[1], loops_.size());
      loops_.push_back({i.get(), *count, {}});
    }
  }
}

const CountedLoop* IndexFlows::loop_of(const Computation& body) const {
  const auto found = loop_of_body_.find(&body);
  if (found == loop_of_body_.end()) return nullptr;
  const CountedLoop& loop = loops_[found->second];
  const auto counts_alike = [&](const Instruction* other) {
    if (other->opcode != Opcode::kWhile || other->called[1] != &body) return false;
    const auto count = trip_count(*other);
    return count && count->trips == loop.count.trips && count->carry == loop.count.carry &&
           count->start == loop.count.start && count->step == loop.count.step;
  };
  return std::ranges::all_of(callers_.at(&body), counts_alike) ? &loop : nullptr;
}

IndexFlow IndexFlows::follow(const Instruction& user, size_t operand) {
  uses_.clear();
  met_.clear();
  steps_ = 0;
  return at(user, operand);
}

IndexFlow IndexFlows::at(const Instruction& user, size_t operand) {
  if (++steps_ > kMostSteps) return {.kind = Kind::kTangled};
  const Instruction& i = user.operand(operand);
  if (const Literal* literal = known_constant(i)) {
    if (!is_integral(i.shape.type) || literal->size() != 1 || i.shape.rank() != 0) return {};
    uses_.push_back({&user, operand, integer_at(*literal, 0)});
    return constant(uses_.back().value);
  }
  switch (i.opcode) {
    case Opcode::kCopy:
    case Opcode::kConvert:
    case Opcode::kReshape:
    case Opcode::kBitcast:
    case Opcode::kBroadcast: return i.shape.rank() == 0 ? at(i, 0) : of_others(i);
    case Opcode::kAdd: return of_sum(i, 1);
    case Opcode::kSubtract: return of_sum(i, -1);
    case Opcode::kMultiply: return of_product(i);
    case Opcode::kSelect: return of_select(i);
    case Opcode::kClamp: return at(i, 0), at(i, 2), at(i, 1);
    case Opcode::kMaximum:
    case Opcode::kMinimum: {
      const IndexFlow a = at(i, 0), b = at(i, 1);
      if (a.kind == Kind::kConstant) return b;
      return b.kind == Kind::kConstant ? a : of_others(i);
    }
    case Opcode::kGetTupleElement: return of_element(i);
    case Opcode::kParameter: {
      const auto callers = callers_.find(i.parent);
      if (callers == callers_.end() || callers->second.size() != 1) return {};
      const Instruction& caller = *callers->second[0];
      const bool plain = caller.opcode == Opcode::kCall || caller.opcode == Opcode::kFusion;
      return plain ? at(caller, static_cast<size_t>(i.as<ParameterAttributes>().number)) : IndexFlow{};
    }
    default:
      return i.shape.is_array() && i.shape.rank() == 0 && memory_class(i.opcode) == MemoryClass::kElementwise
                 ? of_others(i)
                 : IndexFlow{};
  }
}

IndexFlow IndexFlows::of_sum(const Instruction& i, int64_t sign) {
  const IndexFlow a = at(i, 0), b = at(i, 1);
  if (a.kind == Kind::kTangled || b.kind == Kind::kTangled) return {.kind = Kind::kTangled};
  if (a.kind == Kind::kData || b.kind == Kind::kData)
    return {.kind = a.counts() || b.counts() ? Kind::kTangled : Kind::kData};
  if (a.loop != nullptr && b.loop != nullptr && a.loop != b.loop) return {.kind = Kind::kTangled};
  IndexFlow sum = a.loop != nullptr ? a : b;
  sum.slope = a.slope + sign * b.slope;
  sum.start = a.start + sign * b.start;
  return sum;
}

IndexFlow IndexFlows::of_product(const Instruction& i) {
  IndexFlow a = at(i, 0), b = at(i, 1);
  if (a.kind == Kind::kConstant) std::swap(a, b);
  if (b.kind != Kind::kConstant) return {.kind = a.counts() || b.counts() ? Kind::kTangled : Kind::kData};
  a.slope *= b.start;
  a.start *= b.start;
  return a;
}

/// Indices below zero count from the end: `i < 0 ? i + n : i` is i.
IndexFlow IndexFlows::of_select(const Instruction& i) {
  const IndexFlow negative = at(i, 1), other = at(i, 2);
  const Instruction& test = i.operand(0);
  if (test.opcode == Opcode::kCompare && test.as<CompareAttributes>().direction == CompareDirection::kLt &&
      &test.operand(0) == &i.operand(2)) {
    return other;
  }
  const IndexFlow tested = test.opcode == Opcode::kCompare ? at(test, 0) : IndexFlow{};
  return {.kind = negative.counts() || other.counts() || tested.counts() ? Kind::kTangled : Kind::kData};
}

IndexFlow IndexFlows::of_element(const Instruction& element) {
  const Instruction& bundle = element.operand(0);
  const auto index = static_cast<size_t>(element.as<TupleIndexAttributes>().index);
  if (bundle.opcode == Opcode::kTuple) return at(bundle, index);
  if (element_read(element) < 0) return {};
  const auto callers = callers_.find(element.parent);
  if (callers == callers_.end()) return {};
  const CountedLoop* counted = loop_of(*element.parent);
  const bool one = callers->second.size() == 1 && callers->second[0]->opcode == Opcode::kWhile;
  if (counted != nullptr && counted->count.carry == static_cast<int64_t>(index)) {
    met_.push_back(counted);
    return {.kind = Kind::kCounts, .slope = counted->count.step, .start = counted->count.start, .loop = counted};
  }
  if (!one) return {.kind = counted != nullptr ? Kind::kTangled : Kind::kData};
  const Instruction& loop = *callers->second[0];
  const Instruction& root = *loop.called[1]->root;
  if (root.opcode != Opcode::kTuple || loop.operand(0).opcode != Opcode::kTuple) return {};
  const Instruction* next = &root.operand(index);
  while (next->opcode == Opcode::kCopy) next = &next->operand(0);
  if (element_read(*next) == static_cast<int64_t>(index)) return at(loop.operand(0), index);
  // Another element that counts along with the counter.
  const bool steps = counted != nullptr && (next->opcode == Opcode::kAdd || next->opcode == Opcode::kSubtract) &&
                     element_read(next->operand(0)) == static_cast<int64_t>(index);
  if (!steps) return {};
  const IndexFlow start = at(loop.operand(0), index);
  const IndexFlow step = at(*next, 1);
  if (start.kind != Kind::kConstant || step.kind != Kind::kConstant) return {.kind = Kind::kTangled};
  met_.push_back(counted);
  const int64_t slope = next->opcode == Opcode::kAdd ? step.start : -step.start;
  return {.kind = Kind::kCounts, .slope = slope, .start = start.start, .loop = counted};
}

IndexFlow IndexFlows::of_others(const Instruction& i) {
  IndexFlow flow;
  for (size_t k = 0; k < i.operands.size(); ++k) {
    if (i.operand(k).shape.is_array() && i.operand(k).shape.rank() == 0 && at(i, k).counts())
      flow.kind = Kind::kTangled;
  }
  return flow;
}

}  // namespace lowtide::engine
