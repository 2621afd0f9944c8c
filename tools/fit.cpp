/// lowtide fit INPUT: transform the program until it fits, and report what that took.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>

#include "answer.h"
#include "ask_xla.h"
#include "command_session.h"
#include "commands.h"
#include "lowtide/words.h"
#include "output.h"
#include "signals.h"
#include "usage.h"

namespace lowtide::command {
namespace {

struct FitOptions {
  std::string input, limit, made_for = "lowtide", output, plan, machine, max_batch, ask;
  int64_t multiple_of = 1;
  bool check = false, check_small = false, json = false, exact = false;
  int64_t control = 0;
};

/// The final message and the exit code, which tell if the plan misses the request or can't be used here.
Outcome verdict_on(FitReport& report) {
  report.interrupted = report.interrupted || was_interrupted();
  int64_t peak = report.ours.peak;
  if (report.xla) peak = (report.xla->stays ? report.xla->before : report.xla->after).sizes.peak;
  const std::string found = fmt::format("{} ({} bytes)", format_bytes(peak), peak);
  if (report.interrupted) {
    return Error{ErrorKind::kInterrupted, "interrupted; the best plan found until then needs " + found};
  }
  if (report.met) return {};
  return Error{ErrorKind::kLimit,
               fmt::format("no plan found fits in {}; the tightest needs {}", format_bytes(*report.limit), found)};
}

constexpr int kMostAsked = 3;  ///< times that XLA is asked again for a limit

bool checks(const FitOptions& options) { return options.check || options.check_small || options.control > 0; }

/// Prints nothing if stdout has the program or the plan.
Outcome print_report(const FitOptions& options, const FitReport& report, const Outcome& verdict) {
  if (options.output == "-" || options.plan == "-") return verdict;
  if (options.json) return write_json(report.json(), verdict);
  LT_DO(print_stdout(report.text(terminal_is_utf8())));
  return verdict;
}

/// Uses XLA's own sizes: a program that needs no less stays unchanged, and the limit applies to XLA's peak.
Result<FitForXla> fit_as_xla_says(const FitOptions& options, const Session& session, const Module& given,
                                  std::optional<int64_t> limit) {
  LT_TRY(const XlaAccount before, ask_xla(options.ask, given));
  std::optional<int64_t> target = limit;
  for (int left = kMostAsked;; --left) {
    LT_TRY(FitForXla fitted, session.fit_for_xla(given, target));
    LT_TRY(XlaAccount after, ask_xla(options.ask, fitted.module));
    const bool stays = after.sizes.peak >= before.sizes.peak;
    const int64_t peak = stays ? before.sizes.peak : after.sizes.peak;
    const bool met = !limit || peak <= *limit;
    if (met || !fitted.report.met || left == 0 || was_interrupted()) {
      if (stays) fitted.module = given;
      fitted.report.limit = limit;
      fitted.report.met = met;
      fitted.report.xla = XlaAccounts{before, std::move(after), stays};
      return fitted;
    }
    // The model's figure was too low: lower the target in proportion.
    target =
        static_cast<int64_t>(static_cast<double>(*target) * static_cast<double>(*limit) / static_cast<double>(peak));
  }
}

Outcome fit_for_xla(const FitOptions& options, const Session& session, Module module, std::optional<int64_t> limit) {
  if (!options.plan.empty()) return usage_error("--plan: a plan is for run; with --for xla the program is the plan");
  if (checks(options)) return usage_error("--check: compares plans for run; what XLA is handed, XLA compares");
  const KeepResults keeping;
  const auto made = [&] {
    return options.ask.empty() ? session.fit_for_xla(std::move(module), limit)
                               : fit_as_xla_says(options, session, module, limit);
  };
  LT_TRY(FitForXla fitted, made());
  if (!options.output.empty()) LT_DO(write_program(session, options.output, fitted.module));
  const Outcome verdict = verdict_on(fitted.report);
  return print_report(options, fitted.report, verdict);
}

Outcome fit_here(const FitOptions& options, const Session& session, Module module, std::optional<int64_t> limit) {
  std::optional<KeepResults> keeping(std::in_place);
  const auto keep = [&](const std::string& plan) {
    return options.plan.empty() ? Outcome() : write_output(session, options.plan, plan);
  };
  if (checks(options)) LT_DO(module.has_all_values());
  LT_TRY(Fit fit, session.fit(std::move(module), limit, keep));
  FitReport& report = fit.report;
  if (!options.output.empty()) {
    LT_TRY(const Module written, fit.plan.module());
    report.warnings.insert(report.warnings.end(), written.warnings().begin(), written.warnings().end());
    LT_DO(write_program(session, options.output, written));
  }
  Outcome verdict = verdict_on(report);
  keeping.reset();  // everything is written
  const bool checked = checks(options) && !report.before_partitioning;
  if (checked && !report.interrupted) {
    LT_TRY(report.checked, session.check(fit.plan, {.only_small = options.check_small, .control = options.control}));
  }
  if (const Outcome runnable = fit.plan.can_run(); !runnable.ok() && (checked || !verdict.ok())) {
    fmt::print(stderr, "warning: this plan can't be run here: {}\n", runnable.error().message);
  } else if (!runnable.ok()) {
    verdict = runnable;
  }
  return print_report(options, report, verdict);
}

/// Finds the largest extent of a dimension within the limit, instead of a plan of the given program.
Outcome max_batch(const FitOptions& options, const Session& session, Module module, std::optional<int64_t> limit) {
  if (!limit) return usage_error("--max-batch: expected --limit SIZE");
  if (checks(options) || !options.output.empty() || !options.plan.empty()) {
    return usage_error("--max-batch: plans other programs than the one given; no -o, --plan or --check with it");
  }
  const KeepResults keeping;
  LT_TRY(LargestExtent found, session.largest(std::move(module), options.max_batch,
                                              {*limit, options.multiple_of, options.made_for == "xla"}));
  found.interrupted = found.interrupted || was_interrupted();
  Outcome verdict;
  if (found.interrupted) {
    verdict = Error{ErrorKind::kInterrupted, "interrupted before the largest was found"};
  } else if (found.largest() == nullptr) {
    verdict =
        Error{ErrorKind::kLimit, fmt::format("no extent of {} fits in {}", found.dimension, format_bytes(*limit))};
  }
  if (options.json) return write_json(found.json(), verdict);
  LT_DO(print_stdout(found.text(terminal_is_utf8())));
  return verdict;
}

Outcome fit(const FitOptions& options) {
  LT_DO(check_outputs({{"INPUT", options.input}}, {{"-o", options.output}, {"--plan", options.plan}}));
  std::optional<int64_t> limit;
  if (!options.limit.empty()) {
    LT_TRY(limit, parse_size(options.limit));
  }
  const bool for_xla = options.made_for == "xla";
  if (!options.ask.empty() && (!for_xla || !options.max_batch.empty()))
    return usage_error("--ask-xla: expected with --for xla, for a program as it is");
  LT_TRY(const Session session, open_session(options.exact, {}, options.machine));
  LT_TRY(Module module, session.read(options.input, for_xla ? Stage::kBeforeXla : Stage::kLatest));
  for (const std::string& warning : module.warnings()) fmt::print(stderr, "warning: {}\n", warning);
  if (!options.max_batch.empty()) return max_batch(options, session, std::move(module), limit);
  return for_xla ? fit_for_xla(options, session, std::move(module), limit)
                 : fit_here(options, session, std::move(module), limit);
}

}  // namespace

void add_fit(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<FitOptions>();
  CLI::App* command = app.add_subcommand("fit", "transform the program until its peak is within a limit");
  command->add_option("INPUT", options->input, "the program")->required();
  command->add_option("--limit", options->limit, "the largest peak allowed (SIZE); default: the lowest that is found");
  command->add_option("--for", options->made_for, "what will run the program")->check(one_of({"lowtide", "xla"}));
  command->add_option(
      "--ask-xla", options->ask,
      "a PYTHON with jax 0.10: with --for xla, plans are chosen by the memory that its compiler reports");
  add_exact(*command, options->exact);
  add_machine(*command, options->machine);
  command->add_option("-o,--output", options->output,
                      "write the transformed program as HLO text, or StableHLO (.mlir); - for stdout");
  command->add_option("--plan", options->plan, "write the decisions, for run --plan");
  command->add_flag(
      "--check", options->check,
      "run the program as given and as fitted on seeded arguments (large programs at small sizes); exit code 5 "
      "when they differ");
  command->add_flag("--check-small", options->check_small, "--check at small sizes, however large the program is");
  command->add_option("--check-control", options->control,
                      "--check with results that are wrong from decision K on, which must end in exit code 5");
  command->add_option("--max-batch", options->max_batch,
                      "ARGUMENT:D, as in batch['x']:0: the largest extent of that dimension within the limit");
  command->add_option("--multiple-of", options->multiple_of, "with --max-batch: extents that are tried")
      ->check(CLI::PositiveNumber);
  command->add_flag("--json", options->json, "print JSON, schema_version 1");
  command->callback([options, &exit_code] { exit_code = finish(fit(*options), options->json); });
}

}  // namespace lowtide::command
