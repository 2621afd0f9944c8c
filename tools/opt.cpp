/// lowtide opt INPUT [--passes a,b,..] [-o OUT]: runs passes and prints the module.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/near_words.h"
#include "command_context.h"
#include "commands.h"
#include "option_values.h"
#include "passes/pass.h"
#include "progress_line.h"
#include "target/cpu.h"
#include "text/input.h"
#include "text/output.h"
#include "usage.h"

namespace lowtide::engine {
namespace {

struct OptOptions {
  std::string input;
  std::string passes;
  bool passes_given = false;
  std::string output = "-";
};

Result<std::vector<Pass>> chosen_passes(const OptOptions& options) {
  if (!options.passes_given) return pipeline();
  std::vector<Pass> passes;
  for (const std::string& name : CLI::detail::split(options.passes, ',')) {
    if (name.empty()) continue;
    const Pass* pass = find_pass(name);
    if (pass == nullptr) {
      std::vector<std::string> known;
      for (const Pass& p : pipeline()) known.emplace_back(p.name);
      const std::vector<std::string> near = near_words(name, known);
      const std::string all = fmt::format("; expected some of {}", fmt::join(known, ", "));
      return Status::usage("there is no pass `" + name + "`" + (near.empty() ? all : did_you_mean(near)));
    }
    passes.push_back(*pass);
  }
  return passes;
}

Status opt(const OptOptions& options) {
  LT_ASSIGN_OR_RETURN(const std::vector<Pass> passes, chosen_passes(options));
  LT_RETURN_IF_ERROR(check_outputs({{"INPUT", options.input}}, {{"-o", options.output}}));
  LT_ASSIGN_OR_RETURN(Input input, read_input(options.input, InputStage::kLatest, command_context()));
  LT_ASSIGN_OR_RETURN(const std::vector<PassRecord> records, run_passes(*input.module, passes, cpu_target()));
  LT_ASSIGN_OR_RETURN(const std::string text, print_for(*input.module, options.output));
  return write_output(options.output, text);
}

}  // namespace

void add_opt(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<OptOptions>();
  CLI::App* command = app.add_subcommand("opt", "run passes and print the module");
  command->add_option("INPUT", options->input, "the program")->required();
  CLI::Option* passes =
      command->add_option("--passes", options->passes, "comma-separated; \"\" for none; all where not given");
  may_be_empty(passes);
  command->add_option("-o,--output", options->output, "file to write, StableHLO where it ends in .mlir; - for stdout");
  command->callback([options, passes, &exit_code] {
    options->passes_given = passes->count() > 0;
    exit_code = finish(opt(*options));
  });
}

}  // namespace lowtide::engine
