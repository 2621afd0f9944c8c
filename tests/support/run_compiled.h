#pragma once
/// A module compiled and run as a test wants it: the plan checked, with 1, 2 and 3 threads, which must give the same
/// bits, in no more memory than planned.

#include <string>
#include <vector>

#include "codegen/kernel.h"
#include "compile/compile.h"
#include "ir/module.h"

namespace lowtide::engine {

struct CompiledRun {
  std::string failure;      ///< empty: nothing is wrong
  std::string unsupported;  ///< why nothing was run
  std::vector<Value> results;
  int64_t interpreted = 0;  ///< steps without code; such a run's memory isn't watched
};
CompiledRun run_compiled(const Module& module, const std::vector<Value>& arguments, Isa isa = Isa::kNative);
/// The same of a plan that is made already.
CompiledRun run_plan(const Compiled& compiled, const std::vector<Value>& arguments, Isa isa = Isa::kNative);

}  // namespace lowtide::engine
