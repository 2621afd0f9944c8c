#include "schedule/values.h"

#include "analysis/leaf_bytes.h"
#include "analysis/leaves.h"

namespace lowtide::engine {

std::vector<LeafRef> operand_leaves(const Instruction& instruction) {
  std::vector<LeafRef> out;
  for (const Instruction* operand : instruction.operands) {
    const int64_t count = leaf_count(operand->shape);
    for (int64_t l = 0; l < count; ++l) out.push_back({operand, static_cast<int32_t>(l)});
  }
  return out;
}

ValueTable::ValueTable(const Module& module, const ModuleWork& work, std::shared_ptr<const Partitioning> sizes)
    : first_(static_cast<size_t>(module.id_limit()), kNoId), is_view_(static_cast<size_t>(module.id_limit()), false) {
  if (!sizes->is_plain()) sizes_ = std::move(sizes);
  for (const auto& [computation, list] : work.of) {
    for (const Work& w : list) {
      if (w.kind == WorkKind::kView) is_view_[w.instruction->id] = true;
      if (w.kind != WorkKind::kControl) continue;
      const auto& called = w.instruction->called;
      for (size_t c = 0; c < called.size(); ++c) caller_[called[c]] = {w.instruction, static_cast<int32_t>(c)};
    }
  }
  // Inner loops first: an outer loop may pass a value through only because an inner one does.
  for (const Computation* computation : module.callees_first()) {
    const auto list = work.of.find(computation);
    if (list == work.of.end()) continue;
    for (const Work& w : list->second) {
      if (w.kind != WorkKind::kControl) continue;
      if (w.instruction->opcode == Opcode::kWhile) fold_loop(*w.instruction);
      if (w.instruction->opcode == Opcode::kConditional) fold_conditional(*w.instruction);
    }
  }
}

const Instruction* ValueTable::caller(const Computation& c) const {
  const auto found = caller_.find(&c);
  return found == caller_.end() ? nullptr : found->second.first;
}

ValueId ValueTable::add(const LeafRef& named_after, int64_t bytes, bool in_host) {
  refs_.push_back(named_after);
  bytes_.push_back(bytes);
  in_host_.push_back(in_host);
  return static_cast<ValueId>(sets_.add());
}

ValueId ValueTable::own(const Instruction& i, int64_t leaf) {
  int32_t& first = first_[i.id];
  if (first == kNoId) {
    first = static_cast<int32_t>(of_leaf_.size());
    of_leaf_.resize(of_leaf_.size() + static_cast<size_t>(leaf_count(i.shape)), kNoId);
    own_.resize(of_leaf_.size(), kNoId);
  }
  const auto at = static_cast<size_t>(first + leaf);
  if (own_[at] == kNoId) {
    const Shape* shape = leaf_shape(i.shape, leaf);
    LT_ASSERT(shape, i.name + " has no leaf " + std::to_string(leaf));
    int64_t bytes = shape->is_array() ? safe_logical_bytes(*shape) : 0;
    bool in_host = false;
    if (sizes_ && shape->is_array()) {
      const LeafBytes part = sizes_->of(i, static_cast<int32_t>(leaf));
      bytes = part.bytes - part.padding;
      in_host = part.memory_space == kHostMemory;
    }
    own_[at] = add({&i, static_cast<int32_t>(leaf)}, bytes, in_host);
  }
  return own_[at];
}

ValueId ValueTable::of(const LeafRef& leaf) {
  const LeafRef made = resolve(leaf);
  const Instruction& i = *made.instruction;
  const ValueId self = own(i, made.leaf);
  const auto at = static_cast<size_t>(first_[i.id] + made.leaf);
  if (of_leaf_[at] != kNoId) return find(of_leaf_[at]);
  ValueId value = self;
  if (is_view_[i.id]) {
    value = of(i.operands[0], 0);
  } else if (i.opcode == Opcode::kParameter) {
    const auto call = caller_.find(i.parent);
    if (call != caller_.end()) {
      const auto& [caller, number] = call->second;
      if (caller->opcode == Opcode::kWhile) {
        value = own(*caller, made.leaf);
      } else if (caller->opcode == Opcode::kConditional) {
        value = of(caller->operands[static_cast<size_t>(number) + 1], made.leaf);
      }
    }
  }
  of_leaf_[at] = value;
  return find(value);
}

void ValueTable::fold_loop(const Instruction& loop) {
  const Computation& body = *loop.called[1];
  const int64_t count = leaf_count(loop.shape);
  for (int64_t l = 0; l < count; ++l) {
    const ValueId carry = own(loop, l);
    if (of(body.root, l) == find(carry)) join(of(loop.operands[0], l), carry);
  }
}

// A single branch may compute the value itself, which nothing outside may read: its result is moved like any other.
void ValueTable::fold_conditional(const Instruction& conditional) {
  if (conditional.called.size() < 2) return;
  const int64_t count = leaf_count(conditional.shape);
  for (int64_t l = 0; l < count; ++l) {
    ValueId same = kNoId;
    bool all = true;
    for (const Computation* branch : conditional.called) {
      const ValueId v = of(branch->root, l);
      all = all && (same == kNoId || same == v);
      same = v;
    }
    if (all && same != kNoId) join(same, own(conditional, l));
  }
}

}  // namespace lowtide::engine
