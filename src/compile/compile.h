#pragma once
/// Module -> Program. What runs it is a Backend (compile/load.h).

#include <memory>

#include "base/status.h"
#include "compile/decisions.h"
#include "ir/module.h"
#include "passes/pass.h"
#include "schedule/program.h"

namespace lowtide::engine {

struct Compiled {
  const Target* target = nullptr;  ///< for which it was planned
  std::shared_ptr<const Program> program;
  std::vector<PassRecord> passes;
  Decisions decisions;
  Decisions replay;                   ///< decisions that make the same plan without its searches
  std::shared_ptr<KnownNests> nests;  ///< of the program's regions, and maybe others
  double plan_seconds = 0;
};

/// The free plan: rewrites on a copy of the module, then regions, order, in-place decisions, packing.
Result<Compiled> compile_plan(const Module& module, const Target& target);

/// The plan with these decisions; deterministic. An error of kind kInput if one of them doesn't apply to the module.
Result<Compiled> compile_plan(const Module& module, const Target& target, const Decisions& decisions,
                              const PassOptions& options = {});

}  // namespace lowtide::engine
