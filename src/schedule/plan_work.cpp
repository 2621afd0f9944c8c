#include "schedule/plan_work.h"

namespace lowtide {

WorkPlan plan_work(const Module& module, Values values, const WorkOrder& order, const Donations& donations,
                   NestCache& nests) {
  WorkPlan plan;
  plan.flow = lay_out(module, values, order);
  LiveRanges live = find_live_ranges(plan.flow, values);
  InPlace in_place(plan.flow, nests);
  plan.classes = coalesce(plan.flow, values, live, donations, in_place);
  for (size_t s = 0; s < plan.flow.steps.size(); ++s) {
    const FlowStep& step = plan.flow.steps[s];
    const auto at = static_cast<Step>(s);
    if (step.kind == FlowKind::kLoopNext) plan.loop_moves[at] = plan_loop_moves(plan.flow, at, plan.classes, live);
    for (const auto* moves : {&step.moves, &step.updates}) {
      for (const Move& m : *moves) {
        const bool together =
            plan.classes.of[static_cast<size_t>(m.from)] == plan.classes.of[static_cast<size_t>(m.to)];
        if (!together) plan.copied_bytes += values.bytes(m.to);
      }
    }
  }
  plan.placed = place(plan.flow, values, plan.classes, live, plan.loop_moves);
  for (size_t v = 0; v < values.count(); ++v) plan.bytes.push_back(values.bytes(static_cast<ValueId>(v)));
  return plan;
}

}  // namespace lowtide
