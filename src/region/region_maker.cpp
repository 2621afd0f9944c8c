#include "region/region_maker.h"

#include <algorithm>

#include "analysis/leaves.h"
#include "ops/op_rule.h"

namespace lowtide::engine {

Region RegionMaker::make(std::span<const int32_t> outputs) {
  region_ = {};
  ++stamp_;
  for (const int32_t output : outputs) {
    visit(output, outputs);
    add_outputs(output);
  }
  return std::move(region_);
}

void RegionMaker::visit(int32_t root, std::span<const int32_t> outputs) {
  // Operands before users, depth first, without recursion: chains may be long.
  struct Frame {
    int32_t place;
    size_t next;
  };
  if (seen_[root] == stamp_) return;
  seen_[root] = stamp_;
  std::vector<Frame> stack{{root, 0}};
  while (!stack.empty()) {
    Frame& frame = stack.back();
    const auto reads = graph_.reads(frame.place);
    if (frame.next == reads.size()) {
      region_.ops.push_back(&graph_.at(frame.place));
      stack.pop_back();
      continue;
    }
    const ValueGraph::Read& read = reads[frame.next++];
    const bool inside = states_[read.def] == ValueState::kVirtual ||
                        std::find(outputs.begin(), outputs.end(), read.def) != outputs.end();
    if (inside) {
      if (seen_[read.def] == stamp_) continue;
      seen_[read.def] = stamp_;
      stack.push_back({read.def, 0});
    } else if (frame.place != root || !updates_operand(graph_.at(root), states_, graph_, read.operand)) {
      add_input({&graph_.at(read.def), read.leaf});
    }
  }
}

void RegionMaker::add_input(LeafRef input) {
  if (std::find(region_.inputs.begin(), region_.inputs.end(), input) == region_.inputs.end()) {
    region_.inputs.push_back(input);
  }
}

void RegionMaker::add_outputs(int32_t place) {
  const Instruction& i = graph_.at(place);
  std::vector<int32_t> leaves;
  for (const ValueGraph::Read& read : graph_.users(place)) {
    if (graph_.is_live(read.user)) leaves.push_back(read.leaf);
  }
  for (const LeafRef& result : graph_.results()) {
    if (result.instruction == &i) leaves.push_back(result.leaf);
  }
  const OpRule& rule = rule_of(i.opcode);
  if (has_update(i) && rule.updated_operand) {
    // A later update reads what earlier ones wrote, so all leaves are outputs, whichever are read in the end.
    for (int32_t leaf = 0; leaf < leaf_count(i.shape); ++leaf) leaves.push_back(leaf);
  }
  std::sort(leaves.begin(), leaves.end());
  leaves.erase(std::unique(leaves.begin(), leaves.end()), leaves.end());
  for (const int32_t leaf : leaves) {
    LeafRef updated;
    if (has_update(i) && rule.updated_operand) {
      const int operand = rule.updated_operand(i, leaf);
      if (operand != kNoId && updates_operand(i, states_, graph_, operand)) {
        updated = resolve({i.operands[operand], 0});
      }
    }
    region_.outputs.push_back({&i, leaf});
    region_.updates.push_back(updated);
  }
}

int updated_operand(const Region& region, size_t output) {
  if (!region.updates[output].instruction) return kNoId;
  const LeafRef& changed = region.outputs[output];
  return rule_of(changed.instruction->opcode).updated_operand(*changed.instruction, changed.leaf);
}

}  // namespace lowtide::engine
