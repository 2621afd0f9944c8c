#include "passes/execute/simplify_shared_bodies.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "passes/canonicalise/drop_annotations.h"
#include "passes/canonicalise/fold_constants.h"
#include "passes/canonicalise/fold_tuples.h"
#include "passes/canonicalise/inline_calls.h"
#include "passes/canonicalise/remove_dead_code.h"
#include "passes/canonicalise/remove_noop_casts.h"
#include "passes/canonicalise/remove_noop_copies.h"
#include "passes/canonicalise/share_common_subexpressions.h"
#include "passes/execute/unroll_elementwise_loops.h"

namespace lowtide::engine {
namespace {

bool is_call(const Instruction& i) { return i.opcode == Opcode::kCall && i.called.size() == 1; }

/// Instructions that copies of called bodies would add to uncalled computations, beyond the first copy of each.
int64_t copied(const Module& module, const std::unordered_set<const Computation*>& bodies) {
  std::unordered_map<const Computation*, int64_t> size;  // including callees
  std::unordered_set<const Computation*> seen;
  int64_t instructions = 0;
  for (const Computation* computation : module.callees_first()) {
    int64_t& own = size[computation];
    own = static_cast<int64_t>(computation->instructions().size());
    for (const auto& i : computation->instructions()) {
      for (const Computation* called : i->called) own = std::min(kManyCopied, own + size[called]);
      if (!is_call(*i)) continue;
      if (bodies.contains(computation) || seen.insert(i->called[0]).second) continue;
      instructions += size[i->called[0]];
    }
  }
  return instructions;
}

/// The computations that calls run, and their callees.
std::unordered_set<const Computation*> called_bodies(const Module& module) {
  std::unordered_set<const Computation*> bodies;
  std::vector<const Computation*> open;
  const auto add = [&](const Instruction& i) {
    for (const Computation* c : i.called) {
      if (bodies.insert(c).second) open.push_back(c);
    }
  };
  for (const auto& computation : module.computations()) {
    for (const auto& i : computation->instructions()) {
      if (is_call(*i)) add(*i);
    }
  }
  while (!open.empty()) {
    const Computation* computation = open.back();
    open.pop_back();
    for (const auto& i : computation->instructions()) add(*i);
  }
  return bodies;
}

}  // namespace

Result<PassResult> simplify_shared_bodies(Module& module) {
  PassResult result;
  const auto bodies = called_bodies(module);
  if (copied(module, bodies) < kManyCopied) return result;
  const int64_t inlined = inline_calls_in(module, [&](const Computation& c) { return bodies.contains(&c); });
  const int64_t before = module.instruction_count();
  for (const auto pass : {fold_tuples, drop_annotations, remove_noop_casts, remove_noop_copies, fold_constants,
                          share_common_subexpressions, remove_dead_code, unroll_elementwise_loops, fold_tuples,
                          fold_constants, remove_noop_copies, share_common_subexpressions, remove_dead_code}) {
    LT_ASSIGN_OR_RETURN(const PassResult part, pass(module));
    result.count += part.count;
  }
  result.count += inlined;
  result.changed = result.count > 0;
  result.note = fmt::format("{} bodies that calls share, {} -> {} instructions", bodies.size(), before,
                            module.instruction_count());
  return result;
}

}  // namespace lowtide::engine
