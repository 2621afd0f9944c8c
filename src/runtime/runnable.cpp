#include "runtime/runnable.h"

#include <algorithm>
#include <utility>

#include "analysis/partitioning.h"
#include "interp/interpreter.h"
#include "ops/host_call.h"
#include "ops/runnable.h"

namespace lowtide::engine {
namespace {

constexpr const char* kNoDefinition = "this operation can't be run";

Status refused(const Instruction& instruction, const std::string& why) {
  const Status fault = Status::unsupported(why);
  const auto& source = instruction.parent->module().source;
  return source ? fault.at(*source, instruction.place) : fault;
}

/// Finds operations that no executor supports, even in branches that may not be taken, or whose host function is
/// missing.
Status find_undefined(const std::vector<ProgramStep>& steps, const Target& target) {
  for (const ProgramStep& step : steps) {
    if (step.kind == StepKind::kLibrary || step.kind == StepKind::kOther) {
      const Instruction& i = *step.instruction;
      if (is_host_call(i) && !find_host_function(i)) return missing_host_function(i);
      if (!can_interpret(i) && !target.has_routine(i)) return unsupported_at(i, kNoDefinition);
    }
    for (const auto& block : step.blocks) LT_RETURN_IF_ERROR(find_undefined(block, target));
  }
  return {};
}

/// Finds unsupported operations that are run whatever the values are.
Status find_refused(const std::vector<ProgramStep>& steps, const Target& target) {
  for (const ProgramStep& step : steps) {
    if (step.kind == StepKind::kLibrary || step.kind == StepKind::kOther) {
      const std::string why = why_not_run(*step.instruction);
      if (!why.empty() && !target.has_routine(*step.instruction)) return refused(*step.instruction, why);
    } else if (step.kind == StepKind::kConditional) {
      Status first;
      for (const auto& branch : step.blocks) {
        const Status fault = find_refused(branch, target);
        if (fault.ok()) {
          first = {};
          break;
        }
        if (first.ok()) first = fault;
      }
      LT_RETURN_IF_ERROR(first);
    } else if (step.kind == StepKind::kWhile) {
      if (step.trip_count == 0) continue;
      for (const auto& block : step.blocks) LT_RETURN_IF_ERROR(find_refused(block, target));
    }
  }
  return {};
}

Status find_unbounded(const Module& module) {
  for (const auto& i : module.entry->instructions()) {
    bool unbounded = false;
    for_each_leaf(i->shape, [&](const ShapeIndex&, const Shape& leaf) {
      unbounded = unbounded || std::ranges::find(leaf.dims, kUnboundedDim) != leaf.dims.end();
    });
    if (unbounded) return unsupported_at(*i, "dimensions without a bound can't be run");
  }
  return {};
}

}  // namespace

Status can_run(const Program& program, const Target& target) {
  if (const auto parts = stated_parts(*program.module)) return Status::unsupported(of_many_devices(parts->devices));
  LT_RETURN_IF_ERROR(find_unbounded(*program.module));
  LT_RETURN_IF_ERROR(find_undefined(program.steps, target));
  return find_refused(program.steps, target);
}

Status can_run(const Module& module, const Program& program, const Target& target) {
  if (std::string why = why_of_many(module); !why.empty()) return Status::unsupported(std::move(why));
  return can_run(program, target);
}

}  // namespace lowtide::engine
