#include "region/text.h"

#include <fmt/format.h>

#include <unordered_set>

#include "analysis/leaf_bytes.h"
#include "analysis/leaves.h"

namespace lowtide::engine {
namespace {

std::string name_of(const LeafRef& leaf) {
  const std::string& name = leaf.instruction->name;
  return leaf.instruction->shape.is_tuple() ? fmt::format("{}#{}", name, leaf.leaf) : name;
}

std::string line_of(const Work& work) {
  switch (work.kind) {
    case WorkKind::kRegion: return "region " + to_text(work.region);
    case WorkKind::kLibrary: return "library " + work.instruction->name;
    case WorkKind::kControl: return "control " + work.instruction->name;
    case WorkKind::kView:
      return fmt::format("view {} of {}", work.instruction->name, name_of(resolve({&work.instruction->operand(0), 0})));
    case WorkKind::kOther: return "other " + work.instruction->name;
  }
  __builtin_unreachable();
}

}  // namespace

std::string to_text(const Region& region) {
  std::string text;
  for (size_t k = 0; k < region.outputs.size(); ++k) {
    text += (k ? ", " : "") + name_of(region.outputs[k]);
    if (region.updates[k].instruction) text += " over " + name_of(region.updates[k]);
  }
  text += " <-";
  for (const LeafRef& input : region.inputs) text += " " + name_of(input);
  text += " :";
  for (const Instruction* op : region.ops) text += " " + op->name;
  return text;
}

std::string to_text(const ModuleWork& work) {
  std::string text;
  for (const auto& computation : work.module->computations()) {
    const auto found = work.of.find(computation.get());
    if (found == work.of.end()) continue;
    text += computation->name + "\n";
    for (const Work& item : found->second) text += "  " + line_of(item) + "\n";
  }
  return text;
}

WorkCount count_work(const ModuleWork& work) {
  WorkCount count;
  std::unordered_set<const Instruction*> seen;
  for (const auto& [computation, list] : work.of) {
    for (const Work& item : list) {
      count.libraries += item.kind == WorkKind::kLibrary;
      count.controls += item.kind == WorkKind::kControl;
      count.views += item.kind == WorkKind::kView;
      count.others += item.kind == WorkKind::kOther;
      if (item.kind != WorkKind::kRegion) continue;
      ++count.regions;
      count.ops += static_cast<int64_t>(item.region.ops.size());
      for (const Instruction* op : item.region.ops) {
        if (!seen.insert(op).second) continue;
        ++count.computed;
        count.all_bytes = add_bytes(count.all_bytes, safe_logical_bytes(op->shape));
      }
      for (size_t k = 0; k < item.region.outputs.size(); ++k) {
        if (item.region.updates[k].instruction) continue;
        const LeafRef& output = item.region.outputs[k];
        const int64_t bytes = safe_logical_bytes(*leaf_shape(output.instruction->shape, output.leaf));
        count.stored_bytes = add_bytes(count.stored_bytes, bytes);
      }
    }
  }
  return count;
}

}  // namespace lowtide::engine
