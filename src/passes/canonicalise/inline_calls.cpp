#include "passes/canonicalise/inline_calls.h"

#include <fmt/format.h>

#include <algorithm>

#include "passes/inline_bodies.h"
#include "passes/rewrite.h"

namespace lowtide::engine {
namespace {

bool may_inline(const Instruction& call, bool partitioned, const std::vector<bool>& ordered) {
  if (call.opcode != Opcode::kCall || call.called.size() != 1) return false;
  if (const auto id = static_cast<size_t>(call.id); id < ordered.size() && ordered[id]) return false;
  if (call.called[0]->execution_thread != call.parent->execution_thread) return false;
  const std::string& asks = call.frontend_attributes;
  if (asks.find("_xla_compute_type") != std::string::npos) return false;
  return !partitioned || asks.find("inlineable=\"false\"") == std::string::npos;
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
  result.count = inline_calls_in(module, [](const Computation&) { return true; });
  result.changed = result.count > 0;
  const int64_t kept = result.changed ? 0 : calls_in(module);
  result.note = fmt::format("{} calls inlined{}", result.count, kept > 0 ? fmt::format(", {} kept", kept) : "");
  return result;
}

}  // namespace lowtide::engine
