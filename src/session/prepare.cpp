#include "session/prepare.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/partitioning.h"
#include "base/memory.h"
#include "base/sizes.h"
#include "codegen/kernel_store.h"
#include "schedule/modelled_time.h"

namespace lowtide::engine {
namespace {

/// The cache key of the plan for a module and a limit, including this build and the machine, since another search may
/// find another plan. (The cache itself distinguishes disabled passes.)
Result<TextHash> key_of_plan(const Module& module, const Target& target, std::optional<int64_t> limit) {
  LT_ASSIGN_OR_RETURN(const std::string kernels, kernel_target({.context = &module.context()}));
  const char* const search = !limit && module.context().settings().brief_search ? "brief" : "whole";
  return hash_text(fmt::format("plan for {}\n{}{} {} {}\n{}", target.name(), print_plan(module, {}), search,
                               limit.value_or(-1), build_id(), kernels));
}

std::optional<Compiled> made_again(const std::string& text, const Module& module, const Target& target,
                                   std::optional<int64_t> limit) {
  const auto known = parse_plan(text, module);
  if (!known.ok() || known->exact != module.sums_in_order) return {};
  auto compiled = compile_plan(module, target, known->decisions, {.trusted = true});
  const int64_t most = std::min(limit.value_or(INT64_MAX), available_memory().bytes);
  if (!compiled.ok() || compiled->program->peak_bytes() > most) return {};
  return compiled.take();
}

}  // namespace

Result<Compiled> kept_plan_within(const Module& module, const Target& target, std::optional<int64_t> limit,
                                  std::optional<int64_t>* tightest) {
  const KernelCache& cache = module.context().own<KernelStore>().disk();
  if (!cache.is_there())
    return compile_within(module, target, limit, tightest);  // a key would take as long as the plan
  LT_ASSIGN_OR_RETURN(const TextHash key, key_of_plan(module, target, limit));
  if (const auto text = cache.find(key)) {
    if (auto kept = made_again(*text, module, target, limit)) return std::move(*kept);
  }
  LT_ASSIGN_OR_RETURN(Compiled compiled, compile_within(module, target, limit, tightest));
  cache.store(key, print_plan(module, compiled.replay), &module.context().own<OpenFiles>());
  return compiled;
}

Result<PeakAndTime> peak_within(Module& module, const Target& target, int64_t limit) {
  (void)plan_for_one_device(module);
  const auto of = [&](const Program& program) {
    return PeakAndTime{program.peak_bytes(), 1e-9 * modelled_ns(program, target.cost())};
  };
  LT_ASSIGN_OR_RETURN(const Compiled free, kept_plan_within(module, target, {}));
  if (free.program->peak_bytes() <= limit) return of(*free.program);
  std::optional<int64_t> tightest;
  const auto compiled = kept_plan_within(module, target, limit, &tightest);
  if (compiled.ok()) return of(*compiled->program);
  if (tightest) return PeakAndTime{*tightest, 0};
  return compiled.status();
}

Result<Compiled> plan_from_text(Module& module, const Target& target, std::string_view text, const std::string& named) {
  const auto file = parse_plan(text, module);
  if (!file.ok()) return Status(file.status().fault(), named + ": " + file.status().message());
  if (module.sums_in_order && !file->exact) {
    return Status::input(named +
                         ": --exact: the plan makes sums in another order; expected one that fit --exact --plan "
                         "wrote, with a line `exact`");
  }
  module.sums_in_order = file->exact;
  return compile_plan(module, target, file->decisions);
}

Status check_memory(const Program& program) {
  // Asking the machine takes longer than planning a small program, and needs memory of its own.
  constexpr int64_t kSmall = int64_t{1} << 20;
  if (program.peak_bytes() <= kSmall) return {};
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

}  // namespace lowtide::engine
