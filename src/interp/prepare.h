#pragma once
/// Prepares a computation for repeated runs: which values are needed, and which step reads each one last.

#include <cstdint>
#include <vector>

#include "ops/op_rule.h"

namespace lowtide::engine {

struct PreparedComputation {
  struct Step {
    const Instruction* instruction = nullptr;
    Result<Value> (*eval)(const Instruction&, Operands, EvalContext&) = nullptr;
    std::vector<int32_t> operands;  ///< slots
    std::vector<int32_t> frees;     ///< slots that no later step reads
    int32_t result = -1;            ///< slot; -1 if nothing reads it
  };
  std::vector<Step> steps;          ///< in the computation's order
  std::vector<int32_t> parameters;  ///< slot by parameter number; -1 if nothing reads it
  int32_t root = 0;
  int32_t slots = 0;
};

/// Steps for the root and for everything with side effects, and for what these need.
/// Faults: Fault::kUnsupported for operations without a definition and for values too large for the interpreter.
Result<PreparedComputation> prepare(const Computation& computation);

}  // namespace lowtide::engine
