#include "region/group.h"
#include "region/region_maker.h"
#include "region/virtual_values.h"
#include "region/work.h"

namespace lowtide::engine {
namespace {

std::vector<Work> form_computation(const Computation& computation, const Target& target, const FormOptions& options) {
  const ValueGraph graph(computation, target);
  std::vector<ValueState> states = decide_values(graph, options);
  const std::vector<Draft> drafts = group_values(graph, options, states);
  RegionMaker maker(graph, states);
  std::vector<Work> list;
  for (const Draft& draft : drafts) {
    if (draft.is_region) {
      Region region = maker.make(draft.outputs);
      const Instruction& made = graph.at(draft.outputs[0]);
      if (region.ops.size() == 1 && target.calls_alone(made)) {
        list.push_back({WorkKind::kLibrary, &made, {}});
      } else {
        list.push_back({WorkKind::kRegion, nullptr, std::move(region)});
      }
      continue;
    }
    const Instruction& i = graph.at(draft.outputs[0]);
    if (states[draft.outputs[0]] == ValueState::kView) {
      list.push_back({WorkKind::kView, &i, {}});
      continue;
    }
    const OpRole role = graph.target().role_of(i);
    if (role == OpRole::kLibrary) list.push_back({WorkKind::kLibrary, &i, {}});
    if (role == OpRole::kControl) list.push_back({WorkKind::kControl, &i, {}});
    if (role == OpRole::kOther) list.push_back({WorkKind::kOther, &i, {}});
  }
  return list;
}

}  // namespace

ModuleWork form_work(const Module& module, const Target& target, const FormOptions& options) {
  ModuleWork work;
  work.module = &module;
  work.target = &target;
  std::vector<const Computation*> open{module.entry};
  while (!open.empty()) {
    const Computation* computation = open.back();
    open.pop_back();
    if (work.of.contains(computation)) continue;
    std::vector<Work>& list = work.of[computation] = form_computation(*computation, target, options);
    for (const Work& item : list) {
      if (item.kind != WorkKind::kControl) continue;
      open.insert(open.end(), item.instruction->called.begin(), item.instruction->called.end());
    }
  }
  return work;
}

}  // namespace lowtide::engine
