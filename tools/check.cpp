/// lowtide check INPUT --max-peak SIZE: a gate on the memory that a program needs as given.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "answer.h"
#include "command_session.h"
#include "commands.h"
#include "lowtide/words.h"
#include "output.h"

namespace lowtide::command {
namespace {

struct CheckOptions {
  std::string input, max_peak;
  bool json = false;
};

std::string to_json(const Explanation& report, int64_t peak, int64_t limit) {
  const nlohmann::ordered_json json = {{"schema_version", 1},
                                       {"module", report.module},
                                       {"max_peak_bytes", limit},
                                       {"met", peak <= limit},
                                       {"input_peak_bytes", peak},
                                       {"peak_bytes", report.ours.peak},
                                       {"floor_order_bytes", report.floor_order.bytes},
                                       {"floor_any_bytes", report.floor_any.bytes},
                                       {"before_partitioning", report.before_partitioning},
                                       {"warnings", report.warnings}};
  return json.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

std::string to_line(const Explanation& report, int64_t peak, int64_t limit) {
  // Before partitioning, the final operations aren't known.
  const std::string orders =
      report.before_partitioning
          ? fmt::format(" · one device of {}, before partitioning", report.devices)
          : fmt::format(" · no order of these operations below {}", format_bytes(report.floor_order.bytes));
  return fmt::format("{}: peak {} ({} bytes) {} {} · best found {}{} · no executor below {}\n", report.module,
                     format_bytes(peak), format_count(peak), peak <= limit ? "is within" : "exceeds",
                     format_bytes(limit), format_bytes(report.ours.peak), orders, format_bytes(report.floor_any.bytes));
}

Outcome check(const CheckOptions& options) {
  LT_TRY(const int64_t limit, parse_size(options.max_peak));
  LT_TRY(const Session session, open_session());
  LT_TRY(Module module, session.read(options.input));
  LT_TRY(const Explanation report, session.explain(std::move(module)));
  const int64_t peak = report.xla_peak.value_or(report.given.peak);
  Outcome verdict;
  if (peak > limit) {
    verdict = Error{ErrorKind::kLimit,
                    fmt::format("the peak exceeds {} by {}", format_bytes(limit), format_bytes(peak - limit))};
  }
  if (options.json) return write_json(to_json(report, peak, limit), verdict);
  LT_DO(print_stdout(to_line(report, peak, limit)));
  return verdict;
}

}  // namespace

void add_check(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<CheckOptions>();
  CLI::App* command = app.add_subcommand("check", "exit code 4 if the program's peak exceeds a size");
  command->add_option("INPUT", options->input, "the program")->required();
  command->add_option("--max-peak", options->max_peak, "SIZE")->required();
  command->add_flag("--json", options->json, "print JSON, schema_version 1");
  command->callback([options, &exit_code] { exit_code = finish(check(*options), options->json); });
}

}  // namespace lowtide::command
