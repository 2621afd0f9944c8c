#include "schedule/schedule_work.h"

#include "schedule/steps.h"

namespace lowtide {
Program schedule_work(std::shared_ptr<const Module> module, const ModuleWork& work, const ScheduleOptions&) {
  Program program;
  program.module = module;
  Values values(*module, work);
  const Flow flow = lay_out(*module, values, given_order(work));
  LiveRanges live = find_live_ranges(flow, values);
  InPlace in_place(flow, values);
  const Donations donations = find_donations(*module);
  const Classes classes = coalesce(flow, values, live, donations, in_place);
  LoopMovesOf loop_moves;
  for (size_t s = 0; s < flow.steps.size(); ++s) {
    const auto at = static_cast<Step>(s);
    if (flow.steps[s].kind == FlowKind::kLoopNext) loop_moves[at] = plan_loop_moves(flow, at, classes, live);
  }
  Placed placed = place(flow, values, classes, live, loop_moves);
  const auto reason = [&](const Move& m) {
    const auto why = classes.apart.find({m.from, m.to});
    return why == classes.apart.end() ? std::string() : why->second;
  };
  program.steps = emit_steps(flow, classes, loop_moves, reason, program.regions, program.kernels);
  program.storages = std::move(placed.storages);
  program.slots = std::move(placed.slots);
  for (const ValueId v : flow.arguments) program.argument_slots.push_back(classes.of[static_cast<size_t>(v)]);
  for (const ValueId v : flow.outputs) program.output_slots.push_back(classes.of[static_cast<size_t>(v)]);
  for (const FlowStep& step : flow.steps) program.timeline.push_back(step.instruction);
  program.live = std::move(placed.live);
  program.temp_bytes = placed.temp_bytes;
  program.load_bytes = placed.load_bytes;
  for (const ValueId v : flow.arguments) program.argument_bytes += values.bytes(v);
  for (size_t o = 0; o < flow.outputs.size(); ++o) {
    program.output_bytes += values.bytes(flow.outputs[o]);
    if (donations.argument_of_output[o] != kNoId) program.alias_bytes += values.bytes(flow.outputs[o]);
  }
  return program;
}

}  // namespace lowtide
