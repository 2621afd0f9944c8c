/// lowtide opt INPUT [--passes a,b,..] [-o OUT]: runs passes and prints the module.

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "command_session.h"
#include "commands.h"
#include "lowtide/passes.h"
#include "option_values.h"
#include "output.h"
#include "usage.h"

namespace lowtide::command {
namespace {

struct OptOptions {
  std::string input;
  std::string passes;
  bool passes_given = false;
  std::string output = "-";
};

std::optional<std::vector<std::string>> chosen_passes(const OptOptions& options) {
  if (!options.passes_given) return {};
  std::vector<std::string> names = CLI::detail::split(options.passes, ',');
  std::erase(names, "");
  return names;
}

Outcome opt(const OptOptions& options) {
  const auto passes = chosen_passes(options);
  if (passes) LT_DO(check_passes(*passes));
  LT_DO(check_outputs({{"INPUT", options.input}}, {{"-o", options.output}}));
  LT_TRY(const Session session, open_session());
  LT_TRY(Module module, session.read(options.input));
  LT_TRY(const Module rewritten, session.rewrite(std::move(module), passes));
  return write_program(session, options.output, rewritten);
}

}  // namespace

void add_opt(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<OptOptions>();
  CLI::App* command = app.add_subcommand("opt", "run passes and print the module");
  command->add_option("INPUT", options->input, "the program")->required();
  CLI::Option* passes = command->add_option("--passes", options->passes,
                                            "names of passes, separated by commas; \"\" for none; default: all");
  may_be_empty(passes);
  command->add_option(
      "-o,--output", options->output,
      "the file to write: StableHLO if it ends in .mlir, its bytecode if in .mlirbc, else HLO text; - for stdout");
  command->callback([options, passes, &exit_code] {
    options->passes_given = passes->count() > 0;
    exit_code = finish(opt(*options));
  });
}

}  // namespace lowtide::command
