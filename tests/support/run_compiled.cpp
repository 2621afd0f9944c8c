#include "run_compiled.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "allocation_watch.h"
#include "backend/cpu/cpu_backend.h"
#include "compile/compile.h"
#include "compile/load.h"
#include "interp/compare.h"
#include "runtime/value_memory.h"
#include "schedule/check/check_program.h"
#include "target/cpu.h"

namespace lowtide::engine {
namespace {

std::string run_once(LoadedProgram& executable, const std::vector<Value>& arguments, int threads,
                     std::vector<Value>& results) {
  ThreadPool pool(threads);
  pool.run(threads, [](int64_t, int) {});  // starts its threads
  const ValueMemory memory(executable.program(), arguments);
  Status status;
  int64_t taken = 0;
  {
    const AllocationWatch watch;
    status = executable.run(memory.memory(), pool);
    taken = watch.most_bytes();
  }
  if (!status.ok()) return status.message();
  if (taken > kAllowedOutsidePlan && executable.interpreted() == 0) {
    return fmt::format("takes {} bytes outside its plan", taken);
  }
  results = memory.results(executable);
  return "";
}

bool same_bits(const Value& a, const Value& b) { return std::ranges::equal(a->bytes(), b->bytes()); }

CompiledRun refused(CompiledRun run, const Status& status) {
  (status.fault() == Fault::kUnsupported || status.fault() == Fault::kInput ? run.unsupported : run.failure) =
      status.message();
  return run;
}

/// Are all values where they were?
bool same_places(const Program& a, const Program& b) {
  const auto place = [](const Storage& s) { return std::tuple(s.kind, s.number, s.bytes, s.offset, s.born, s.dies); };
  return a.temp_bytes == b.temp_bytes && a.kernels == b.kernels && a.timeline.size() == b.timeline.size() &&
         std::ranges::equal(a.storages, b.storages, {}, place, place);
}

}  // namespace

CompiledRun run_compiled(const Module& module, const std::vector<Value>& arguments, Isa isa) {
  const auto compiled = compile_plan(module, cpu_target());
  if (!compiled.ok()) return refused({}, compiled.status());
  // What runs is the plan as it is made again from what was kept of it.
  const auto again = compile_plan(module, cpu_target(), compiled->replay, {.trusted = true});
  if (!again.ok()) return refused({}, again.status());
  if (!same_places(*compiled->program, *again->program))
    return {.failure = "is planned otherwise when its plan is made again"};
  if (again->replay != compiled->replay) return {.failure = "is kept otherwise when its plan is made again"};
  return run_plan(*again, arguments, isa);
}

CompiledRun run_plan(const Compiled& compiled, const std::vector<Value>& arguments, Isa isa) {
  CompiledRun run;
  std::string wrong = check_program(*compiled.program, *compiled.target);
  if (wrong.empty()) wrong = compiled.program->refused;
  if (!wrong.empty()) {
    run.failure = "has a wrong plan: " + wrong;
    return run;
  }
  auto executable = load_program(compiled, *make_cpu_backend({.isa = isa}));
  if (!executable.ok()) return refused(run, executable.status());
  run.interpreted = (*executable)->interpreted();
  for (const int threads : {1, 2, 3}) {
    std::vector<Value> results;
    run.failure = run_once(**executable, arguments, threads, results);
    if (!run.failure.empty()) return run;
    if (threads > 1 && !std::ranges::equal(results, run.results, same_bits)) {
      run.failure = fmt::format("gives other bits with {} threads", threads);
      return run;
    }
    run.results = std::move(results);
  }
  return run;
}

}  // namespace lowtide::engine
