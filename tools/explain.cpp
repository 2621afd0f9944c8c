/// lowtide explain INPUT: what holds memory at the peak, why, and what would free it.

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "answer.h"
#include "command_session.h"
#include "commands.h"
#include "output.h"
#include "usage.h"

namespace lowtide::command {
namespace {

struct ExplainOptions {
  std::string input, html, trace, machine;
  int64_t top = 10;
  bool json = false, exact = false;
};

Outcome run_explain(const ExplainOptions& options) {
  LT_DO(check_outputs({{"INPUT", options.input}}, {{"--html", options.html}, {"--trace", options.trace}}));
  LT_TRY(const Session session, open_session(options.exact, {}, options.machine));
  LT_TRY(Module module, session.read(options.input));
  LT_TRY(const Explanation report, session.explain(std::move(module), !options.html.empty() || !options.trace.empty()));
  if (!options.html.empty()) LT_DO(write_output(session, options.html, report.html()));
  if (!options.trace.empty()) LT_DO(write_output(session, options.trace, report.trace()));
  if (options.html == "-" || options.trace == "-") return {};
  if (options.json) return write_json(report.json());
  return print_stdout(report.text(options.top, terminal_is_utf8()));
}

}  // namespace

void add_explain(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<ExplainOptions>();
  CLI::App* command = app.add_subcommand("explain", "what holds memory at the peak, why, and what would free it");
  command->add_option("INPUT", options->input, "the program")->required();
  command->add_option("--top", options->top, "rows of each table; 0 for all");
  add_exact(*command, options->exact);
  add_machine(*command, options->machine);
  command->add_flag("--json", options->json, "print JSON, schema_version 1");
  command->add_option("--html", options->html, "also write one self-contained page");
  command->add_option("--trace", options->trace, "also write a Chrome trace of memory over time");
  command->callback([options, &exit_code] { exit_code = finish(run_explain(*options), options->json); });
}

}  // namespace lowtide::command
