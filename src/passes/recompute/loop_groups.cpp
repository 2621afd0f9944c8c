#include "passes/recompute/loop_groups.h"

#include <algorithm>

#include "ir/element_read.h"
#include "passes/rules/loop_carry.h"
#include "passes/rules/maker.h"
#include "passes/rules/saved_stacks.h"

namespace lowtide::engine {
Computation* count_to(Module& module, const Shape& state, size_t counter, int64_t trips) {
  Computation* test = module.add_computation(module.unused_computation_name("trips"));
  Maker maker(*test);
  Instruction* parameter = maker.make(Opcode::kParameter, state, {}, ParameterAttributes{0});
  Instruction* count = maker.element(*parameter, counter);
  test->root = maker.compare(count, maker.constant(count->shape.type, trips), CompareDirection::kLt);
  return test;
}

LoopGroups group_trips(Instruction& loop, size_t counter, int64_t trips, int64_t k) {
  Module& module = loop.parent->module();
  const Shape state = loop.shape;
  Computation& body = *loop.called[1];
  const LoopCarry given(loop, count_callers(module));

  Computation* over = module.add_computation(module.unused_computation_name(body.name + ".groups"));
  Maker outside(*over);
  Instruction* parameter = outside.make(Opcode::kParameter, state, {}, ParameterAttributes{0});
  std::vector<Instruction*> starts;
  for (size_t e = 0; e < state.elements.size(); ++e) starts.push_back(outside.element(*parameter, e));
  Instruction* const group = starts[counter];
  const ElementType type = group->shape.type;
  Instruction* base = outside.binary(Opcode::kMultiply, group, outside.constant(type, k));
  starts[counter] = outside.constant(type, 0);
  Instruction* start = outside.make(Opcode::kTuple, state, starts);
  Instruction* inner = outside.make(Opcode::kWhile, state, {start});
  inner->called = {count_to(module, state, counter, k), &body};
  std::vector<Instruction*> next;
  for (size_t e = 0; e < state.elements.size(); ++e) {
    next.push_back(e == counter            ? outside.binary(Opcode::kAdd, group, outside.constant(type, 1))
                   : given.is_invariant(e) ? starts[e]  // so that this loop's readers see it, too
                                           : outside.element(*inner, e));
  }
  over->root = outside.make(Opcode::kTuple, state, next);
  loop.called = {count_to(module, state, counter, trips / k), over};
  loop.backend_config.clear();  // it may state the old trip count

  // The old body now counts its group's iterations: it computes the count of all iterations from that.
  LoopCarry carry(*inner, count_callers(module));
  Instruction* before = carry.add(*base);
  carry.put_reads_first();
  const std::vector<Instruction*> old = instructions_of(body);
  const std::vector<Instruction*> reads = carry.reads(counter);
  Maker inside(body);
  Instruction* all = inside.binary(Opcode::kAdd, before, reads[0]);
  Instruction* one_more = inside.binary(Opcode::kAdd, reads[0], inside.constant(type, 1));
  for (Instruction* i : old) {
    for (Instruction*& operand : i->operands) {
      if (std::ranges::find(reads, operand) != reads.end()) operand = all;
    }
  }
  carry.set_next(counter, *one_more);
  // After all reads of loop-carried values.
  const auto first = std::ranges::find_if_not(old, [](const Instruction* i) { return is_given_to_computation(*i); });
  put_made(body, old, *first, inside.order(), inside.order().size(), nullptr);
  return {&loop, inner, group};
}

}  // namespace lowtide::engine
