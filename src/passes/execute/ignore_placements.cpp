#include "passes/execute/ignore_placements.h"

#include <fmt/format.h>

#include <algorithm>

#include "passes/canonicalise/drop_annotations.h"
#include "passes/rewrite.h"

namespace lowtide::engine {
namespace {

bool is_of_one_among_many(const Instruction& i) {
  const MemoryClass memory = memory_class(i.opcode);
  const bool talks = memory == MemoryClass::kCollective || i.opcode == Opcode::kPartitionId ||
                     i.opcode == Opcode::kReplicaId || i.opcode == Opcode::kAsyncStart;
  if (talks) return true;
  if (!i.sharding) return false;
  const Sharding& s = *i.sharding;
  const auto manual = [](const Sharding& part) {
    return part.kind == ShardingKind::kManual || std::ranges::count(part.subgroups, SubgroupKind::kManual) > 0;
  };
  return manual(s) || std::ranges::any_of(s.parts, manual);
}

}  // namespace

Result<PassResult> ignore_placements(Module& module) {
  PassResult result;
  for (const auto& computation : module.computations()) {
    const auto& all = computation->instructions();
    if (std::ranges::any_of(all, [](const auto& i) { return is_of_one_among_many(*i); })) return result;
  }
  const std::vector<bool> ordered = ordered_instructions(module);
  const bool by_layout = layouts_matter(module);
  Replacements replacements(module);
  int64_t shardings = 0;
  for (const auto& computation : module.computations()) {
    for (const auto& i : computation->instructions()) {
      replacements.apply_to(*i);
      if (i->sharding) ++shardings;
      i->sharding = nullptr;
      const auto* call = i->if_as<CustomCallAttributes>();
      if (!call || i->operands.size() != 1 || ordered[i->id]) continue;
      if (is_sharding_target(call->target) && same_elements(i->operand(0).shape, i->shape, by_layout)) {
        replacements.replace(*i, *i->operands[0]);
      }
    }
    replacements.finish(*computation);
  }
  result.count = replacements.count();
  result.changed = result.count + shardings > 0;
  result.note = fmt::format("{} annotations and {} shardings ignored", result.count, shardings);
  return result;
}

Result<PassResult> ignore_inert_placements(Module& module) {
  return module.num_partitions.value_or(1) > 1 ? PassResult() : ignore_placements(module);
}

}  // namespace lowtide::engine
