#include "passes/recompute/split_trips.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "ir/element_read.h"
#include "passes/recompute/loop_groups.h"

namespace lowtide::engine {
namespace {

/// A copy of a loop for some of its iterations.
struct Part {
  int64_t trips = 0, before = 0;  ///< before: iterations of earlier parts
  int64_t first_slot = 0;         ///< the first slot of the whole stacks that is in this part's stacks
  std::vector<Instruction*> starts;
  Instruction* loop = nullptr;
  InstructionMap now;  ///< copies of the body's instructions
};

class Splitter {
 public:
  Splitter(const Instruction& loop, size_t counter) : loop_(loop), counter_(counter) {}

  /// Declares that element e is a stack; `user` in the body reads or writes a slice, at its operand `index`.
  void add_stack(size_t e, size_t dimension, const Instruction& user, size_t index) {
    dimension_of_[e] = dimension;
    index_of_[&user] = index;
  }
  bool is_stack(size_t e) const { return dimension_of_.contains(e); }
  Shape stack_shape(size_t e, int64_t slots) const {
    Dims dims = loop_.shape.elements[e].dims;
    dims[dimension_of_.at(e)] = slots;
    return Shape::array(loop_.shape.elements[e].type, dims);
  }

  /// slots: the number of slots of this part's stacks.
  void make(Part& part, Maker& outside, int64_t slots) const {
    Module& module = outside.computation().module();
    Shape state = loop_.shape;
    for (const auto& [e, dimension] : dimension_of_) state.elements[e] = stack_shape(e, slots);
    Computation* body = module.add_computation(module.unused_computation_name(loop_.called[1]->name));
    copy_body(part, state, *body);
    Instruction* start = outside.make(Opcode::kTuple, state, part.starts);
    part.loop = outside.like(loop_, state, {start});
    part.loop->called = {count_to(module, state, counter_, part.trips), body};
  }

 private:
  void copy_body(Part& part, const Shape& state, Computation& body) const {
    const Computation& old = *loop_.called[1];
    const Instruction& parameter = *old.parameters()[0];
    Maker maker(body);
    Instruction* carried = maker.like(parameter, state, {});
    part.now[&parameter] = carried;
    const ElementType type = state.elements[counter_].type;
    Instruction* raw = maker.element(*carried, counter_);
    Instruction* count = part.before == 0 ? raw : maker.binary(Opcode::kAdd, raw, maker.constant(type, part.before));
    for (const auto& i : old.instructions()) {
      if (i.get() == &parameter || i.get() == old.root) continue;
      part.now[i.get()] = copy(part, *i, raw, count, state, maker);
    }
    std::vector<Instruction*> next;
    for (const Instruction* operand : old.root->operands) next.push_back(part.now.at(operand));
    next[counter_] = maker.binary(Opcode::kAdd, raw, maker.constant(type, 1));
    body.root = maker.make(Opcode::kTuple, state, next);
  }

  Instruction* copy(const Part& part, const Instruction& i, Instruction* raw, Instruction* count, const Shape& state,
                    Maker& maker) const {
    if (element_read(i) >= 0) {
      const auto e = static_cast<size_t>(element_read(i));
      return e == counter_ ? count : maker.like(i, state.elements[e], {part.now.at(i.operands[0])});
    }
    const auto index = index_of_.find(&i);
    Instruction* made = nullptr;
    if (index == index_of_.end()) {
      made = maker.copy(i, part.now);
    } else {
      std::vector<Instruction*> operands = mapped(i, part.now);
      Instruction*& place = operands[index->second];
      if (place == count && part.first_slot == part.before) {
        place = raw;
      } else if (part.first_slot != 0) {
        place = maker.binary(Opcode::kSubtract, place, maker.constant(place->shape.type, part.first_slot));
      }
      made = maker.like(i, i.opcode == Opcode::kDynamicUpdateSlice ? operands[0]->shape : i.shape, operands);
    }
    for (const Instruction* before : i.control_predecessors) made->control_predecessors.push_back(part.now.at(before));
    return made;
  }

