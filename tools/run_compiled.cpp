// lowtide run: plan, compile, bind memory, run.
#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "analysis/account.h"
#include "analysis/partitioning.h"
#include "backend/cpu/cpu_backend.h"
#include "base/memory.h"
#include "base/sizes.h"
#include "codegen/kernel.h"
#include "command_context.h"
#include "compile/frontier.h"
#include "compile/load.h"
#include "ops/verify.h"
#include "report/tensor_names.h"
#include "run_options.h"
#include "runtime/bindings.h"
#include "runtime/runnable.h"
#include "schedule/modelled_time.h"
#include "session/prepare.h"
#include "text/file.h"
#include "text/input.h"

namespace lowtide::engine {
namespace {

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// The free plan, or the one that the options ask for.
Result<Compiled> plan(Module& module, const RunOptions& options, RunReport& report) {
  module.sums_in_order = options.exact;
  if (!options.plan.empty()) {
    LT_ASSIGN_OR_RETURN(const std::string text, read_bytes(options.plan));
    return plan_from_text(module, text, options.plan);
  }
  std::optional<int64_t> limit;
  if (!options.limit.empty()) {
    LT_ASSIGN_OR_RETURN(limit, parse_size(options.limit));
  }
  auto planned = kept_plan_within(module, limit, &report.best_peak_bytes);
  if (report.best_peak_bytes) report.limit_bytes = limit;
  return planned;
}

/// Plans and compiles; everything that only planning needs is gone afterwards.
Result<std::unique_ptr<LoadedProgram>> prepare(const RunOptions& options, RunReport& report) {
  LT_ASSIGN_OR_RETURN(const Input input, read_input(options.input, InputStage::kLatest, command_context()));
  for (const std::string& warning : input.warnings) fmt::print(stderr, "warning: {}\n", warning);
  Module& module = *input.module;
  if (std::string why = why_of_many(module); !why.empty()) return Status::unsupported(std::move(why));
  LT_RETURN_IF_ERROR(verify_runnable(module));
  report.module = module.name;
  report.instructions = module.instruction_count();
  report.argument_paths = argument_paths(module);
  report.result_paths = result_paths(module);
  if (options.json) {
    report.floor_order_bytes = floor_order(module).bytes;
    report.floor_any_bytes = floor_any(module).bytes;
  }
  LT_ASSIGN_OR_RETURN(const Compiled compiled, plan(module, options, report));
  report.exact = module.sums_in_order;
  const Program& program = *compiled.program;
  report.argument_bytes = program.argument_bytes;
  report.output_bytes = program.output_bytes;
  report.alias_bytes = program.alias_bytes;
  report.temp_bytes = program.temp_bytes;
  report.load_bytes = program.load_bytes;
  report.planned = true;
  report.kernels = program.kernels;
  report.plan_seconds = compiled.plan_seconds;
  report.modelled_seconds = 1e-9 * modelled_ns(program, compiled.target->cost());
  if (!program.refused.empty()) {
    fmt::print(stderr, "warning: values don't share memory: a plan in which they did was refused ({})\n",
               program.refused);
  }
  LT_RETURN_IF_ERROR(can_run(program, *compiled.target));  // on no machine: before what this one lacks
  LT_RETURN_IF_ERROR(check_memory(program));
  const auto start = Clock::now();
  LT_ASSIGN_OR_RETURN(auto executable, load_program(compiled, cpu_backend()));
  report.compile_seconds = seconds_since(start);
  report.interpreted_steps = executable->interpreted();
  return executable;
}

std::vector<const void*> addresses_of(const LoadedProgram& executable) {
  std::vector<const void*> addresses;
  for_each_leaf(executable.program().module->entry->root->shape,
                [&](const ShapeIndex&, const Shape&) { addresses.push_back(executable.result(addresses.size())); });
  return addresses;
}

std::vector<ResultArray> results_of(const Program& program, const std::vector<const void*>& addresses,
                                    const std::vector<std::string>& paths) {
  std::vector<ResultArray> results;
  size_t leaf = 0;
  for_each_leaf(program.module->entry->root->shape, [&](const ShapeIndex&, const Shape& shape) {
    const auto* const bytes = static_cast<const std::byte*>(addresses[leaf++]);
    if (shape.is_array())
      results.push_back({static_cast<int64_t>(results.size()), paths[results.size()], shape, bytes});
  });
  return results;
}

}  // namespace

Status run_compiled(const RunOptions& options, RunReport& report) {
  LT_ASSIGN_OR_RETURN(const std::unique_ptr<LoadedProgram> executable, prepare(options, report));
  ::malloc_trim(0);  // what planning took is not held beside the arena

  const Program& program = executable->program();
  ThreadPool& pool = command_context()->pool();
  report.threads = pool.threads();
  BindingSources sources{.seed = options.seed};
  std::optional<TensorFile> inputs;
  if (!options.inputs.empty()) {
    LT_ASSIGN_OR_RETURN(inputs, TensorFile::open(options.inputs));
    LT_RETURN_IF_ERROR(name_by_number(*inputs, "arg", report.argument_paths));
    sources.inputs = &*inputs;
  }
  std::optional<TensorWriter> outputs;
  if (!options.outputs.empty()) {
    auto writer = TensorWriter::create(options.outputs, result_tensors(program), names_of_results(report.result_paths));
    if (!writer.ok()) return writer.status();
    outputs.emplace(writer.take());
    sources.outputs = &*outputs;
  }
  LT_ASSIGN_OR_RETURN(Bindings bindings, Bindings::make(program, sources, pool));
  Stage stage(command_context()->progress(), "running", options.repeat);
  for (int i = 0; i < options.repeat; ++i) {
    if (i > 0) LT_RETURN_IF_ERROR(bindings.restore(pool));
    const auto start = Clock::now();
    LT_RETURN_IF_ERROR(executable->run(bindings.memory(), pool));
    report.run_seconds.push_back(seconds_since(start));
  }
  if (inputs) LT_RETURN_IF_ERROR(inputs->check_unchanged());
  report.measured_peak_bytes = executable->arena_touched_bytes() + bindings.touched_bytes();
  const std::vector<const void*> addresses = addresses_of(*executable);
  const std::vector<ResultArray> results = results_of(program, addresses, report.result_paths);
  if (!options.expect.empty()) {
    LT_RETURN_IF_ERROR(compare_with_file(results, options, report));
  }
  if (!options.json) report.results = summaries(results, pool);
  if (outputs) {
    bindings.collect(addresses, pool);
    LT_RETURN_IF_ERROR(outputs->commit());
  }
  return finish_run(report, options.json);
}

}  // namespace lowtide::engine
