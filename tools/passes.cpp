/// lowtide passes: the pipeline with reasons.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <string>

#include "base/files.h"
#include "commands.h"
#include "passes/pass.h"

namespace lowtide {
namespace {

const char* numerics_name(Numerics numerics) {
  switch (numerics) {
    case Numerics::kExact: return "exact";
    case Numerics::kValueExact: return "value-exact";
    case Numerics::kReassociated: return "reassociated";
    case Numerics::kOptIn: return "opt-in";
  }
  return "";
}

std::string pipeline_page() {
  size_t width = 0;
  for (const Pass& pass : pipeline()) width = std::max(width, pass.name.size());
  std::string page;
  int number = 0;
  for (const Pass& pass : pipeline()) {
    page += fmt::format("{:3}  {:<{}}  {:<12}  {}\n", ++number, pass.name, width, numerics_name(pass.numerics),
                        pass.reason);
  }
  return page;
}

}  // namespace

void add_passes(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("passes", "the pipeline, in order, with reasons");
  command->callback([&exit_code] { exit_code = finish(write_stdout(pipeline_page())); });
}

}  // namespace lowtide