  const Instruction& loop_;
  const size_t counter_;
  std::map<size_t, size_t> dimension_of_;                    ///< along which slices are stacked, by element
  std::unordered_map<const Instruction*, size_t> index_of_;  ///< by reader or writer of a slice
};

/// The initial values of the second part: the results of the first one, and unchanged loop invariants.
std::vector<Instruction*> continued(Maker& maker, Instruction& first, const LoopCarry& carry, size_t counter) {
  std::vector<Instruction*> starts;
  for (size_t e = 0; e < carry.size(); ++e) {
    const bool same = e == counter || carry.is_invariant(e);
    starts.push_back(same ? &carry.initial(e) : maker.element(first, e));
  }
  return starts;
}

void take_over(const Uses& uses, Instruction& old, Instruction& made, const Splitter& splitter) {
  for (const Instruction* user : uses.of(old)) {
    const auto e = static_cast<size_t>(user->as<TupleIndexAttributes>().index);
    if (!splitter.is_stack(e)) const_cast<Instruction*>(user)->operands[0] = &made;
  }
}

}  // namespace

SplitPairs split_trips(const SplitRequest& request, int64_t first) {
  Instruction &loop = *request.pair.loop, &reader = *request.pair.reader;
  Computation& parent = *loop.parent;
  const Uses uses(parent.module());
  const int64_t trips = request.saved->trips(), rest = trips - first;
  const LoopCarry& carry = request.saved->carry();
  const LoopCarry reading(reader, count_callers(parent.module()));

  Splitter filling(loop, request.saved->counter()), taking(reader, request.reader_counter);
  std::map<const Instruction*, size_t> element_by_result;
  for (const SavedStack* s : request.stacks) {
    filling.add_stack(s->element, s->dimension, *s->update, 2 + s->dimension);
    element_by_result[s->result] = s->element;
    for (const StackRead& read : s->reads) {
      for (size_t e = 0; e < reading.size(); ++e) {
        if (&reading.initial(e) == s->result) taking.add_stack(e, s->dimension, *read.slice, 1 + s->dimension);
      }
    }
  }

  Part early{.trips = first, .before = 0, .first_slot = 0}, late{.trips = rest, .before = first, .first_slot = first};
  std::vector<Instruction*> outer = instructions_of(parent);
  std::map<const Instruction*, Instruction*> early_stack, late_stack;  ///< by the whole stack
  {
    Maker maker(parent);
    const auto stacks_from = [&](std::vector<Instruction*>& starts, int64_t slots) {
      for (const SavedStack* s : request.stacks) {
        const Shape shape = filling.stack_shape(s->element, slots);
        starts[s->element] = maker.filled(shape.type, shape.dims, 0);
      }
    };
    early.starts = loop.operand(0).operands;
    stacks_from(early.starts, first);
    filling.make(early, maker, first);
    late.starts = continued(maker, *early.loop, carry, request.saved->counter());
    stacks_from(late.starts, rest);
    filling.make(late, maker, rest);
    for (const SavedStack* s : request.stacks) {
      early_stack[s->result] = maker.element(*early.loop, s->element);
      late_stack[s->result] = maker.element(*late.loop, s->element);
    }
    put_made(parent, outer, &loop, maker.order(), maker.order().size(), nullptr);
    take_over(uses, loop, *late.loop, filling);
  }

  const bool backwards = request.direction == Direction::kBackwards;
  Part begins{.trips = backwards ? rest : first, .before = 0, .first_slot = backwards ? first : 0};
  Part ends{.trips = trips - begins.trips, .before = begins.trips, .first_slot = backwards ? 0 : first};
  outer = instructions_of(parent);
  Maker maker(parent);
  const auto read_stacks = [&](std::vector<Instruction*>& starts, bool of_rest) {
    for (size_t e = 0; e < starts.size(); ++e) {
      const auto& stacks = of_rest ? late_stack : early_stack;
      const auto stack = stacks.find(&reading.initial(e));
      if (stack != stacks.end() && taking.is_stack(e)) starts[e] = stack->second;
    }
  };
  begins.starts = reader.operand(0).operands;
  read_stacks(begins.starts, backwards);
  taking.make(begins, maker, begins.trips);
  ends.starts = continued(maker, *begins.loop, reading, request.reader_counter);
  read_stacks(ends.starts, !backwards);
  taking.make(ends, maker, ends.trips);
  put_made(parent, outer, &reader, maker.order(), maker.order().size(), nullptr);
  take_over(uses, reader, *ends.loop, taking);

  const auto pair = [&](const Part& fills, const Part& reads) {
    return LoopPair{fills.loop, reads.loop, reads.now.at(request.pair.place)};
  };
  const LoopPair one = pair(early, backwards ? ends : begins), other = pair(late, backwards ? begins : ends);
  return {one, other};
}

}  // namespace lowtide::engine
