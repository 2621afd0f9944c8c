#include "schedule/plan_work.h"

#include "base/status.h"

namespace lowtide::engine {
namespace {

/// Adds scratch for results that lie over operands which are still read. False if results that may each lie over an
/// operand alone, one of them only in strips, may not do so together.
bool add_scratch(WorkPlan& plan, ValueTable& values, LiveRanges& live, NestCache& nests, InPlaceWays ways) {
  for (size_t s = 0; s < plan.flow.steps.size(); ++s) {
    FlowStep& step = plan.flow.steps[s];
    if (!step.work || step.work->kind != WorkKind::kRegion || !step.updates.empty()) continue;
    std::vector<std::pair<int32_t, int32_t>> over;
    bool as_it_is = true;
    for (size_t o = 0; o < step.writes.size(); ++o) {
      for (size_t i = 0; i < step.reads.size(); ++i) {
        if (plan.classes.of[step.writes[o]] != plan.classes.of[step.reads[i]]) continue;
        over.emplace_back(static_cast<int32_t>(o), static_cast<int32_t>(i));
        as_it_is = as_it_is && nests.may_lie_over(*step.work, over.back().first, over.back().second);
      }
    }
    if (as_it_is) continue;
    auto way = std::make_shared<KernelWay>();
    auto moves = ways == InPlaceWays::kMoves ? nests.rearrangement(*step.work) : std::nullopt;
    if (moves) {
      way->rearrangement = std::move(moves);
      plan.has_moves = true;
    } else {
      way->strips = nests.strips(*step.work, over);
      if (!way->strips) return false;
      plan.has_strips = true;
    }
    const int64_t bytes = way->scratch_bytes();
    step.way = std::move(way);
    step.scratch = values.add(step.work->region.outputs[over[0].first], bytes);
    plan.classes.of.push_back(static_cast<int32_t>(plan.classes.all.size()));
    plan.classes.all.push_back({.values = {step.scratch}, .bytes = bytes});
    live.of.push_back({{static_cast<Step>(s), static_cast<Step>(s) + 1}});
    live.last_reader.push_back(step.instruction);
  }
  return true;
}

}  // namespace

WorkPlan plan_work(const Module& module, const ValueTable& given, const WorkOrder& order, const Donations& donations,
                   NestCache& nests, const Packings& packings, InPlaceWays ways, Bytes useless) {
  WorkPlan plan;
  ValueTable values = given;
  plan.flow = lay_out(module, nests.target(), values, order);
  LiveRanges live = find_live_ranges(plan.flow, values);
  InPlace in_place(plan.flow, nests);
  plan.classes = coalesce(plan.flow, values, live, donations, in_place, ways);
  const bool has_scratch = ways == InPlaceWays::kStrips || ways == InPlaceWays::kMoves;
  if (has_scratch && !add_scratch(plan, values, live, nests, ways))
    return plan_work(module, given, order, donations, nests, packings, InPlaceWays::kKernels, useless);
  for (size_t s = 0; s < plan.flow.steps.size(); ++s) {
    const FlowStep& step = plan.flow.steps[s];
    const auto at = static_cast<Step>(s);
    if (step.kind == FlowKind::kLoopNext) plan.loop_moves[at] = plan_loop_moves(plan.flow, at, plan.classes, live);
    for (const auto* moves : {&step.moves, &step.updates}) {
      for (const Move& m : *moves) {
        const bool together = plan.classes.of[m.from] == plan.classes.of[m.to];
        if (!together) plan.copied_bytes += values.bytes(m.to);
      }
    }
  }
  plan.placed = place(plan.flow, values, plan.classes, live, plan.loop_moves, nests, packings, ways, useless);
  for (size_t v = 0; v < values.count(); ++v) plan.bytes.push_back(values.bytes(static_cast<ValueId>(v)));
  return plan;
}

}  // namespace lowtide::engine
