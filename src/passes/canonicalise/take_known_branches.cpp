#include "passes/canonicalise/take_known_branches.h"

#include "passes/canonicalise/inline_calls.h"
#include "passes/rewrite.h"

namespace lowtide::engine {
namespace {

/// The branch that runs for all arguments; nullopt: it depends on them.
std::optional<size_t> known_branch(const Instruction& conditional) {
  const auto branches = static_cast<int64_t>(conditional.called.size());
  if (branches == 1) return 0;
  const Literal* index = known_constant(conditional.operand(0));
  if (index == nullptr) return std::nullopt;
  const int64_t k = integer_at(*index, 0);
  if (conditional.as<ConditionalAttributes>().by_predicate || index->shape().type == ElementType::kPred) {
    return k != 0 ? 0 : 1;
  }
  return static_cast<size_t>(k >= 0 && k < branches ? k : branches - 1);
}

int64_t make_calls(Module& module) {
  const std::vector<bool> ordered = ordered_instructions(module);
  int64_t count = 0;
  for (const auto& computation : module.computations()) {
    for (const auto& i : computation->instructions()) {
      if (i->opcode != Opcode::kConditional || ordered[i->id]) continue;
      const std::optional<size_t> branch = known_branch(*i);
      if (!branch) continue;
      i->opcode = Opcode::kCall;
      i->operands = {i->operands[*branch + 1]};
      i->called = {i->called[*branch]};
      i->attributes = {};
      ++count;
    }
  }
  return count;
}

}  // namespace

Result<PassResult> take_known_branches(Module& module) {
  if (!has_any(module, {Opcode::kConditional})) return PassResult{};
  int64_t count = 0;
  // A taken branch may provide the index of another conditional.
  while (const int64_t taken = make_calls(module)) {
    count += taken;
    inline_calls_in(module, [](const Computation&) { return true; });
  }
  return rewritten(count, "branches are always taken");
}

}  // namespace lowtide::engine
