#include <algorithm>

#include "ops/op_rule.h"
#include "region/roles.h"
#include "region/value_graph.h"
#include "region/virtual_values.h"
#include "region/work.h"

namespace lowtide {
namespace {

/// The region that computes stored instructions: what they read is virtual, and taken in, or an input. The order of
/// operations and inputs follows the graph from the outputs alone, so that equal bodies give equal regions.
class RegionMaker {
 public:
  RegionMaker(const ValueGraph& graph, const std::vector<ValueState>& states)
      : graph_(graph), states_(states), seen_(static_cast<size_t>(graph.size()), 0) {}

  Region make(int32_t output) {
    region_ = {};
    ++stamp_;
    visit(output);
    add_outputs(output);
    return std::move(region_);
  }

 private:
  bool is_virtual(int32_t place) const { return states_[static_cast<size_t>(place)] == ValueState::kVirtual; }

  void visit(int32_t root) {
    // Operands before users, depth first, without recursion: chains may be long.
    struct Frame {
      int32_t place;
      size_t next;
    };
    std::vector<Frame> stack{{root, 0}};
    seen_[static_cast<size_t>(root)] = stamp_;
    while (!stack.empty()) {
      Frame& frame = stack.back();
      const auto reads = graph_.reads(frame.place);
      if (frame.next == reads.size()) {
        region_.ops.push_back(&graph_.at(frame.place));
        stack.pop_back();
        continue;
      }
      const ValueGraph::Read& read = reads[frame.next++];
      if (is_virtual(read.def)) {
        if (seen_[static_cast<size_t>(read.def)] == stamp_) continue;
        seen_[static_cast<size_t>(read.def)] = stamp_;
        stack.push_back({read.def, 0});
      } else if (frame.place != root || !updates_operand(graph_.at(root), states_, graph_, read.operand)) {
        add_input({&graph_.at(read.def), read.leaf});
      }
    }
  }

  void add_input(LeafRef input) {
    if (std::find(region_.inputs.begin(), region_.inputs.end(), input) == region_.inputs.end()) {
      region_.inputs.push_back(input);
    }
  }

  void add_outputs(int32_t place) {
    const Instruction& i = graph_.at(place);
    std::vector<LeafRef> leaves;
    for (const ValueGraph::Read& read : graph_.users(place)) leaves.push_back({&i, read.leaf});
    for (const LeafRef& result : graph_.results()) {
      if (result.instruction == &i) leaves.push_back(result);
    }
    std::sort(leaves.begin(), leaves.end(), [](const LeafRef& a, const LeafRef& b) { return a.leaf < b.leaf; });
    leaves.erase(std::unique(leaves.begin(), leaves.end()), leaves.end());
    const OpRule& rule = rule_of(i.opcode);
    for (const LeafRef& leaf : leaves) {
      LeafRef updated;
      if (has_update(i) && rule.updated_operand) {
        const int operand = rule.updated_operand(i, leaf.leaf);
        if (operand != kNoId && updates_operand(i, states_, graph_, operand)) {
          updated = resolve({i.operands[static_cast<size_t>(operand)], 0});
        }
      }
      region_.outputs.push_back(leaf);
      region_.updates.push_back(updated);
    }
  }

  const ValueGraph& graph_;
  const std::vector<ValueState>& states_;
  std::vector<int32_t> seen_;  ///< by place: the last region that took it in
  int32_t stamp_ = 0;
  Region region_;
};

std::vector<Work> form_computation(const Computation& computation, const FormOptions& options) {
  const ValueGraph graph(computation);
  const std::vector<ValueState> states = decide_values(graph, options);
  RegionMaker maker(graph, states);
  std::vector<Work> list;
  for (int32_t place = 0; place < graph.size(); ++place) {
    const Instruction& i = graph.at(place);
    switch (states[static_cast<size_t>(place)]) {
      case ValueState::kAbsent:
      case ValueState::kVirtual: break;
      case ValueState::kView: list.push_back({WorkKind::kView, &i, {}}); break;
      case ValueState::kStored: list.push_back({WorkKind::kRegion, nullptr, maker.make(place)}); break;
      case ValueState::kGiven: {
        const OpRole role = role_of(i);
        if (role == OpRole::kLibrary) list.push_back({WorkKind::kLibrary, &i, {}});
        if (role == OpRole::kControl) list.push_back({WorkKind::kControl, &i, {}});
        if (role == OpRole::kOther) list.push_back({WorkKind::kOther, &i, {}});
        break;
      }
    }
  }
  return list;
}

}  // namespace

ModuleWork form_work(const Module& module, const FormOptions& options) {
  ModuleWork work;
  work.module = &module;
  std::vector<const Computation*> open{module.entry};
  while (!open.empty()) {
    const Computation* computation = open.back();
    open.pop_back();
    if (work.of.contains(computation)) continue;
    std::vector<Work>& list = work.of[computation] = form_computation(*computation, options);
    for (const Work& item : list) {
      if (item.kind != WorkKind::kControl) continue;
      open.insert(open.end(), item.instruction->called.begin(), item.instruction->called.end());
    }
  }
  return work;
}

}  // namespace lowtide
