#include "passes/spoil.h"

#include "passes/rewrite.h"

namespace lowtide::engine {
namespace {

bool is_float(const Instruction& i) { return i.shape.is_array() && is_floating(i.shape.type); }

Instruction* negated(Instruction* array) {
  Computation& computation = *array->parent;
  return append_new(computation, unused_name(computation, "spoilt"), Opcode::kNegate, array->shape, {array});
}

}  // namespace

Result<PassResult> spoil(Module& module) {
  Computation& entry = *module.entry;
  const PassResult done{.changed = true, .count = 1, .note = "the sign of a result is turned"};
  Instruction* root = entry.root;
  if (is_float(*root)) {
    entry.root = negated(root);
    return done;
  }
  if (root->opcode != Opcode::kTuple) return PassResult{};
  for (Instruction*& operand : root->operands) {
    if (!is_float(*operand)) continue;
    operand = negated(operand);
    std::vector<Instruction*> order;
    for (const auto& i : entry.instructions()) {
      if (i.get() != root) order.push_back(i.get());
    }
    order.push_back(root);
    entry.reorder(order);
    return done;
  }
  return PassResult{};
}

}  // namespace lowtide::engine
