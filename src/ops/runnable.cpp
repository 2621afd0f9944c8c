#include "ops/runnable.h"

namespace lowtide::engine {
namespace {

std::string why_not_run(const Computation& computation) {
  for (const auto& instruction : computation.instructions()) {
    if (std::string why = why_not_run(*instruction); !why.empty()) return why;
  }
  return "";
}

}  // namespace

std::string why_not_run(const Instruction& instruction) {
  if (memory_class(instruction.opcode) == MemoryClass::kCollective) return why_collective_not_run(instruction);
  switch (instruction.opcode) {
    case Opcode::kCustomCall: return why_custom_call_not_run(instruction);
    case Opcode::kSetDimensionSize: return why_set_dimension_size_not_run(instruction);
    case Opcode::kConditional: {  // a branch that can be run may be the one selected
      std::string first;
      for (const Computation* branch : instruction.called) {
        const std::string why = why_not_run(*branch);
        if (why.empty()) return "";
        if (first.empty()) first = why;
      }
      return first;
    }
    case Opcode::kWhile:
    case Opcode::kCall:
    case Opcode::kFusion:
    case Opcode::kAsyncStart:
      for (const Computation* callee : instruction.called) {
        if (std::string why = why_not_run(*callee); !why.empty()) return why;
      }
      return "";
    default: return "";
  }
}

}  // namespace lowtide::engine
