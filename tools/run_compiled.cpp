// lowtide run: plan, compile, bind memory, run.
#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "analysis/account.h"
#include "analysis/partitioning.h"
#include "base/debug.h"
#include "base/memory.h"
#include "base/progress.h"
#include "base/sizes.h"
#include "codegen/kernel.h"
#include "codegen/kernel_cache.h"
#include "compile/frontier.h"
#include "ops/verify.h"
#include "report/tensor_names.h"
#include "run_options.h"
#include "runtime/bindings.h"
#include "runtime/executable.h"
#include "runtime/runnable.h"
#include "schedule/modelled_time.h"
#include "target/cpu.h"
#include "text/file.h"
#include "text/input.h"

namespace lowtide {
namespace {

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// Refuses what can't be held before the machine starts to swap.
Status check_memory(const Program& program) {
  const AvailableMemory available = available_memory();
  if (program.peak_bytes() <= available.bytes) return {};
  return {
      Fault::kLimit,
      fmt::format("the program needs {} ({} bytes: arguments {}, results {}, shared by both {}, temp {}); {} has {} "
                  "left",
                  format_bytes(program.peak_bytes()), program.peak_bytes(), format_bytes(program.argument_bytes),
                  format_bytes(program.output_bytes), format_bytes(program.alias_bytes),
                  format_bytes(program.temp_bytes), available.bound_by, format_bytes(available.bytes))};
}

/// Names what was found for a module and a limit by this very build on such a machine: another search may find another
/// plan. (The cache knows of passes that are disabled.)
Result<TextHash> key_of_plan(const Module& module, std::optional<int64_t> limit) {
  LT_ASSIGN_OR_RETURN(const std::string target, kernel_target({}));
  return hash_text(fmt::format("plan\n{}{} {}\n{}", print_plan(module, {}), limit.value_or(-1), build_id(), target));
}

/// What was kept says what to do, and planning proves once more that it may be done; a plan that turns out to need more
/// than there is, or that can't be made, is searched for again.
std::optional<Compiled> kept_plan(const std::string& text, const Module& module, std::optional<int64_t> limit) {
  const auto known = parse_plan(text, module);
  if (!known.ok() || known->exact != module.sums_in_order) return {};
  auto compiled = compile_plan(module, cpu_target(), known->decisions, {.trusted = true});
  const int64_t most = std::min(limit.value_or(INT64_MAX), available_memory().bytes);
  if (!compiled.ok() || compiled->program->peak_bytes() > most) return {};
  return compiled.take();
}

/// Searched once: what was found is kept beside the kernels.
Result<Compiled> plan_within(const Module& module, std::optional<int64_t> limit, RunReport& report) {
  const KernelCache cache(is_debugging() || build_id().empty() ? "" : kernel_cache_directory());
  LT_ASSIGN_OR_RETURN(const TextHash key, key_of_plan(module, limit));
  if (const auto text = cache.find(key)) {
    if (auto kept = kept_plan(*text, module, limit)) return std::move(*kept);
  }
  auto found = compile_within(module, cpu_target(), limit, &report.best_peak_bytes);
  if (report.best_peak_bytes) report.limit_bytes = limit;
  LT_ASSIGN_OR_RETURN(Compiled compiled, std::move(found));
  cache.store(key, print_plan(module, compiled.replay));
  return compiled;
}

/// The free plan, or the one that the options ask for.
Result<Compiled> plan(Module& module, const RunOptions& options, RunReport& report) {
  module.sums_in_order = options.exact;
  if (!options.plan.empty()) {
    LT_ASSIGN_OR_RETURN(const std::string text, read_bytes(options.plan));
    const auto file = parse_plan(text, module);
    if (!file.ok()) return Status(file.status().fault(), options.plan + ": " + file.status().message());
    if (options.exact && !file->exact) {
      return Status::input(options.plan +
                           ": --exact: the plan makes sums in another order; expected one that fit --exact --plan "
                           "wrote, with a line `exact`");
    }
    module.sums_in_order = file->exact;
    return compile_plan(module, cpu_target(), file->decisions);
  }
  std::optional<int64_t> limit;
  if (!options.limit.empty()) {
    LT_ASSIGN_OR_RETURN(limit, parse_size(options.limit));
  }
  return plan_within(module, limit, report);
}

/// Plans and compiles; everything that only planning needs is gone afterwards.
Result<std::unique_ptr<Executable>> prepare(const RunOptions& options, RunReport& report) {
  LT_ASSIGN_OR_RETURN(const Input input, read_input(options.input));
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
  report.modelled_seconds = 1e-9 * modelled_ns(program, cpu_target().cost());
  if (!program.refused.empty()) {
    fmt::print(stderr, "warning: values don't share memory: a plan in which they did was refused ({})\n",
               program.refused);
  }
  LT_RETURN_IF_ERROR(can_run(program));  // on no machine: before what this one lacks
  LT_RETURN_IF_ERROR(check_memory(program));
  const auto start = Clock::now();
  LT_ASSIGN_OR_RETURN(auto executable, Executable::make(compiled.program, {}, compiled.nests.get()));
  report.compile_seconds = seconds_since(start);
  report.interpreted_steps = executable->interpreted();
  return executable;
}

std::vector<const void*> addresses_of(const Executable& executable) {
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
  LT_ASSIGN_OR_RETURN(const std::unique_ptr<Executable> executable, prepare(options, report));
  ::malloc_trim(0);  // what planning took is not held beside the arena

  const Program& program = executable->program();
  ThreadPool pool;
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
  Stage stage("running", options.repeat);
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

}  // namespace lowtide
