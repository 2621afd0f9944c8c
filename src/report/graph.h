#pragma once
/// The users of instructions, the callers of computations, and steps through the operations that only rename values.

#include <optional>
#include <vector>

#include "analysis/account.h"
#include "ir/module.h"

namespace lowtide::engine {

class Graph {
 public:
  explicit Graph(const Module& module);

  const Module& module() const { return *module_; }
  const std::vector<const Instruction*>& users(const Instruction& instruction) const { return users_[instruction.id]; }
  /// The instructions that call `computation`, in program order.
  const std::vector<const Instruction*>& callers(const Computation& computation) const;

  /// The source of a value that only renames, moves or selects another: through tuples, get-tuple-element, bitcast,
  /// call, fusion and loop results, parameters of bodies, annotations. Nullopt where `value` is made by its own
  /// instruction. A loop-carried value that the body leaves unchanged leads to the loop's operand, any other to the
  /// body's result.
  std::optional<ValueRef> behind(const ValueRef& value) const;
  /// Applies `behind` repeatedly; bounded, so that cycles end.
  ValueRef source_of(ValueRef value) const;

  /// For a carry {k} of a loop that the body only updates with a dynamic-update-slice: that instruction; null
  /// otherwise. Also looks into fusions in the body.
  const Instruction* stack_update(const Instruction& loop, int64_t element) const;

 private:
  const Module* module_;
  std::vector<std::vector<const Instruction*>> users_;
  std::vector<std::vector<const Instruction*>> callers_;          ///< by position of the computation in the module
  std::vector<std::pair<const Computation*, size_t>> positions_;  ///< sorted by address
};

/// The shape of the array that a reference names.
const Shape& shape_of(const ValueRef& value);

/// "%fusion.88{1}"; without an index if the value isn't an element of a tuple.
std::string value_name(const ValueRef& value);

/// Whether an instruction only annotates its operand (sharding markers).
bool is_annotation(const Instruction& instruction);

}  // namespace lowtide::engine
