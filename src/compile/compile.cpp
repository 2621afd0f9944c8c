#include "compile/compile.h"

#include <chrono>

#include "base/debug.h"

namespace lowtide {

Result<Compiled> compile_plan(const Module& module) {
  const auto start = std::chrono::steady_clock::now();
  Compiled compiled;
  std::shared_ptr<Module> rewritten = module.clone();
  LT_ASSIGN_OR_RETURN(compiled.passes, run_passes(*rewritten, execution_pipeline()));
  compiled.program = std::make_shared<const Program>(schedule(rewritten));
  compiled.plan_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (knobs().check) {
    if (const std::string fault = check_program(*compiled.program); !fault.empty()) {
      return Status(Fault::kInternal, "the plan doesn't hold: " + fault);
    }
  }
  return compiled;
}

}  // namespace lowtide
