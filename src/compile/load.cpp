#include "compile/load.h"

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/context.h"
#include "ops/verify.h"
#include "region/identity.h"
#include "runtime/runnable.h"
#include "schedule/check/order_proof.h"
#include "schedule/dependencies.h"
#include "schedule/nest_cache.h"

namespace lowtide::engine {
namespace {

/// If all regions together have fewer operations, lowering them takes less time than waking up a thread.
constexpr size_t kFewOperations = 64;

/// By region: does its kernel have something to do?
void find_work(const std::vector<ProgramStep>& steps, std::vector<char>& has_work) {
  for (const ProgramStep& step : steps) {
    if (step.kind == StepKind::kKernel && !step.assembled) has_work[step.region] = 1;
    for (const auto& block : step.blocks) find_work(block, has_work);
  }
}

}  // namespace

Result<LoweredProgram> lower_program(const Compiled& compiled, const Backend& backend) {
  LoweredProgram lowered{compiled.program, {}};
  if (!backend.runs_in_order()) {
    const auto ordered = std::make_shared<Program>(*compiled.program);
    find_dependencies(*ordered);
    if (const std::string fault = fault_of_order(*ordered); !fault.empty())
      return Status(Fault::kInternal, "the order of steps doesn't hold: " + fault);
    lowered.program = ordered;
  }
  const Program& program = *lowered.program;
  const size_t count = program.regions.size();
  std::vector<char> has_work(count, 0);
  find_work(program.steps, has_work);
  const std::shared_ptr<KnownNests> known = compiled.nests ? compiled.nests : std::make_shared<KnownNests>();
  ThreadPool& pool = program.module->context().pool();
  size_t operations = 0;
  for (const Region& region : program.regions) operations += region.ops.size();
  const int threads = operations < kFewOperations ? 1 : ThreadPool::kAllThreads;
  std::vector<std::string> identities(count);
  pool.run(
      std::ssize(identities),
      [&](int64_t task, int) {
        const auto r = static_cast<size_t>(task);
        if (has_work[r] != 0) identities[r] = identity(program.regions[r]);
      },
      threads);
  std::unordered_map<std::string_view, size_t> first_of;
  std::vector<size_t> distinct;
  for (size_t r = 0; r < count; ++r) {
    if (has_work[r] != 0 && first_of.try_emplace(identities[r], r).second) distinct.push_back(r);
  }
  // The largest first, so that no thread waits for it in the end.
  std::ranges::stable_sort(distinct, std::greater(), [&](size_t r) { return program.regions[r].ops.size(); });
  lowered.nests.resize(count);
  pool.run(
      std::ssize(distinct),
      [&](int64_t task, int) {
        const size_t r = distinct[task];
        const auto nest = known->of(program.regions[r], identities[r]);
        lowered.nests[r] = std::shared_ptr<const Nest>(nest, &nest->nest);
      },
      threads);
  for (size_t r = 0; r < count; ++r) {
    if (has_work[r] != 0) lowered.nests[r] = lowered.nests[first_of.at(identities[r])];
  }
  return lowered;
}

Result<std::unique_ptr<LoadedProgram>> load_program(const Compiled& compiled, const Backend& backend) {
  LT_ASSERT(backend.target().name() == compiled.target->name(), "a plan runs on the target that it was made for");
  LT_RETURN_IF_ERROR(verify_runnable(*compiled.program->module));
  LT_RETURN_IF_ERROR(can_run(*compiled.program, *compiled.target));
  LT_ASSIGN_OR_RETURN(LoweredProgram lowered, lower_program(compiled, backend));
  return backend.load(std::move(lowered));
}

}  // namespace lowtide::engine
