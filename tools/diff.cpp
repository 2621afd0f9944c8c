/// lowtide diff A B: which values grew, shrank or appeared at the peak; a gate on its growth.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>

#include "answer.h"
#include "command_session.h"
#include "commands.h"
#include "lowtide/peak_comparison.h"
#include "output.h"

namespace lowtide::command {
namespace {

struct DiffOptions {
  std::string before, after;
  std::optional<double> fail_above;
  int64_t top = 20;
  bool json = false;
};

Outcome diff(const DiffOptions& options) {
  LT_TRY(const Session session, open_session());
  LT_TRY(Module before, session.read(options.before));
  LT_TRY(Module after, session.read(options.after));
  LT_TRY(const Explanation before_explained, session.explain(std::move(before)));
  LT_TRY(const Explanation after_explained, session.explain(std::move(after)));
  const PeakComparison comparison = compare_peaks(before_explained, after_explained);
  Outcome verdict;
  if (options.fail_above && comparison.growth_percent() > *options.fail_above) {
    verdict = Error{ErrorKind::kLimit, fmt::format("the peak grew by {:.2f} %, more than {:g} %",
                                                   comparison.growth_percent(), *options.fail_above)};
  }
  if (options.json) return write_json(comparison.json(), verdict);
  LT_DO(print_stdout(comparison.text(options.top, terminal_is_utf8())));
  return verdict;
}

}  // namespace

void add_diff(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<DiffOptions>();
  CLI::App* command = app.add_subcommand("diff", "which values grew, shrank or appeared at the peak");
  command->add_option("A", options->before, "the program before")->required();
  command->add_option("B", options->after, "the program after")->required();
  command->add_option("--fail-above", options->fail_above, "exit code 4 if the peak grew by more percent than this");
  command->add_option("--top", options->top, "rows of the table; 0 for all");
  command->add_flag("--json", options->json, "print JSON, schema_version 1");
  command->callback([options, &exit_code] { exit_code = finish(diff(*options), options->json); });
}

}  // namespace lowtide::command
