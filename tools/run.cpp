/// lowtide run: execute a program on given or seeded arguments, and judge its results.

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>

#include "analysis/account.h"
#include "base/files.h"
#include "base/sizes.h"
#include "commands.h"
#include "interp/compare.h"
#include "interp/interpreter.h"
#include "text/input.h"
#include "text/safetensors.h"

namespace lowtide {
namespace {

struct RunOptions {
  std::string input, inputs, outputs, expect;
  std::optional<double> rtol, atol_of_max;
  uint64_t seed = 0;
  int repeat = 1;
  bool interpret = false;
  bool json = false;
};

/// The tensors of a value whose leaves are named arg<next>, arg<next+1>, ...; tuples are built from theirs.
Result<Value> value_from(const TensorFile& file, const Shape& shape, int64_t& next) {
  if (!shape.is_tuple()) {
    if (shape.is_array()) return file.load_as(fmt::format("arg{}", next++), shape);
    if (shape.type == ElementType::kToken) return Value(std::make_shared<Literal>(Literal::token()));
    return Status::unsupported(fmt::format("an argument of type {} can't be given in a file", to_string(shape)));
  }
  std::vector<Value> parts;
  for (const Shape& element : shape.elements) {
    LT_ASSIGN_OR_RETURN(Value part, value_from(file, element, next));
    parts.push_back(std::move(part));
  }
  return Value(std::make_shared<Literal>(std::move(parts)));
}

Result<std::vector<Value>> arguments_for(const Module& module, const RunOptions& options) {
  if (options.inputs.empty()) return seeded_arguments(module, options.seed);
  LT_ASSIGN_OR_RETURN(const TensorFile file, TensorFile::open(options.inputs));
  std::vector<Value> arguments;
  int64_t next = 0;
  for (const Instruction* parameter : module.entry->parameters()) {
    LT_ASSIGN_OR_RETURN(Value argument, value_from(file, parameter->shape, next));
    arguments.push_back(std::move(argument));
  }
  if (const int64_t given = file.count_of("arg"); given > next) {
    return Status::input(fmt::format("{}: {} arguments, but the program takes {}", options.inputs, given, next));
  }
  return arguments;
}

/// A number from `__metadata__`; nothing where it is absent.
Result<std::optional<double>> number_in(const TensorFile& file, const std::string& key) {
  const auto found = file.metadata().find(key);
  if (found == file.metadata().end()) return std::optional<double>();
  char* end = nullptr;
  const double number = std::strtod(found->second.c_str(), &end);
  if (end == found->second.c_str() || *end != '\0' || !(number >= 0)) {
    return Status::input(fmt::format("__metadata__: {} is \"{}\", expected a number", key, found->second));
  }
  return std::optional(number);
}

Result<Comparison> compare_with_file(const std::vector<Value>& results, const RunOptions& options) {
  LT_ASSIGN_OR_RETURN(const TensorFile file, TensorFile::open(options.expect));
  LT_ASSIGN_OR_RETURN(const auto rtol, number_in(file, "rtol"));
  LT_ASSIGN_OR_RETURN(const auto atol_of_max, number_in(file, "atol_of_max"));
  const Tolerance tolerance{.rtol = options.rtol.value_or(rtol.value_or(0)),
                            .atol_of_max = options.atol_of_max.value_or(atol_of_max.value_or(0))};
  std::vector<Value> wanted;
  for (size_t i = 0; i < results.size(); ++i) {
    const Shape& shape = results[i]->shape();
    if (!shape.is_array()) {
      wanted.push_back(results[i]);
      continue;
    }
    LT_ASSIGN_OR_RETURN(Value value, file.load_as(fmt::format("out{}", i), shape));
    wanted.push_back(std::move(value));
  }
  if (const auto given = static_cast<size_t>(file.count_of("out")); given > results.size()) {
    return Status::input(fmt::format("{}: {} results, but the program has {}", options.expect, given, results.size()));
  }
  return compare_results(results, wanted, tolerance);
}

Status write_results(const std::vector<Value>& results, const std::string& path) {
  NamedTensors tensors;
  for (size_t i = 0; i < results.size(); ++i) {
    if (results[i]->shape().is_array()) tensors.emplace_back(fmt::format("out{}", i), results[i]);
  }
  return write_safetensors(path, tensors);
}

/// "out0 f32[2,3]  least -0.25, mean 0.125, greatest 4", for the reader who wants to see that something came out.
std::string summary(size_t i, const Literal& value) {
  std::string line = fmt::format("  out{:<4} {:<28}", i, to_string_without_layout(value.shape()));
  if (!value.shape().is_array() || !value.known() || value.size() == 0 || is_complex(value.shape().type)) return line;
  if (value.size() == 1) return line + fmt::format(" {}", number_at(value, 0));
  double least = INFINITY, greatest = -INFINITY, sum = 0;
  int64_t nans = 0;
  for (int64_t e = 0; e < value.size(); ++e) {
    const double x = number_at(value, e);
    nans += std::isnan(x);
    if (std::isnan(x)) continue;
    least = std::min(least, x);
    greatest = std::max(greatest, x);
    sum += x;
  }
  if (nans < value.size()) {
    line += fmt::format(" least {:.6g}, mean {:.6g}, greatest {:.6g}", least,
                        sum / static_cast<double>(value.size() - nans), greatest);
  }
  return nans > 0 ? line + fmt::format(", {} NaN", nans) : line;
}

/// Refuses what can't be held before the machine starts to swap.
Status check_memory(const Account& account) {
  const int64_t machine = static_cast<int64_t>(::sysconf(_SC_PHYS_PAGES)) * ::sysconf(_SC_PAGE_SIZE);
  if (account.peak_bytes() <= machine) return {};
  return {Fault::kLimit, fmt::format("the program needs {} as given; this machine has {}",
                                     format_bytes(account.peak_bytes()), format_bytes(machine))};
}

Result<std::vector<Value>> run_once(const Module& module, const std::vector<Value>& arguments, double& seconds) {
  const auto start = std::chrono::steady_clock::now();
  try {
    auto results = interpret(module, arguments);
    seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return results;
  } catch (const std::bad_alloc&) {
    return Status(Fault::kLimit, "out of memory");
  }
}

Status run(const RunOptions& options) {
  LT_ASSIGN_OR_RETURN(const Input input, read_input(options.input));
  for (const std::string& warning : input.warnings) fmt::print(stderr, "warning: {}\n", warning);
  const Module& module = *input.module;
  const Account account = account_for(module, AccountMode::kAsGiven);
  LT_RETURN_IF_ERROR(check_memory(account));
  LT_ASSIGN_OR_RETURN(const std::vector<Value> arguments, arguments_for(module, options));

  std::vector<double> seconds;
  std::vector<Value> results;
  for (int i = 0; i < options.repeat; ++i) {
    LT_ASSIGN_OR_RETURN(results, run_once(module, arguments, seconds.emplace_back()));
  }
  if (!options.outputs.empty()) LT_RETURN_IF_ERROR(write_results(results, options.outputs));
  std::optional<Comparison> comparison;
  if (!options.expect.empty()) {
    LT_ASSIGN_OR_RETURN(comparison, compare_with_file(results, options));
  }

  if (options.json) {
    nlohmann::ordered_json report = {{"schema_version", 1},
                                     {"module", module.name},
                                     {"instructions", module.instruction_count()},
                                     {"argument_bytes", account.argument_bytes},
                                     {"output_bytes", account.output_bytes},
                                     {"alias_bytes", account.alias_bytes},
                                     {"temp_bytes", account.temp_bytes},
                                     {"peak_bytes", account.peak_bytes()},
                                     {"load_bytes", account.load_bytes},
                                     {"executor", "interpreter"},
                                     {"run_seconds", seconds}};
    if (comparison) {
      report["max_abs_error"] = comparison->max_abs_error;
      report["max_ulp"] = comparison->max_ulp;
      report["mismatches"] = comparison->mismatches;
    }
    using Json = nlohmann::ordered_json;
    LT_RETURN_IF_ERROR(write_stdout(report.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"));
  } else {
    std::string text =
        fmt::format("{} · {} instructions · arguments {} · results {} · {:.3g} ms interpreted\n", module.name,
                    format_count(module.instruction_count()), format_bytes(account.argument_bytes),
                    format_bytes(account.output_bytes), 1e3 * *std::min_element(seconds.begin(), seconds.end()));
    constexpr size_t kShown = 12;
    for (size_t i = 0; i < std::min(results.size(), kShown); ++i) text += summary(i, *results[i]) + "\n";
    if (results.size() > kShown) text += fmt::format("  and {} more\n", results.size() - kShown);
    if (comparison && comparison->agrees()) {
      text +=
          fmt::format("as expected: largest error {:.3g}, {} ulp\n", comparison->max_abs_error, comparison->max_ulp);
    }
    LT_RETURN_IF_ERROR(write_stdout(text));
  }
  if (comparison && !comparison->agrees()) {
    return {Fault::kWrongValues,
            fmt::format("{} elements differ; first {}", comparison->mismatches, comparison->first)};
  }
  return {};
}

}  // namespace

void add_run(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* command = app.add_subcommand(
      "run",
      "execute a program and judge its results; this version runs every program in the interpreter: exact and slow");
  command->add_option("INPUT", options->input, "HLO text or protobuf, gzipped or not, a dump directory, or -")
      ->required();
  command->add_option("--inputs", options->inputs, "arguments arg0, arg1, ... (safetensors); default: seeded numbers");
  command->add_option("--outputs", options->outputs, "write the results out0, out1, ... (safetensors)");
  command->add_option("--expect", options->expect,
                      "compare with out0, out1, ...; exit code 5 when they differ. Floats agree when "
                      "|x - y| <= rtol |y| + atol_of_max max|y|");
  command->add_option("--rtol", options->rtol, "default: the expected file's __metadata__, else 0")
      ->check(CLI::NonNegativeNumber);
  command->add_option("--atol-of-max", options->atol_of_max, "default: the expected file's __metadata__, else 0")
      ->check(CLI::NonNegativeNumber);
  command->add_option("--seed", options->seed, "of the seeded arguments")->capture_default_str();
  command->add_option("--repeat", options->repeat, "run N times and time each")->check(CLI::Range(1, 1'000'000));
  command->add_flag("--interpret", options->interpret,
                    "run in the interpreter, which is what this version does anyway");
  command->add_flag("--json", options->json, "print one JSON object");
  command->callback([options, &exit_code] { exit_code = finish(run(*options)); });
}

}  // namespace lowtide
