/// lowtide passes: the pipeline with reasons.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <string>

#include "base/files.h"
#include "commands.h"
#include "passes/pass.h"
#include "progress_line.h"
#include "report/columns.h"

namespace lowtide::engine {
namespace {

constexpr size_t kPageWidth = 100;

std::string page_of(const std::vector<Pass>& passes) {
  size_t width = 0;
  for (const Pass& pass : passes) width = std::max(width, pass.name.size());
  std::string page;
  int number = 0;
  const size_t indent = 5 + width + 2 + 12 + 2;
  for (const Pass& pass : passes) {
    page += fmt::format("{:3}  {:<{}}  {:<12}  ", ++number, pass.name, width, numerics_name(pass.numerics));
    bool first = true;
    for (const std::string& line : wrap(pass.reason, kPageWidth - indent)) {
      page += (first ? "" : std::string(indent, ' ')) + line + "\n";
      first = false;
    }
  }
  return page;
}

}  // namespace

void add_passes(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("passes", "the pipelines, in order, with reasons");
  command->callback([&exit_code] {
    exit_code = finish(print_stdout("For handing on (opt)\n" + page_of(pipeline()) +
                                    "For planning and running here (explain, run)\n" + page_of(execution_pipeline()) +
                                    "For running in XLA (fit --for xla)\n" + page_of(pipeline_for_xla())));
  });
}

}  // namespace lowtide::engine
