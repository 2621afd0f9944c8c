#include "passes/execute/separate_bodies.h"

#include <unordered_map>
#include <unordered_set>

#include "passes/inline_bodies.h"
#include "passes/rewrite.h"

namespace lowtide::engine {
namespace {

bool runs_steps(const Instruction& i) { return i.opcode == Opcode::kWhile || i.opcode == Opcode::kConditional; }

/// A copy of `original` that calls the same computations.
Computation* copy_computation(Module& module, const Computation& original) {
  Computation* copy = module.add_computation(module.unused_computation_name(original.name));
  copy->execution_thread = original.execution_thread;
  std::unordered_map<const Instruction*, Instruction*> twin;
  for (const auto& i : original.instructions()) {
    auto added = copy_of(*i);
    for (Instruction*& operand : added->operands) operand = twin.at(operand);
    for (Instruction*& before : added->control_predecessors) before = twin.at(before);
    twin[i.get()] = copy->append(std::move(added));
  }
  copy->root = twin.at(original.root);
  return copy;
}

}  // namespace

Result<PassResult> separate_bodies(Module& module) {
  int64_t count = 0;
  int64_t room = std::max(kMostInlined - module.instruction_count(), module.instruction_count());
  std::unordered_set<const Computation*> taken;
  // From the entry inward: a copied body's own loops are seen later and separated in turn.
  std::vector<Computation*> open = {module.entry};
  while (!open.empty()) {
    Computation* computation = open.back();
    open.pop_back();
    for (const auto& i : computation->instructions()) {
      if (!runs_steps(*i)) continue;
      for (Computation*& body : i->called) {
        if (!taken.insert(body).second) {
          const auto size = static_cast<int64_t>(body->instructions().size());
          if (size > room) continue;
          room -= size;
          body = copy_computation(module, *body);
          taken.insert(body);
          ++count;
        }
        open.push_back(body);
      }
    }
  }
  if (count > 0) module.reorder(module.callees_first());
  return rewritten(count, "bodies copied");
}

}  // namespace lowtide::engine
