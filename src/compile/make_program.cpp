#include "compile/make_program.h"

#include <utility>

#include "base/debug.h"
#include "compile/plan_rows.h"
#include "schedule/instruction_order.h"

namespace lowtide {
namespace {

/// Of a plan's check: many more than most programs need, few beside planning.
constexpr int64_t kVisitsOfChecks = 10'000, kVisitsPerInstruction = 10;

/// What need not be searched for again.
Decisions replay_of(const Decisions& decisions, const std::vector<StreamDecision>& found, const Program& program) {
  Decisions all = spelt_with(decisions, found);
  std::erase_if(all, [](const Decision& d) {
    return std::holds_alternative<Packing>(d) || std::holds_alternative<TakeOrder>(d) ||
           std::holds_alternative<TakeOverlaps>(d);
  });
  for (const KnownPlacement& known : program.packings) all.emplace_back(Packing{known});
  for (const OrderChoice& choice : program.choices) all.emplace_back(TakeOrder{choice});
  for (const KnownOverlaps& known : program.overlaps) all.emplace_back(TakeOverlaps{known});
  return all;
}

ScheduleOptions schedule_options(const Decisions& decisions) {
  ScheduleOptions options;
  for (const Decision& decision : decisions) {
    if (const auto* price = std::get_if<PriceOfMemory>(&decision)) options.form.ns_per_stored_byte = price->ns_per_byte;
    if (std::holds_alternative<Rearrange>(decision)) options.rearrange = true;
    if (const auto* packing = std::get_if<Packing>(&decision)) options.packings.push_back(packing->known);
    if (const auto* overlaps = std::get_if<TakeOverlaps>(&decision)) options.overlaps.push_back(overlaps->known);
    if (const auto* search = std::get_if<SearchSteps>(&decision)) options.search_steps = search->steps;
  }
  return options;
}

/// What is read late is known once there is an order.
Status rematerialise_in_order(Compiled& compiled, Module& rewritten, const Program& program) {
  put_in_order(rewritten, program);
  const std::vector<Pass> rows = {*find_pass("rematerialise"), *find_pass("remove-dead-code")};
  LT_ASSIGN_OR_RETURN(const auto records, run_passes(rewritten, rows, {.quiet = true}));
  compiled.passes.insert(compiled.passes.end(), records.begin(), records.end());
  return {};
}

/// Empty where the program does what its module says.
std::string fault_of(const Program& program) {
  const int64_t visits =
      knobs().check ? INT64_MAX : kVisitsOfChecks + kVisitsPerInstruction * program.module->instruction_count();
  return check_program(program, visits);
}

/// Of the schedules on the way, one after the other.
std::optional<OrderChoice> choice_number(const Decisions& decisions, size_t number) {
  for (const Decision& decision : decisions) {
    const auto* order = std::get_if<TakeOrder>(&decision);
    if (order != nullptr && number-- == 0) return order->choice;
  }
  return {};
}

}  // namespace

Status make_program(Compiled& compiled, const std::shared_ptr<Module>& rewritten, const Decisions& decisions,
                    const std::vector<StreamDecision>& found, const std::shared_ptr<KnownNests>& nests) {
  ScheduleOptions options = schedule_options(decisions);
  options.nests = nests;
  options.choice = choice_number(decisions, 0);
  Program before;
  if (has<Rematerialise>(decisions)) {
    before = schedule(rewritten, options);
    LT_RETURN_IF_ERROR(rematerialise_in_order(compiled, *rewritten, before));
    options.choice = choice_number(decisions, 1);
    options.overlaps = before.overlaps;
  }
  Program program = schedule(rewritten, options);
  program.packings.insert(program.packings.begin(), before.packings.begin(), before.packings.end());
  program.choices.insert(program.choices.begin(), before.choices.begin(), before.choices.end());
  compiled.replay = replay_of(decisions, found, program);
  compiled.program = std::make_shared<const Program>(std::move(program));
  compiled.decisions = decisions;
  compiled.nests = nests;
  return {};
}

Status check_plan(Compiled& compiled) {
  std::string fault = fault_of(*compiled.program);
  if (fault.empty()) return {};
  if (!knobs().check) {
    ScheduleOptions options = schedule_options(compiled.decisions);
    options.apart = true;
    Program program = schedule(compiled.program->module, options);
    std::erase_if(compiled.replay, [](const Decision& d) { return std::holds_alternative<TakeOrder>(d); });
    program.refused = std::exchange(fault, fault_of(program));
    compiled.program = std::make_shared<const Program>(std::move(program));
  }
  if (!fault.empty()) return {Fault::kInternal, "the plan doesn't hold: " + fault};
  return {};
}

}  // namespace lowtide
