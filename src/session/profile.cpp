#include "session/profile.h"

#include <algorithm>

#include "report/origin.h"
#include "report/profile.h"
#include "schedule/modelled_time.h"

namespace lowtide {

std::string Profile::json() const { return engine::profile_json(*this); }
std::string Profile::text(int64_t rows, bool utf8) const { return engine::profile_text(*this, rows, utf8); }
std::string Profile::trace() const { return engine::profile_trace(*this); }

namespace engine {
namespace {

constexpr double kMuchWaiting = 1.0 / 3, kMuchOfMachine = 0.5;
constexpr double kBrief = 20e-6;  ///< seconds: in shorter steps, the start takes a visible part

std::string kind_of(const ProgramStep& step) {
  switch (step.kind) {
    case StepKind::kKernel: return "kernel";
    case StepKind::kCopy: return "copy";
    case StepKind::kRotate: return "rotate";
    default: return std::string(opcode_name(step.instruction->opcode));
  }
}

std::string held_back_by(const Profile& profile, const Profile::Step& step) {
  const double much = kMuchOfMachine * step.seconds;
  if (step.waiting > kMuchWaiting) return "threads wait";
  if (step.operations > much * profile.machine_operations_per_second) return "arithmetic";
  if (step.bytes > much * profile.machine_bytes_per_second) return "memory";
  return step.seconds < kBrief * static_cast<double>(step.runs) ? "starts" : "";
}

}  // namespace

Profile profile_of(const Program& program, const StepTimes& times, const Cost& cost, int64_t runs, double seconds,
                   int64_t threads) {
  const Machine& machine = cost.machine();
  Profile profile{.module = program.module->name, .runs = runs, .threads = threads, .seconds = seconds};
  profile.modelled_seconds = 1e-9 * modelled_ns(program, cost);
  profile.machine_operations_per_second = 2e9 / machine.product_ns;
  profile.machine_bytes_per_second = 1e9 * machine.cores / (machine.memory_factor * machine.byte_ns);
  std::vector<const ProgramStep*> order;
  for (const auto& [step, time] : times.by_step()) order.push_back(step);
  const auto own = [&](const ProgramStep* step) {
    const StepTime& time = times.by_step().at(step);
    return time.seconds - time.inside;
  };
  std::ranges::sort(order, [&](const ProgramStep* a, const ProgramStep* b) {
    return own(a) != own(b) ? own(a) > own(b) : a->at < b->at;
  });
  std::unordered_map<const ProgramStep*, int64_t> numbers;
  for (const ProgramStep* step : order) {
    const StepTime& time = times.by_step().at(step);
    const auto often = static_cast<double>(time.runs);
    const StepWork work = work_of_step(program, *step, cost);
    const Origin origin = own_origin(*program.module, *step->instruction);
    Profile::Step row{.name = step->instruction->name,
                      .kind = kind_of(*step),
                      .scope = origin.scope,
                      .source = origin.source,
                      .runs = time.runs,
                      .seconds = own(step),
                      .bytes = often * work.bytes,
                      .operations = often * work.operations};
    if (row.seconds > 0)
      row.waiting = std::clamp(time.waiting / (static_cast<double>(threads) * row.seconds), 0.0, 1.0);
    if (step->blocks.empty()) row.modelled_seconds = 1e-9 * often * modelled_ns_of_step(program, *step, cost);
    row.held_back_by = held_back_by(profile, row);
    numbers.emplace(step, static_cast<int64_t>(profile.steps.size()));
    profile.steps.push_back(std::move(row));
  }
  for (const StepSpan& span : times.spans()) profile.spans.push_back({numbers.at(span.step), span.start, span.seconds});
  return profile;
}

}  // namespace engine
}  // namespace lowtide
