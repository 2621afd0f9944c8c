/// lowtide fit INPUT: transform the program until it fits, and say what that took.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>

#include "answer.h"
#include "backend/cpu/cpu_backend.h"
#include "base/files.h"
#include "base/sizes.h"
#include "command_context.h"
#include "commands.h"
#include "compile/check_fit.h"
#include "compile/fit.h"
#include "compile/fit_for_xla.h"
#include "compile/written_plan.h"
#include "ops/verify.h"
#include "progress_line.h"
#include "target/cpu.h"
#include "target/xla.h"
#include "text/input.h"
#include "text/output.h"
#include "usage.h"

namespace lowtide::engine {
namespace {

struct FitOptions {
  std::string input, limit, made_for = "lowtide", output, plan;
  bool check = false, check_small = false, json = false, exact = false;
  size_t control = 0;
};

/// What is said last, and the exit code: a plan that isn't what was asked for, or can't be used here.
Status verdict_on(FitReport& report) {
  report.interrupted = report.interrupted || command_context()->stop().was_asked();
  const std::string found = fmt::format("{} ({} bytes)", format_bytes(report.ours.peak), report.ours.peak);
  if (report.interrupted) return {kInterruptedFault, "interrupted; the best plan found until then needs " + found};
  if (report.met) return {};
  return {Fault::kLimit,
          fmt::format("no plan found fits in {}; the tightest needs {}", format_bytes(*report.limit), found)};
}

bool checks(const FitOptions& options) { return options.check || options.check_small || options.control > 0; }

/// Nothing where stdout has the program or the plan.
Status print_report(const FitOptions& options, const FitReport& report, const Status& verdict) {
  if (options.output == "-" || options.plan == "-") return verdict;
  if (options.json) return write_json(fit_json(report), verdict);
  LT_RETURN_IF_ERROR(print_stdout(fit_text(report, terminal_is_utf8())));
  return verdict;
}

Status write_program(const FitOptions& options, const Module& module) {
  if (options.output.empty()) return {};
  LT_ASSIGN_OR_RETURN(const std::string text, print_for(module, options.output));
  return write_output(options.output, text);
}

Status fit_xla(const FitOptions& options, const Input& input, std::optional<int64_t> limit) {
  if (!options.plan.empty()) return Status::usage("--plan: a plan is for run; with --for xla the program is the plan");
  if (checks(options)) return Status::usage("--check: compares plans for run; what XLA is handed, XLA compares");
  const KeepWhatIsFound keeping(command_context()->stop());
  LT_ASSIGN_OR_RETURN(FittedForXla fitted, fit_for_xla(input, xla_target(), limit));
  LT_RETURN_IF_ERROR(write_program(options, *fitted.module));
  const Status verdict = verdict_on(fitted.report);
  return print_report(options, fitted.report, verdict);
}

Status fit_here(const FitOptions& options, const Input& input, std::optional<int64_t> limit) {
  std::optional<KeepWhatIsFound> keeping(std::in_place, command_context()->stop());
  const auto keep = [&](const Decisions& decisions) {
    return options.plan.empty() ? Status() : write_output(options.plan, print_plan(*input.module, decisions));
  };
  if (checks(options)) LT_RETURN_IF_ERROR(verify_runnable(*input.module));
  LT_ASSIGN_OR_RETURN(Fitted fitted, fit_program(input, cpu_target(), limit, keep));
  FitReport& report = fitted.report;
  if (!options.output.empty()) {
    LT_ASSIGN_OR_RETURN(const auto written, written_plan(*input.module, fitted.compiled, report.warnings));
    LT_RETURN_IF_ERROR(write_program(options, *written));
  }
  Status verdict = verdict_on(report);
  keeping.reset();  // all is written
  if (checks(options) && !report.interrupted && !report.before_partitioning) {
    const CheckOptions how{.control = options.control, .only_small = options.check_small};
    LT_ASSIGN_OR_RETURN(report.checked, check_fit(*input.module, fitted.compiled, cpu_backend(), how));
  }
  const bool checked = checks(options) && !report.before_partitioning;
  if (!fitted.runnable.ok() && (checked || !verdict.ok())) {
    fmt::print(stderr, "warning: this plan can't be run here: {}\n", fitted.runnable.message());
  } else if (!fitted.runnable.ok()) {
    verdict = fitted.runnable;
  }
  return print_report(options, report, verdict);
}

Status fit(const FitOptions& options) {
  LT_RETURN_IF_ERROR(check_outputs({{"INPUT", options.input}}, {{"-o", options.output}, {"--plan", options.plan}}));
  std::optional<int64_t> limit;
  if (!options.limit.empty()) {
    LT_ASSIGN_OR_RETURN(limit, parse_size(options.limit));
  }
  const bool for_xla = options.made_for == "xla";
  LT_ASSIGN_OR_RETURN(
      const Input input,
      read_input(options.input, for_xla ? InputStage::kBeforeXla : InputStage::kLatest, command_context()));
  for (const std::string& warning : input.warnings) fmt::print(stderr, "warning: {}\n", warning);
  input.module->sums_in_order = options.exact;
  return for_xla ? fit_xla(options, input, limit) : fit_here(options, input, limit);
}

}  // namespace

void add_fit(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<FitOptions>();
  CLI::App* command = app.add_subcommand("fit", "transform the program until its peak is within a limit");
  command->add_option("INPUT", options->input, "the program")->required();
  command->add_option("--limit", options->limit, "SIZE that the peak may have; default: as low as it gets");
  command->add_option("--for", options->made_for, "who runs it")->check(one_of({"lowtide", "xla"}));
  add_exact(*command, options->exact);
  command->add_option("-o,--output", options->output,
                      "write the transformed program as HLO text, or StableHLO (.mlir); - for stdout");
  command->add_option("--plan", options->plan, "write the decisions, for run --plan");
  command->add_flag("--check", options->check,
                    "run both on seeded arguments and compare, of large programs a small instantiation; exit code 5 "
                    "when they differ");
  command->add_flag("--check-small", options->check_small, "--check on a small instantiation, however large it is");
  command->add_option("--check-control", options->control,
                      "--check with results made wrong behind decision K: it must end in exit code 5");
  command->add_flag("--json", options->json, "print JSON, schema_version 1");
  command->callback([options, &exit_code] { exit_code = finish(fit(*options), options->json); });
}

}  // namespace lowtide::engine
