#include "passes/rules/loop_carry.h"

#include <algorithm>

namespace lowtide::engine {
namespace {

const Instruction* behind_copies(const Instruction* i) {
  while (i->opcode == Opcode::kCopy) i = i->operands[0];
  return i;
}

/// Moves a read of a tuple's element directly after the tuple, if it comes after the user.
void put_before(const Instruction& element, const Instruction& user) {
  if (element.opcode != Opcode::kGetTupleElement) return;
  Computation& parent = *element.parent;
  std::vector<Instruction*> order;
  bool is_late = false;
  for (const auto& i : parent.instructions()) {
    if (i.get() == &user) is_late = true;
    if (i.get() == &element && !is_late) return;
    if (i.get() != &element) order.push_back(i.get());
    if (i.get() == element.operands[0]) order.push_back(const_cast<Instruction*>(&element));
  }
  parent.reorder(order);
}

bool is_element(const Instruction& i) { return i.opcode == Opcode::kGetTupleElement; }

/// Does `holds` hold for all users of the value, each asked once, in their order?
template <class Holds>
bool all_users(const Instruction& value, const Uses* uses, Holds holds) {
  if (uses != nullptr)
    return std::ranges::all_of(uses->of(value), [&](const Instruction* user) { return holds(*user); });
  return std::ranges::all_of(value.parent->instructions(), [&](const auto& i) {
    return std::ranges::find(i->operands, &value) == i->operands.end() || holds(*i);
  });
}

}  // namespace

LoopCarry::LoopCarry(Instruction& loop, const std::unordered_map<const Computation*, int>& callers, const Uses* uses)
    : loop_(loop) {
  Instruction& start = *loop.operands[0];
  Computation &test = *loop.called[0], &inner = *loop.called[1];
  if (start.opcode != Opcode::kTuple || inner.root->opcode != Opcode::kTuple || loop.parent->root == &loop) return;
  if (callers.at(&test) != 1 || callers.at(&inner) != 1 || &test == &inner) return;
  if (loop.parent->root == &start) return;
  const auto is_the_loop = [&](const Instruction& user) { return &user == &loop; };
  if (!all_users(start, uses, is_the_loop) || !all_users(loop, uses, is_element)) return;
  const auto given = inner.parameters(), tested = test.parameters();
  if (given.size() != 1 || tested.size() != 1) return;
  ok_ = gather(*given[0], uses, reads_) && gather(*tested[0], uses, tested_);
}

bool LoopCarry::gather(Instruction& parameter, const Uses* uses, std::vector<std::vector<Instruction*>>& reads) {
  reads.resize(loop_.shape.elements.size());
  const auto takes = [&](const Instruction& user) {
    if (!is_element(user)) return false;
    reads[user.as<TupleIndexAttributes>().index].push_back(const_cast<Instruction*>(&user));
    return true;
  };
  return all_users(parameter, uses, takes) && parameter.parent->root != &parameter;
}

bool LoopCarry::is_invariant(size_t k) const {
  const Instruction* next = behind_copies(body().root->operands[k]);
  return tested_[k].empty() && std::ranges::find(reads_[k], next) != reads_[k].end();
}

int64_t LoopCarry::invariant_of(const Instruction& i) const {
  for (size_t k = 0; k < size(); ++k) {
    if (is_invariant(k) && std::ranges::find(reads_[k], &i) != reads_[k].end()) return static_cast<int64_t>(k);
  }
  return -1;
}

Instruction* LoopCarry::invariant(Instruction& value, Names* names) {
  for (size_t k = 0; k < size(); ++k) {
    if (&initial(k) == &value && is_invariant(k)) return reads_[k][0];
  }
  return add(value, names);
}

Instruction* LoopCarry::add(Instruction& value, Names* names) {
  const Shape shape = value.shape;
  Instruction& start = *loop_.operands[0];
  put_before(value, start);
  start.operands.push_back(&value);
  const Computation& test = *loop_.called[0];
  Instruction* parameter = body().parameters()[0];
  for (Instruction* tuple : {&start, &loop_, body().root, parameter, test.parameters()[0]}) {
    tuple->shape.elements.push_back(shape);
  }
  auto read = std::make_unique<Instruction>();
  read->opcode = Opcode::kGetTupleElement;
  read->name = names != nullptr ? names->unused(value.name) : unused_name(body(), value.name);
  read->shape = shape;
  read->operands = {parameter};
  read->attributes = TupleIndexAttributes{static_cast<int64_t>(size())};
  Instruction* made = body().append(std::move(read));
  body().root->operands.push_back(made);
  reads_.push_back({made});
  tested_.emplace_back();
  return made;
}

void LoopCarry::put_reads_first() {
  const Instruction* parameter = body().parameters()[0];
  std::vector<Instruction*> order;
  for (const auto& i : body().instructions()) order.push_back(i.get());
  std::ranges::stable_sort(order, {}, [&](const Instruction* i) {
    return i == parameter ? 0 : i->opcode == Opcode::kGetTupleElement && i->operands[0] == parameter ? 1 : 2;
  });
  body().reorder(order);
}

std::unordered_map<const Computation*, int> count_callers(const Module& module) {
  std::unordered_map<const Computation*, int> callers;
  for (const auto& computation : module.computations()) {
    for (const auto& i : computation->instructions()) {
      for (const Computation* called : i->called) ++callers[called];
    }
  }
  return callers;
}

}  // namespace lowtide::engine
