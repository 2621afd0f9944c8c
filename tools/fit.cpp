/// lowtide fit INPUT: transform the program until it fits, and say what that took.

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>

#include "base/files.h"
#include "base/sizes.h"
#include "commands.h"
#include "compile/check_fit.h"
#include "compile/fit.h"
#include "compile/fit_for_xla.h"
#include "text/input.h"
#include "text/output.h"

namespace lowtide {
namespace {

struct FitOptions {
  std::string input, limit, made_for = "lowtide", output, plan;
  bool check = false, check_small = false, json = false, exact = false;
  size_t control = 0;
};

FrontierOptions frontier_options() {
  FrontierOptions options;
  if (::isatty(STDERR_FILENO) == 0) return options;
  options.progress = [](int64_t plans, int64_t peak) {
    fmt::print(stderr, "\r{} plans tried, peak {} \x1b[K", plans, format_bytes(peak));
  };
  return options;
}

Status refusal(const FitReport& report) {
  return {Fault::kLimit, fmt::format("no plan found fits in {}; the tightest needs {} ({} bytes)",
                                     format_bytes(*report.limit), format_bytes(report.ours.peak), report.ours.peak)};
}

bool checks(const FitOptions& options) { return options.check || options.check_small || options.control > 0; }

Status fit_xla(const FitOptions& options, const Input& input, std::optional<int64_t> limit,
               const FrontierOptions& search) {
  if (!options.plan.empty()) return Status::usage("--plan: a plan is for run; with --for xla the program is the plan");
  if (checks(options)) return Status::usage("--check: compares plans for run; what XLA is handed, XLA compares");
  LT_ASSIGN_OR_RETURN(const FittedForXla fitted, fit_for_xla(input, limit, search));
  if (search.progress) fmt::print(stderr, "\r\x1b[K");
  const FitReport& report = fitted.report;
  if (!options.output.empty()) {
    LT_ASSIGN_OR_RETURN(const std::string text, print_for(*fitted.module, options.output));
    LT_RETURN_IF_ERROR(write_file(options.output, text));
  }
  if (options.output != "-") {
    LT_RETURN_IF_ERROR(write_stdout(options.json ? fit_json(report) : fit_text(report, terminal_is_utf8())));
  }
  return report.met ? Status() : refusal(report);
}

Status fit(const FitOptions& options) {
  std::optional<int64_t> limit;
  if (!options.limit.empty()) {
    LT_ASSIGN_OR_RETURN(limit, parse_size(options.limit));
  }
  LT_ASSIGN_OR_RETURN(const Input input, read_input(options.input));
  for (const std::string& warning : input.warnings) fmt::print(stderr, "warning: {}\n", warning);
  input.module->sums_in_order = options.exact;
  const FrontierOptions search = frontier_options();
  if (options.made_for == "xla") return fit_xla(options, input, limit, search);
  LT_ASSIGN_OR_RETURN(Fitted fitted, fit_program(input, limit, search));
  if (search.progress) fmt::print(stderr, "\r\x1b[K");
  FitReport& report = fitted.report;
  if (checks(options)) {
    const CheckOptions how{.control = options.control, .only_small = options.check_small};
    LT_ASSIGN_OR_RETURN(report.checked, check_fit(*input.module, fitted.compiled, how));
  }
  if (!options.output.empty()) {
    LT_ASSIGN_OR_RETURN(const std::string text, print_for(*fitted.compiled.program->module, options.output));
    LT_RETURN_IF_ERROR(write_file(options.output, text));
  }
  if (!options.plan.empty()) {
    LT_RETURN_IF_ERROR(write_file(options.plan, print_plan(*input.module, fitted.compiled.decisions)));
  }
  LT_RETURN_IF_ERROR(write_stdout(options.json ? fit_json(report) : fit_text(report, terminal_is_utf8())));
  return report.met ? Status() : refusal(report);
}

}  // namespace

void add_fit(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<FitOptions>();
  CLI::App* command = app.add_subcommand("fit", "transform the program until its peak is within a limit");
  command->add_option("INPUT", options->input, "the program")->required();
  command->add_option("--limit", options->limit, "SIZE that the peak may have; default: as low as it gets");
  command->add_option("--for", options->made_for, "who runs it")->check(CLI::IsMember({"lowtide", "xla"}));
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
  command->callback([options, &exit_code] { exit_code = finish(fit(*options)); });
}

}  // namespace lowtide
