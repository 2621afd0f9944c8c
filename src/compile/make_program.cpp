#include "compile/make_program.h"

#include <utility>

#include "compile/plan_rows.h"
#include "region/identity.h"
#include "schedule/check/check_program.h"

namespace lowtide::engine {
namespace {

/// Limits on a plan's check: many more than most programs need, yet cheap compared to planning.
constexpr int64_t kVisitsOfChecks = 10'000, kVisitsPerInstruction = 10;

/// The decisions that replay the plan without searching again.
Decisions replay_of(const Decisions& decisions, const std::vector<StreamDecision>& found, const Program& program) {
  Decisions all = spelt_with(decisions, found);
  std::erase_if(all, [](const Decision& d) {
    return std::holds_alternative<Packing>(d) || std::holds_alternative<TakeOrder>(d);
  });
  if (program.packing) all.emplace_back(Packing{*program.packing});
  all.emplace_back(TakeOrder{program.choice});
  return all;
}

ScheduleOptions schedule_options(const Decisions& decisions) {
  ScheduleOptions options;
  for (const Decision& decision : decisions) {
    if (const auto* price = std::get_if<PriceOfMemory>(&decision)) options.form.ns_per_stored_byte = price->ns_per_byte;
    if (std::holds_alternative<Rearrange>(decision)) options.rearrange = true;
    if (const auto* packing = std::get_if<Packing>(&decision)) options.packings.push_back(packing->known);
    if (const auto* order = std::get_if<TakeOrder>(&decision)) options.choice = order->choice;
    if (const auto* search = std::get_if<SearchSteps>(&decision)) options.search_steps = search->steps;
  }
  return options;
}

/// Empty if the program computes what its module defines.
std::string fault_of(const Program& program, const Target& target, KnownNests& nests) {
  const bool whole = program.module->context().settings().choices.check;
  const int64_t visits =
      whole ? INT64_MAX : kVisitsOfChecks + kVisitsPerInstruction * program.module->instruction_count();
  return check_program(program, target, visits, [&](const Region& region) {
    const auto known = nests.of(region, identity(region));  // as for the kernel's code
    return std::shared_ptr<const Nest>(known, &known->nest);
  });
}

}  // namespace

void make_program(Compiled& compiled, const std::shared_ptr<Module>& rewritten, const Decisions& decisions,
                  const std::vector<StreamDecision>& found, const std::shared_ptr<KnownNests>& nests) {
  ScheduleOptions options = schedule_options(decisions);
  options.nests = nests;
  Program program = schedule(rewritten, *compiled.target, options);
  compiled.replay = replay_of(decisions, found, program);
  compiled.program = std::make_shared<const Program>(std::move(program));
  compiled.decisions = decisions;
  compiled.nests = nests;
}

Status check_plan(Compiled& compiled) {
  std::string fault = fault_of(*compiled.program, *compiled.target, *compiled.nests);
  if (fault.empty()) return {};
  if (!compiled.program->module->context().settings().choices.check) {
    ScheduleOptions options = schedule_options(compiled.decisions);
    options.apart = true;
    Program program = schedule(compiled.program->module, *compiled.target, options);
    std::erase_if(compiled.replay, [](const Decision& d) { return std::holds_alternative<TakeOrder>(d); });
    program.refused = std::exchange(fault, fault_of(program, *compiled.target, *compiled.nests));
    compiled.program = std::make_shared<const Program>(std::move(program));
  }
  if (!fault.empty()) return {Fault::kInternal, "the plan doesn't hold: " + fault};
  return {};
}

}  // namespace lowtide::engine
