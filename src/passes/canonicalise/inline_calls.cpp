#include "passes/canonicalise/inline_calls.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/element_read.h"
#include "ir/kept_calls.h"
#include "passes/inline_bodies.h"
#include "passes/rewrite.h"

namespace lowtide::engine {
namespace {

bool may_inline(const Instruction& call, bool partitioned, const std::vector<bool>& ordered) {
  if (call.opcode != Opcode::kCall || call.called.size() != 1) return false;
  if (const auto id = static_cast<size_t>(call.id); id < ordered.size() && ordered[id]) return false;
  if (call.called[0]->execution_thread != call.parent->execution_thread) return false;
  if (call.frontend_attributes.find("_xla_compute_type") != std::string::npos) return false;
  return !partitioned || !is_kept_call(call);
}

bool returns_its_operand(const Computation& computation) {
  const Instruction& root = *computation.root;
  if (computation.parameters().size() != 1) return false;
  if (root.opcode == Opcode::kParameter) return true;
  if (root.opcode != Opcode::kTuple) return false;
  if (root.operands.size() != computation.parameters()[0]->shape.elements.size()) return false;
  for (size_t k = 0; k < root.operands.size(); ++k) {
    if (element_read(*root.operands[k]) != static_cast<int64_t>(k)) return false;
  }
  return true;
}

/// Calls of an identity that mustn't be inlined are barriers (passes/xla/spell_barriers.h).
int64_t turn_into_barriers(Module& module) {
  int64_t count = 0;
  if (is_partitioned(module)) return count;  // they bound regions
  const std::vector<bool> ordered = ordered_instructions(module);
  for (const auto& computation : module.computations()) {
    for (const auto& i : computation->instructions()) {
      if (!is_kept_call(*i) || i->operands.size() != 1) continue;
      if (!returns_its_operand(*i->called[0]) || ordered[i->id]) continue;
      turn_into(*i, Opcode::kOptBarrier, i->operands);
      ++count;
    }
  }
  return count;
}

int64_t calls_in(const Module& module) {
  int64_t calls = 0;
  for (const auto& computation : module.computations()) {
    calls +=
        std::ranges::count_if(computation->instructions(), [](const auto& i) { return i->opcode == Opcode::kCall; });
  }
  return calls;
}

}  // namespace

int64_t inline_calls_in(Module& module, const std::function<bool(const Computation&)>& chosen) {
  const bool partitioned = is_partitioned(module);
  const std::vector<bool> ordered = ordered_instructions(module);
  return inline_bodies(module,
                       [&](const Instruction& i) { return may_inline(i, partitioned, ordered) && chosen(*i.parent); });
}

Result<PassResult> inline_calls(Module& module) {
  PassResult result;
  const int64_t barriers = turn_into_barriers(module);
  result.count = inline_calls_in(module, [](const Computation&) { return true; });
  result.changed = result.count + barriers > 0;
  const int64_t kept = result.changed ? 0 : calls_in(module);
  result.note = fmt::format("{} calls inlined{}", result.count, kept > 0 ? fmt::format(", {} kept", kept) : "");
  return result;
}

}  // namespace lowtide::engine
