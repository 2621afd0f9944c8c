#include "passes/execute/separate_fills.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/uses.h"
#include "ops/op_rule.h"
#include "passes/rewrite.h"

namespace lowtide::engine {
namespace {

bool is_fill(const Instruction& i) {
  return i.opcode == Opcode::kBroadcast && element_count(i.operand(0).shape) == 1 && element_count(i.shape) > 1;
}

bool reads_by_element(const Instruction& user) { return memory_class(user.opcode) == MemoryClass::kElementwise; }

}  // namespace

Result<PassResult> separate_fills(Module& module) {
  PassResult result;
  const Uses uses(module);
  const std::vector<bool> ordered = ordered_instructions(module);
  for (const auto& computation : module.computations()) {
    std::vector<Instruction*> shared;
    for (const auto& i : computation->instructions()) {
      if (!is_fill(*i) || !is_plain_array(*i) || ordered[i->id]) continue;
      const auto users = uses.of(*i);
      const auto readers =
          std::ranges::count_if(users, [](const Instruction* user) { return reads_by_element(*user); });
      if (readers == 0 || (readers == std::ssize(users) && computation->root != i.get())) continue;
      shared.push_back(i.get());
    }
    if (shared.empty()) continue;
    Names names(*computation);
    for (Instruction* fill : shared) {
      Instruction* own = append_new(*computation, names.unused(fill->name), fill->opcode, fill->shape, fill->operands,
                                    fill->attributes);
      own->metadata = fill->metadata;
      for (const Instruction* user : uses.of(*fill)) {
        if (!reads_by_element(*user)) continue;
        auto& operands = const_cast<Instruction*>(user)->operands;
        std::ranges::replace(operands, fill, own);
      }
      ++result.count;
    }
    put_operands_first(*computation);
  }
  result.changed = result.count > 0;
  result.note = fmt::format("{} arrays of equal numbers have an equal of their own", result.count);
  return result;
}

}  // namespace lowtide::engine
