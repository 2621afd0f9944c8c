#pragma once
/// Decides which values are stored, and which their readers compute.

#include <vector>

#include "region/value_graph.h"
#include "region/work.h"
#include "target/roles.h"

namespace lowtide::engine {

enum class ValueState : uint8_t {
  kAbsent,   ///< nothing needs it, or it only renames another value
  kVirtual,  ///< computed by its readers
  kStored,   ///< computed by its own region, or with others
  kView,     ///< the bytes of its first operand, which is stored
  kGiven,    ///< not computed by regions: parameters, constants, results of libraries and control flow
};

/// By place in the graph.
std::vector<ValueState> decide_values(const ValueGraph& graph, const FormOptions& options);

/// Does the value have bytes of its own?
inline bool is_made(ValueState state) { return state == ValueState::kStored || state == ValueState::kGiven; }

/// The value underlying views.
int32_t base_of(const ValueGraph& graph, const std::vector<ValueState>& states, int32_t place);

/// Does the list in the options contain this instruction?
bool asks(const std::vector<bool>& list, const Instruction& i);

/// Does this instruction, stored, overwrite its operand number `operand` in place?
bool updates_operand(const Instruction& i, const std::vector<ValueState>& states, const ValueGraph& graph,
                     int32_t operand);

}  // namespace lowtide::engine
