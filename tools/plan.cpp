/// lowtide plan BUFFERS.csv: packs buffers with lifetimes into one arena.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "answer.h"
#include "command_session.h"
#include "commands.h"
#include "lowtide/files.h"
#include "lowtide/words.h"
#include "output.h"
#include "usage.h"

namespace lowtide::command {
namespace {

struct PlanOptions {
  std::string input, capacity, output;
  bool json = false;
};

std::string to_json(const Packing& packing, int64_t capacity) {
  nlohmann::ordered_json json = {{"schema_version", 1},
                                 {"buffers", packing.offsets.size()},
                                 {"peak_bytes", packing.peak},
                                 {"load_bytes", packing.load},
                                 {"seconds", packing.seconds}};
  if (capacity > 0) {
    json["capacity_bytes"] = capacity;
    json["met"] = packing.peak <= capacity;
  }
  return json.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

std::string to_line(const Packing& packing) {
  const int64_t gap = packing.peak - packing.load;
  return fmt::format("{} buffers: arena {} ({} bytes) · load {} ({} bytes) · gap {:.2f} %\n",
                     format_count(static_cast<int64_t>(packing.offsets.size())), format_bytes(packing.peak),
                     format_count(packing.peak), format_bytes(packing.load), format_count(packing.load),
                     packing.load > 0 ? 100.0 * static_cast<double>(gap) / static_cast<double>(packing.load) : 0.0);
}

Outcome plan(const PlanOptions& options) {
  int64_t capacity = 0;  // none
  if (!options.capacity.empty()) {
    LT_TRY(capacity, parse_size(options.capacity));
    if (capacity <= 0) return usage_error("--capacity: expected more than 0 bytes");
  }
  LT_DO(check_outputs({{"BUFFERS", options.input}}, {{"-o", options.output}}));
  LT_TRY(const Session session, open_session());
  LT_TRY(const std::string table, read_file(options.input));
  LT_TRY(const Packing packing, session.pack(table, capacity, options.input));
  const bool met = capacity == 0 || packing.peak <= capacity;
  if (met && !options.output.empty()) LT_DO(write_output(session, options.output, packing.table));
  Outcome verdict;
  if (!met) {
    verdict = Error{ErrorKind::kLimit,
                    packing.load > capacity
                        ? fmt::format("no packing fits into {} bytes: {} are alive at once; best found {} bytes",
                                      capacity, packing.load, packing.peak)
                        : fmt::format("no packing into {} bytes was found: best {} bytes, none below {}", capacity,
                                      packing.peak, packing.load)};
  }
  if (options.json) return write_json(to_json(packing, capacity), verdict);
  if (options.output != "-") LT_DO(print_stdout(to_line(packing)));
  return verdict;
}

}  // namespace

void add_plan(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<PlanOptions>();
  CLI::App* command = app.add_subcommand("plan", "pack buffers with lifetimes into one arena");
  command->add_option("BUFFERS", options->input, "CSV with the columns id,lower,upper,size[,alignment][,gaps]")
      ->required();
  command->add_option("--capacity", options->capacity, "exit code 4 if no packing is found within this SIZE");
  command->add_option("-o", options->output, "the same CSV with a column offset; - for stdout");
  command->add_flag("--json", options->json, "print JSON, schema_version 1");
  command->callback([options, &exit_code] { exit_code = finish(plan(*options), options->json); });
}

}  // namespace lowtide::command
