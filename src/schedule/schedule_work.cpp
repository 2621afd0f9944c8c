#include "schedule/schedule_work.h"

#include "schedule/plan_work.h"
#include "schedule/search_order.h"
#include "schedule/steps.h"

namespace lowtide {
namespace {

/// Strips must save this part of the arena.
constexpr int64_t kWorthStrips = 16;

/// The best of all candidate orders; the given one where none is better. With strips only where they pay.
WorkPlan best_plan(const Module& module, const ModuleWork& work, const Donations& donations, NestCache& nests,
                   const ScheduleOptions& options) {
  ValueTable values(module, work);
  WorkPlan best;
  WorkOrder best_order;
  bool first = true;
  for (const WorkOrder& order : candidate_orders(module, work, values, options.search_steps)) {
    WorkPlan plan = plan_work(module, values, order, donations, nests);
    if (first || plan.better_than(best)) best = std::move(plan), best_order = order;
    first = false;
  }
  WorkPlan strips = plan_work(module, values, best_order, donations, nests, /*with_strips=*/true);
  const int64_t saved = best.placed.temp_bytes - strips.placed.temp_bytes;
  if (strips.has_strips && saved > 0 && saved * kWorthStrips >= best.placed.temp_bytes) best = std::move(strips);
  return best;
}

}  // namespace

Program schedule_work(std::shared_ptr<const Module> module, const ModuleWork& work, const ScheduleOptions& options) {
  Program program;
  const Donations donations = find_donations(*module);
  NestCache nests;
  WorkPlan plan = best_plan(*module, work, donations, nests, options);
  const Flow& flow = plan.flow;
  const Classes& classes = plan.classes;
  const auto reason = [&](const Move& m) {
    const auto why = classes.apart.find({m.from, m.to});
    return why == classes.apart.end() ? std::string() : why->second;
  };
  program.module = std::move(module);
  program.steps =
      emit_steps(flow, classes, plan.loop_moves, plan.placed.hosting, reason, nests, program.regions, program.kernels);
  program.storages = std::move(plan.placed.storages);
  program.slots = std::move(plan.placed.slots);
  const auto bytes = [&](ValueId v) { return plan.bytes[static_cast<size_t>(v)]; };
  for (const ValueId v : flow.arguments) {
    program.argument_slots.push_back(classes.of[static_cast<size_t>(v)]);
    program.argument_bytes += bytes(v);
  }
  for (size_t o = 0; o < flow.outputs.size(); ++o) {
    program.output_slots.push_back(classes.of[static_cast<size_t>(flow.outputs[o])]);
    program.output_bytes += bytes(flow.outputs[o]);
    if (donations.argument_of_output[o] != kNoId) program.alias_bytes += bytes(flow.outputs[o]);
  }
  for (const FlowStep& step : flow.steps) program.timeline.push_back(step.instruction);
  program.live = std::move(plan.placed.live);
  program.temp_bytes = plan.placed.temp_bytes;
  program.load_bytes = plan.placed.load_bytes;
  return program;
}

}  // namespace lowtide
