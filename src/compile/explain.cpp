#include "compile/explain.h"

#include "compile/compile.h"
#include "report/build.h"
#include "schedule/account_of.h"

namespace lowtide {

Result<Report> explain(const Input& input, bool with_boxes) {
  LT_ASSIGN_OR_RETURN(const Compiled compiled, compile_plan(*input.module));
  const Program& program = *compiled.program;
  const FreePlan plan{program.module, account_of(program), program.kernels, compiled.plan_seconds};
  return build_report(input, plan, with_boxes);
}

}  // namespace lowtide
