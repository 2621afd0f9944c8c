#include "passes/execute/open_manual_regions.h"

#include <fmt/format.h>

#include "analysis/partitioning.h"
#include "ir/kept_calls.h"
#include "ops/sharding_calls.h"

namespace lowtide::engine {
namespace {

/// Drops the call's side effect: only its readers keep it.
void forget_effect(Instruction& call) {
  auto attributes = call.as<CustomCallAttributes>();
  attributes.has_side_effect = false;
  call.attributes = std::move(attributes);
}

/// Turns an element of a call's result into a call with only the corresponding operand.
void become_part(Instruction& element) {
  const Instruction& call = element.operand(0);
  Instruction* whole = call.operands[element.as<TupleIndexAttributes>().index];
  element.opcode = Opcode::kCustomCall;
  element.attributes = call.attributes;
  element.operands = {whole};
}

}  // namespace

Result<PassResult> open_manual_regions(Module& module) {
  PassResult result;
  if (!stated_parts(module)) return result;
  int64_t opened = 0;
  for (const auto& computation : module.computations()) {
    for (const auto& i : computation->instructions()) {
      if (is_kept_call(*i)) {
        i->frontend_attributes.clear();
        ++opened;
      } else if (names_its_operands(*i)) {
        result.changed |= i->as<CustomCallAttributes>().has_side_effect;
        forget_effect(*i);
      } else if (i->opcode == Opcode::kGetTupleElement && names_its_operands(i->operand(0))) {
        become_part(*i);
        ++result.count;
      }
    }
  }
  result.count += opened;
  result.changed |= result.count > 0;
  result.note = fmt::format("{} regions opened", opened);
  return result;
}

}  // namespace lowtide::engine
