#include "compile/written_plan.h"

#include <algorithm>

#include "analysis/partitioning.h"

namespace lowtide::engine {
Result<std::shared_ptr<const Module>> written_plan(const Module& module, const Compiled& plan,
                                                   std::vector<std::string>& warnings) {
  if (!stated_parts(module)) return plan.program->module;
  if (has_manual_regions(module)) {
    std::shared_ptr<Module> rewritten = module.clone();
    LT_RETURN_IF_ERROR(run_passes(*rewritten, pipeline(), *plan.target, {.quiet = true}).status());
    warnings.emplace_back(
        "what is written is the program after the rewrites that leave its manual regions whole, not the plan: a "
        "partitioner needs their borders");
    return std::shared_ptr<const Module>(std::move(rewritten));
  }
  std::shared_ptr<Module> written = plan.program->module->clone();
  const std::vector<Instruction*> before = module.entry->parameters(), now = written->entry->parameters();
  for (size_t p = 0; p < std::min(before.size(), now.size()); ++p) {
    if (before[p] && now[p] && !now[p]->sharding) now[p]->sharding = before[p]->sharding;
  }
  const Instruction& root = *module.entry->root;
  if (root.shape.is_tuple() && written->entry->root->opcode == Opcode::kTuple && !written->entry->root->sharding) {
    written->entry->root->sharding = root.sharding;
  }
  return std::shared_ptr<const Module>(std::move(written));
}

}  // namespace lowtide::engine
