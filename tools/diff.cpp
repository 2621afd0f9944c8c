/// lowtide diff A B: which values grew, shrank or appeared at the peak; a gate on its growth.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>

#include "answer.h"
#include "base/files.h"
#include "command_context.h"
#include "commands.h"
#include "compile/explain.h"
#include "progress_line.h"
#include "report/compare.h"
#include "target/cpu.h"
#include "text/input.h"

namespace lowtide::engine {
namespace {

struct DiffOptions {
  std::string before, after;
  std::optional<double> fail_above;
  int64_t top = 20;
  bool json = false;
};

Status diff(const DiffOptions& options) {
  LT_ASSIGN_OR_RETURN(const Input before, read_input(options.before, InputStage::kLatest, command_context()));
  LT_ASSIGN_OR_RETURN(const Input after, read_input(options.after, InputStage::kLatest, command_context()));
  LT_ASSIGN_OR_RETURN(const Report report_before, explain(before, cpu_target()));
  LT_ASSIGN_OR_RETURN(const Report report_after, explain(after, cpu_target()));
  const ReportComparison comparison = compare(report_before, report_after);
  TextOptions text;
  text.top = options.top;
  text.utf8 = terminal_is_utf8();
  Status verdict;
  if (options.fail_above && comparison.growth_percent() > *options.fail_above) {
    verdict = {Fault::kLimit, fmt::format("the peak grew by {:.2f} %, more than {:g} %", comparison.growth_percent(),
                                          *options.fail_above)};
  }
  if (options.json) return write_json(to_json(comparison), verdict);
  LT_RETURN_IF_ERROR(print_stdout(to_text(comparison, text)));
  return verdict;
}

}  // namespace

void add_diff(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<DiffOptions>();
  CLI::App* command = app.add_subcommand("diff", "which values grew, shrank or appeared at the peak");
  command->add_option("A", options->before, "the program before")->required();
  command->add_option("B", options->after, "the program after")->required();
  command->add_option("--fail-above", options->fail_above, "exit 4 where the peak grew by more percent than this");
  command->add_option("--top", options->top, "rows; 0 for all");
  command->add_flag("--json", options->json, "print JSON, schema_version 1");
  command->callback([options, &exit_code] { exit_code = finish(diff(*options), options->json); });
}

}  // namespace lowtide::engine
