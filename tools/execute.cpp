// lowtide run: from the program to its results.
#include <fmt/format.h>

#include <chrono>
#include <cstdio>

#include "allocator.h"
#include "command_session.h"
#include "lowtide/files.h"
#include "lowtide/words.h"
#include "output.h"
#include "run_options.h"

namespace lowtide::command {
namespace {

constexpr int64_t kMostSpans = 200'000;  ///< in a trace; viewers can't open more

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

Result<Module> read(const RunOptions& options, const Session& session, RunReport& report) {
  LT_TRY(Module module, session.read(options.input));
  for (const std::string& warning : module.warnings()) fmt::print(stderr, "warning: {}\n", warning);
  LT_DO(module.can_run());
  report.module = module.name();
  report.instructions = module.instructions();
  return module;
}

/// The free plan, or the one that the options select.
Result<Plan> plan(const RunOptions& options, const Session& session, Module module,
                  const std::optional<Result<int64_t>>& limit, RunReport& report) {
  if (!options.plan.empty()) {
    LT_TRY(const std::string text, read_file(options.plan));
    return session.replay(std::move(module), text, options.plan);
  }
  if (limit && !limit->ok()) return limit->error();
  auto planned = session.plan(std::move(module));
  if (!planned.ok() && planned.error().lowest_peak) {
    report.best_peak_bytes = planned.error().lowest_peak;
    if (limit) report.limit_bytes = limit->value();
  }
  return planned;
}

/// Plans and compiles; everything that only planning needs is freed afterwards.
Result<Executable> prepare(const RunOptions& options, const Session& session, Module module,
                           const std::optional<Result<int64_t>>& limit, RunReport& report) {
  if (options.json) {
    LT_TRY(const LowerBound of_order, module.floor_of_order());
    LT_TRY(const LowerBound of_any, module.floor_of_any());
    report.floor_order_bytes = of_order.bytes;
    report.floor_any_bytes = of_any.bytes;
  }
  LT_TRY(const Plan planned, plan(options, session, std::move(module), limit, report));
  report.exact = planned.is_exact();
  report.sizes = planned.sizes();
  report.kernels = planned.kernels();
  report.plan_seconds = planned.plan_seconds();
  report.modelled_seconds = planned.modelled_seconds();
  if (const std::string warning = planned.warning(); !warning.empty()) fmt::print(stderr, "warning: {}\n", warning);
  const auto start = Clock::now();
  LT_TRY(Executable executable, session.compile(planned));
  report.compile_seconds = seconds_since(start);
  report.interpreted_steps = executable.interpreted();
  return executable;
}

Result<RunFiles> open_files(const RunOptions& options, const Session& session,
                            const std::vector<ProgramArray>& results) {
  RunFiles files{.seed = options.seed};
  if (!options.inputs.empty()) {
    LT_TRY(files.arguments, session.open_tensors(options.inputs));
  }
  if (!options.outputs.empty()) {
    LT_TRY(files.results, session.create_tensors(options.outputs, results));
  }
  return files;
}

/// Runs, and compares the results.
Outcome run(const RunOptions& options, const Session& session, Run& program, RunFiles files, RunReport& report) {
  LT_TRY(report.run_seconds, program.run(options.repeat));
  if (files.arguments) LT_DO(files.arguments->check_unchanged());
  report.measured_peak_bytes = program.touched_bytes();
  if (options.profile || !options.trace.empty()) {
    LT_TRY(report.profile, program.profile(options.repeat, options.trace.empty() ? 0 : kMostSpans));
    if (!options.trace.empty()) LT_DO(write_output(session, options.trace, report.profile->trace()));
    if (!options.profile) report.profile.reset();
  }
  if (!options.expect.empty()) {
    LT_TRY(const TensorFile expected, session.open_tensors(options.expect));
    LT_TRY(report.comparison, program.compare(expected, options.rtol, options.atol_of_max));
  }
  if (!options.json) {
    LT_TRY(report.results, program.summary());
  }
  if (!files.results) return {};
  LT_DO(program.collect());
  return files.results->commit();
}

}  // namespace

Outcome execute(const RunOptions& options, RunReport& report) {
  std::optional<Result<int64_t>> limit;  // its error is reported when planning
  if (!options.limit.empty()) limit = parse_size(options.limit);
  const bool limited = limit && limit->ok();
  LT_TRY(const Session session,
         open_session(options.exact, limited ? std::optional(limit->value()) : std::nullopt, options.machine));
  LT_TRY(Module module, read(options, session, report));
  if (options.interpret) {
    report.interpreted = true;
    LT_TRY(report.sizes, module.as_given());
    LT_TRY(RunFiles files, open_files(options, session, module.results()));
    LT_TRY(Run program, session.interpret(std::move(module), files));
    return run(options, session, program, files, report);
  }
  LT_TRY(const Executable executable, prepare(options, session, std::move(module), limit, report));
  return_free_memory();  // of planning, so that it doesn't add to the arena
  report.threads = session.threads();
  LT_TRY(RunFiles files, open_files(options, session, executable.results()));
  LT_TRY(Run program, executable.bind(files));
  return run(options, session, program, files, report);
}

}  // namespace lowtide::command
