/// lowtide explain INPUT: what holds memory at the peak, why, and what would free it.

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "answer.h"
#include "base/files.h"
#include "command_context.h"
#include "commands.h"
#include "compile/explain.h"
#include "progress_line.h"
#include "report/html.h"
#include "report/json.h"
#include "report/text.h"
#include "report/trace.h"
#include "target/cpu.h"
#include "text/input.h"
#include "usage.h"

namespace lowtide::engine {
namespace {

struct ExplainOptions {
  std::string input, html, trace;
  int64_t top = 10;
  bool json = false, exact = false;
};

Status run_explain(const ExplainOptions& options) {
  LT_RETURN_IF_ERROR(check_outputs({{"INPUT", options.input}}, {{"--html", options.html}, {"--trace", options.trace}}));
  LT_ASSIGN_OR_RETURN(const Input input, read_input(options.input, InputStage::kLatest, command_context()));
  input.module->sums_in_order = options.exact;
  LT_ASSIGN_OR_RETURN(const Report report,
                      explain(input, cpu_target(), !options.html.empty() || !options.trace.empty()));
  if (!options.html.empty()) LT_RETURN_IF_ERROR(write_output(options.html, to_html(report)));
  if (!options.trace.empty()) LT_RETURN_IF_ERROR(write_output(options.trace, to_trace(report)));
  if (options.html == "-" || options.trace == "-") return {};
  if (options.json) return write_json(to_json(report));
  TextOptions text;
  text.top = options.top;
  text.utf8 = terminal_is_utf8();
  return print_stdout(to_text(report, text));
}

}  // namespace

void add_explain(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<ExplainOptions>();
  CLI::App* command = app.add_subcommand("explain", "what holds memory at the peak, why, and what would free it");
  command->add_option("INPUT", options->input, "the program")->required();
  command->add_option("--top", options->top, "rows of each table; 0 for all");
  add_exact(*command, options->exact);
  command->add_flag("--json", options->json, "print JSON, schema_version 1");
  command->add_option("--html", options->html, "also write one self-contained page");
  command->add_option("--trace", options->trace, "also write a Chrome trace of memory over time");
  command->callback([options, &exit_code] { exit_code = finish(run_explain(*options), options->json); });
}

}  // namespace lowtide::engine
