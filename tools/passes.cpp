/// lowtide passes: the pipeline with reasons.

#include "lowtide/passes.h"

#include <CLI/CLI.hpp>
#include <string>

#include "commands.h"
#include "output.h"

namespace lowtide::command {

void add_passes(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("passes", "the pipelines, in order, with reasons");
  command->callback([&exit_code] {
    std::string page;
    for (const Pipeline& pipeline : pipelines()) page += pipeline.text();
    exit_code = finish(print_stdout(page));
  });
}

}  // namespace lowtide::command
