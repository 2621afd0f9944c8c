/// lowtide run: execute a program on given or seeded arguments, and check its results.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "answer.h"
#include "commands.h"
#include "lowtide/words.h"
#include "output.h"
#include "run_options.h"
#include "usage.h"

namespace lowtide::command {
namespace {

constexpr size_t kDifferencesShown = 12;

std::string to_json(const RunReport& r) {
  nlohmann::ordered_json json = {{"schema_version", 1}};
  if (!r.module.empty()) {
    json["module"] = r.module;
    json["instructions"] = r.instructions;
  }
  if (r.sizes) {
    json["argument_bytes"] = r.sizes->arguments;
    json["output_bytes"] = r.sizes->outputs;
    json["alias_bytes"] = r.sizes->alias;
    json["temp_bytes"] = r.sizes->temp;
    json["peak_bytes"] = r.sizes->peak;
    json["load_bytes"] = r.sizes->load;
    if (r.sizes->host > 0) json["host_bytes"] = r.sizes->host;
  }
  const auto add = [&](const char* key, const auto& figure) {
    if (figure) json[key] = *figure;
  };
  add("limit_bytes", r.limit_bytes);
  add("best_peak_bytes", r.best_peak_bytes);
  add("floor_order_bytes", r.floor_order_bytes);
  add("floor_any_bytes", r.floor_any_bytes);
  add("kernels", r.kernels);
  add("interpreted_steps", r.interpreted_steps);
  add("threads", r.threads);
  add("plan_seconds", r.plan_seconds);
  add("compile_seconds", r.compile_seconds);
  add("modelled_seconds", r.modelled_seconds);
  json["executor"] = r.interpreted ? "interpreter" : "cpu";
  json["exact"] = r.exact;
  if (!r.run_seconds.empty()) json["run_seconds"] = r.run_seconds;
  add("measured_peak_bytes", r.measured_peak_bytes);
  if (r.profile) json["profile"] = nlohmann::ordered_json::parse(r.profile->json());
  if (r.comparison) {
    json["max_abs_error"] = r.comparison->all.max_abs_error;
    json["max_ulp"] = r.comparison->all.max_ulp;
    json["mismatches"] = r.comparison->all.mismatches;
    json["differences"] = nlohmann::ordered_json::array();
    for (const ResultDifference& d : r.comparison->differences) {
      nlohmann::ordered_json one = {{"name", d.name}};
      if (!d.path.empty()) one["path"] = d.path;
      one["shape"] = d.shape;
      one["elements"] = d.elements;
      one["mismatches"] = d.comparison.mismatches;
      one["max_abs_error"] = d.comparison.max_abs_error;
      one["max_ulp"] = d.comparison.max_ulp;
      one["first"] = d.comparison.first;
      json["differences"].push_back(std::move(one));
    }
  }
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

std::string to_text(const RunReport& r) {
  const Sizes sizes = r.sizes.value_or(Sizes());
  std::string text =
      fmt::format("{} · {} instructions · arguments {} · results {}", r.module, format_count(r.instructions),
                  format_bytes(sizes.arguments), format_bytes(sizes.outputs));
  const double best = *std::ranges::min_element(r.run_seconds);
  if (r.interpreted) {
    text += fmt::format(" · {:.3g} ms interpreted\n", 1e3 * best);
  } else {
    text += fmt::format("\npeak {} = arguments {} + results {} - shared {} + temp {} · touched {}\n",
                        format_bytes(sizes.peak), format_bytes(sizes.arguments), format_bytes(sizes.outputs),
                        format_bytes(sizes.alias), format_bytes(sizes.temp),
                        format_bytes(r.measured_peak_bytes.value_or(0)));
    text += fmt::format("{} kernels · plan {:.3g} ms · compile {:.3g} ms · run {:.3g} ms\n", r.kernels.value_or(0),
                        1e3 * r.plan_seconds.value_or(0), 1e3 * r.compile_seconds.value_or(0), 1e3 * best);
    if (r.interpreted_steps.value_or(0) > 0) {
      text += fmt::format("interpreted: {} operations, which have no code yet\n", *r.interpreted_steps);
    }
  }
  for (const std::string& line : r.results) text += line + "\n";
  if (r.profile) text += "\n" + r.profile->text();
  if (r.comparison && r.comparison->all.agrees()) {
    text += fmt::format("as expected: largest error {:.3g}, {} ulp\n", r.comparison->all.max_abs_error,
                        r.comparison->all.max_ulp);
  }
  return text;
}

std::string list_differences(const std::vector<ResultDifference>& differences) {
  std::string text;
  for (size_t k = 0; k < std::min(kDifferencesShown, differences.size()); ++k) {
    const ResultDifference& d = differences[k];
    text += fmt::format("\n  {}{} {}: {} of {} elements, largest error {:.3g}, {} ulp, first {}", d.name,
                        d.path.empty() ? "" : " (" + d.path + ")", d.shape, format_count(d.comparison.mismatches),
                        format_count(d.elements), d.comparison.max_abs_error, d.comparison.max_ulp, d.comparison.first);
  }
  if (differences.size() > kDifferencesShown) {
    text += fmt::format("\n  and {} results more", differences.size() - kDifferencesShown);
  }
  return text;
}

Outcome print_report(const RunReport& report, bool json) {
  Outcome verdict;
  if (report.comparison && !report.comparison->all.agrees()) {
    const Comparison& all = report.comparison->all;
    verdict = Error{ErrorKind::kWrongValues, fmt::format("{} elements differ; first {}{}", all.mismatches, all.first,
                                                         list_differences(report.comparison->differences))};
  }
  if (json) return write_json(to_json(report), verdict);
  LT_DO(print_stdout(to_text(report)));
  return verdict;
}

Outcome run(const RunOptions& options) {
  RunReport report;
  Outcome executed = check_outputs(
      {{"INPUT", options.input}, {"--inputs", options.inputs}, {"--expect", options.expect}, {"--plan", options.plan}},
      {{"--outputs", options.outputs}, {"--trace", options.trace}});
  if (executed.ok()) executed = execute(options, report);
  if (executed.ok()) return print_report(report, options.json);
  return options.json ? write_json(to_json(report), executed) : executed;
}

}  // namespace

void add_run(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* command =
      app.add_subcommand("run", "execute a program in exactly the planned memory, and judge its results");
  command
      ->add_option("INPUT", options->input,
                   "HLO or StableHLO text, bytecode or a protobuf, gzipped or not, a dump directory, or -")
      ->required();
  command->add_option(
      "--inputs", options->inputs,
      "arguments, by number (arg0, arg1, ...) or by tree path (safetensors, .npz); default: seeded numbers");
  command->add_option("--outputs", options->outputs, "write the results out0, out1, ... (safetensors)");
  command->add_option("--expect", options->expect,
                      "compare with out0, out1, ... or results by path (safetensors, .npz); exit code 5 when they "
                      "differ. Floats agree when "
                      "|x - y| <= rtol |y| + atol_of_max max|y|");
  command->add_option("--rtol", options->rtol, "default: the expected file's __metadata__, else 0");
  command->add_option("--atol-of-max", options->atol_of_max, "default: the expected file's __metadata__, else 0");
  command->add_option("--seed", options->seed, "the seed of the arguments that no file gives")->capture_default_str();
  command
      ->add_option("--repeat", options->repeat,
                   "run N times and time each run; donated arguments are restored before each")
      ->check(CLI::Range(1, 1'000'000));
  CLI::Option* limit = command->add_option("--limit", options->limit, "the largest peak allowed (SIZE), as for fit");
  CLI::Option* plan = command->add_option("--plan", options->plan, "decisions that fit --plan wrote for this program");
  limit->excludes(plan);
  CLI::Option* exact = add_exact(*command, options->exact);
  add_machine(*command, options->machine);
  CLI::Option* interpret = command->add_flag("--interpret", options->interpret,
                                             "run by the definitions instead: exact, slow, in memory of its own");
  interpret->excludes(limit)->excludes(plan)->excludes(exact);
  command->add_flag("--profile", options->profile, "run as often again, and print where the time goes, step by step")
      ->excludes(interpret);
  command->add_option("--trace", options->trace, "write the steps of one run to FILE, which ui.perfetto.dev opens")
      ->excludes(interpret);
  command->add_flag("--json", options->json, "print one JSON object");
  command->callback([options, &exit_code] { exit_code = finish(run(*options), options->json); });
}

}  // namespace lowtide::command
