#pragma once
/// Module -> Program -> Executable: the only place where all floors meet.

#include <memory>

#include "base/status.h"
#include "ir/module.h"
#include "passes/pass.h"
#include "runtime/executable.h"
#include "schedule/program.h"

namespace lowtide {

struct Compiled {
  std::shared_ptr<const Program> program;
  std::vector<PassRecord> passes;
  double plan_seconds = 0;
};

/// The free plan: rewrites on a copy of the module, then regions, order, in place, packing.
Result<Compiled> compile_plan(const Module& module);

}  // namespace lowtide
