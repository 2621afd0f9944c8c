#include "compile/compile.h"

#include <algorithm>
#include <chrono>
#include <string_view>

#include "base/debug.h"

namespace lowtide {

namespace {

constexpr std::string_view kStreaming = "stream-slices";

Result<Compiled> plan_with(const Module& module, const std::vector<Pass>& passes) {
  Compiled compiled;
  std::shared_ptr<Module> rewritten = module.clone();
  LT_ASSIGN_OR_RETURN(compiled.passes, run_passes(*rewritten, passes));
  compiled.program = std::make_shared<const Program>(schedule(rewritten));
  return compiled;
}

bool streamed(const Compiled& compiled) {
  return std::any_of(compiled.passes.begin(), compiled.passes.end(),
                     [](const PassRecord& r) { return r.name == kStreaming && r.result.changed; });
}

}  // namespace

Result<Compiled> compile_plan(const Module& module) {
  const auto start = std::chrono::steady_clock::now();
  LT_ASSIGN_OR_RETURN(Compiled compiled, plan_with(module, execution_pipeline()));
  if (streamed(compiled)) {
    // What could run in place needs no stream, and is not to be seen before it is planned.
    std::vector<Pass> whole = execution_pipeline();
    std::erase_if(whole, [](const Pass& pass) { return pass.name == kStreaming; });
    LT_ASSIGN_OR_RETURN(Compiled other, plan_with(module, whole));
    if (other.program->temp_bytes <= compiled.program->temp_bytes) compiled = std::move(other);
  }
  compiled.plan_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (knobs().check) {
    if (const std::string fault = check_program(*compiled.program); !fault.empty()) {
      return Status(Fault::kInternal, "the plan doesn't hold: " + fault);
    }
  }
  return compiled;
}

}  // namespace lowtide
