/// lowtide plan BUFFERS.csv: lifetimes packed into one arena.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "answer.h"
#include "base/files.h"
#include "base/sizes.h"
#include "command_context.h"
#include "commands.h"
#include "plan/check.h"
#include "plan/csv.h"
#include "plan/pack.h"
#include "progress_line.h"
#include "text/file.h"
#include "usage.h"

namespace lowtide::engine {
namespace {

/// Some five seconds where a packing can't be found.
constexpr int64_t kWork = 600'000'000;

struct PlanOptions {
  std::string input, capacity, output;
  bool json = false;
};

struct Outcome {
  size_t buffers = 0;
  Bytes peak = 0, load = 0;
  double seconds = 0;
  Bytes capacity = 0;  ///< 0: none
  bool met() const { return capacity == 0 || peak <= capacity; }
};

std::string to_json(const Outcome& outcome) {
  nlohmann::ordered_json json = {{"schema_version", 1},
                                 {"buffers", outcome.buffers},
                                 {"peak_bytes", outcome.peak},
                                 {"load_bytes", outcome.load},
                                 {"seconds", outcome.seconds}};
  if (outcome.capacity > 0) {
    json["capacity_bytes"] = outcome.capacity;
    json["met"] = outcome.met();
  }
  return json.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

std::string to_line(const Outcome& outcome) {
  const Bytes gap = outcome.peak - outcome.load;
  return fmt::format("{} buffers: arena {} ({} bytes) · load {} ({} bytes) · gap {:.2f} %\n",
                     format_count(static_cast<int64_t>(outcome.buffers)), format_bytes(outcome.peak),
                     format_count(outcome.peak), format_bytes(outcome.load), format_count(outcome.load),
                     outcome.load > 0 ? 100.0 * static_cast<double>(gap) / static_cast<double>(outcome.load) : 0.0);
}

Status plan(const PlanOptions& options) {
  Outcome outcome;
  if (!options.capacity.empty()) {
    LT_ASSIGN_OR_RETURN(outcome.capacity, parse_size(options.capacity));
    if (outcome.capacity <= 0) return Status::usage("--capacity: expected more than 0 bytes");
  }
  LT_RETURN_IF_ERROR(check_outputs({{"BUFFERS", options.input}}, {{"-o", options.output}}));
  LT_ASSIGN_OR_RETURN(const std::string text, read_bytes(options.input));
  LT_ASSIGN_OR_RETURN(const BufferTable table, parse_buffer_table(options.input, text));
  const auto start = std::chrono::steady_clock::now();
  const Placement placement =
      pack(table.problem, {.capacity = outcome.capacity, .work = kWork, .progress = &command_context()->progress()});
  outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const std::string fault = check_placement(table.problem, placement);
  LT_ASSERT(fault.empty(), "the packing is wrong: " + fault);
  outcome.buffers = table.rows.size();
  outcome.peak = placement.height;
  outcome.load = packing_bound(table.problem);
  if (outcome.met() && !options.output.empty()) {
    LT_RETURN_IF_ERROR(write_output(options.output, print_buffer_table(table, placement)));
  }
  Status verdict;
  if (!outcome.met()) {
    verdict = {Fault::kLimit,
               outcome.load > outcome.capacity
                   ? fmt::format("no packing fits into {} bytes: {} are alive at once; best found {} bytes",
                                 outcome.capacity, outcome.load, outcome.peak)
                   : fmt::format("no packing into {} bytes was found: best {} bytes, none below {}", outcome.capacity,
                                 outcome.peak, outcome.load)};
  }
  if (options.json) return write_json(to_json(outcome), verdict);
  if (options.output != "-") LT_RETURN_IF_ERROR(print_stdout(to_line(outcome)));
  return verdict;
}

}  // namespace

void add_plan(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<PlanOptions>();
  CLI::App* command = app.add_subcommand("plan", "pack buffers with lifetimes into one arena");
  command->add_option("BUFFERS", options->input, "CSV with the columns id,lower,upper,size[,alignment][,gaps]")
      ->required();
  command->add_option("--capacity", options->capacity, "SIZE: exit 4 where no packing is found within it");
  command->add_option("-o", options->output, "the same CSV with a column offset; - for stdout");
  command->add_flag("--json", options->json, "print JSON, schema_version 1");
  command->callback([options, &exit_code] { exit_code = finish(plan(*options), options->json); });
}

}  // namespace lowtide::engine
