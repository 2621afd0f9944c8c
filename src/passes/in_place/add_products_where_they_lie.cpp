#include "passes/in_place/add_products_where_they_lie.h"

#include <algorithm>

#include "analysis/uses.h"
#include "passes/rewrite.h"

namespace lowtide::engine {
namespace {

/// Is the sum stored in any case?
bool is_stored(const Instruction& i) {
  return i.opcode == Opcode::kDot || i.opcode == Opcode::kParameter ||
         (i.opcode == Opcode::kGetTupleElement && i.operand(0).opcode != Opcode::kTuple);
}

bool adds_in_place(const Instruction& sum, const Instruction& product, const Uses& uses, const Target& target) {
  return product.opcode == Opcode::kDot && product.operands.size() == 2 && product.shape.type == ElementType::kF32 &&
         uses.of(product).size() == 1 && product.parent->root != &product &&
         target.role_of(product) == OpRole::kLibrary && is_stored(sum) && uses.of(sum).size() == 1;
}

}  // namespace

Result<PassResult> add_products_where_they_lie(Module& module, const Target& target) {
  if (!has_any(module, {Opcode::kDot})) return PassResult{};
  int64_t count = 0;
  const Uses uses(module);
  for (const auto& computation : module.computations()) {
    for (const auto& i : computation->instructions()) {
      if (i->opcode != Opcode::kAdd || !i->control_predecessors.empty()) continue;
      for (const size_t k : {size_t{1}, size_t{0}}) {
        Instruction &product = *i->operands[k], &sum = *i->operands[1 - k];
        if (!same_shape(product.shape, i->shape) || !adds_in_place(sum, product, uses, target)) continue;
        i->opcode = Opcode::kDot;
        i->attributes = product.attributes;
        i->operands = {product.operands[0], product.operands[1], &sum};
        ++count;
        break;
      }
    }
    if (count > 0) {
      computation->remove_if([&](const Instruction& i) {
        return i.opcode == Opcode::kDot && i.operands.size() == 2 && uses.of(i).size() == 1 &&
               uses.of(i)[0]->opcode == Opcode::kDot &&
               std::ranges::find(uses.of(i)[0]->operands, &i) == uses.of(i)[0]->operands.end();
      });
    }
  }
  return rewritten(count, "products added where their sum lies");
}

}  // namespace lowtide::engine
