// lowtide run --interpret: by the definitions.
#include <fmt/format.h>

#include <chrono>
#include <cstdio>

#include "analysis/account.h"
#include "analysis/partitioning.h"
#include "base/memory.h"
#include "base/sizes.h"
#include "command_context.h"
#include "interp/interpreter.h"
#include "ops/verify.h"
#include "report/tensor_names.h"
#include "run_options.h"
#include "text/input.h"

namespace lowtide::engine {
namespace {

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

Result<std::vector<Value>> arguments_for(const Module& module, const RunOptions& options, const RunReport& report) {
  if (options.inputs.empty()) return seeded_arguments(module, options.seed);
  LT_ASSIGN_OR_RETURN(TensorFile file, TensorFile::open(options.inputs));
  LT_RETURN_IF_ERROR(name_by_number(file, "arg", report.argument_paths));
  std::vector<Value> arguments;
  int64_t next = 0;
  for (const Instruction* parameter : module.entry->parameters()) {
    LT_ASSIGN_OR_RETURN(Value argument, value_from(file, parameter->shape, next));
    arguments.push_back(std::move(argument));
  }
  LT_RETURN_IF_ERROR(file.check_unchanged());
  if (const int64_t given = file.count_of("arg"); given > next) {
    return Status::input(fmt::format("{}: {} arguments, but the program takes {}", options.inputs, given, next));
  }
  return arguments;
}

/// Refuses what can't be held before the machine starts to swap.
Status check_memory(const Account& account) {
  const AvailableMemory available = available_memory();
  if (account.peak_bytes() <= available.bytes) return {};
  return {Fault::kLimit,
          fmt::format("the program needs {} as given; {} has {} left", format_bytes(account.peak_bytes()),
                      available.bound_by, format_bytes(available.bytes))};
}

}  // namespace

Status run_interpreted(const RunOptions& options, RunReport& report) {
  LT_ASSIGN_OR_RETURN(const Input input, read_input(options.input, InputStage::kLatest, command_context()));
  for (const std::string& warning : input.warnings) fmt::print(stderr, "warning: {}\n", warning);
  if (std::string why = why_of_many(*input.module); !why.empty()) return Status::unsupported(std::move(why));
  const Module& module = *input.module;
  LT_RETURN_IF_ERROR(verify_runnable(module));
  const Account account = account_for(module, AccountMode::kAsGiven);
  report.module = module.name;
  report.instructions = module.instruction_count();
  report.interpreted = true;
  report.argument_paths = argument_paths(module);
  report.result_paths = result_paths(module);
  report.argument_bytes = account.argument_bytes;
  report.output_bytes = account.output_bytes;
  report.alias_bytes = account.alias_bytes;
  report.temp_bytes = account.temp_bytes;
  report.load_bytes = account.load_bytes;
  report.planned = true;
  LT_RETURN_IF_ERROR(check_memory(account));
  LT_ASSIGN_OR_RETURN(const std::vector<Value> arguments, arguments_for(module, options, report));
  std::vector<Value> results;
  Stage stage(command_context()->progress(), "interpreting", options.repeat);
  for (int i = 0; i < options.repeat; ++i) {
    const auto start = std::chrono::steady_clock::now();
    LT_ASSIGN_OR_RETURN(results, interpret(module, arguments));
    report.run_seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  std::vector<ResultArray> arrays;
  NamedTensors tensors;
  for (const Value& result : results) {
    const auto number = static_cast<int64_t>(arrays.size());
    arrays.push_back({number, report.result_paths[arrays.size()], result->shape(), result->bytes().data()});
    tensors.emplace_back(fmt::format("out{}", number), result);
  }
  if (!options.outputs.empty())
    LT_RETURN_IF_ERROR(write_safetensors(options.outputs, tensors, names_of_results(report.result_paths)));
  if (!options.expect.empty()) {
    LT_RETURN_IF_ERROR(compare_with_file(arrays, options, report));
  }
  if (!options.json) report.results = summaries(arrays, command_context()->pool());
  return finish_run(report, options.json);
}

}  // namespace lowtide::engine
