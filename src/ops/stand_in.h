#pragma once
/// A function that replaces a call that can't be run here, of attention or of a collective among devices. It allows
/// comparing a program with its fitted form: whatever the call computes, both must pass it the same operands.

#include <string_view>

#include "base/status.h"
#include "ir/literal.h"
#include "ops/op_rule.h"

namespace lowtide::engine {

inline constexpr std::string_view kStandIn = "lowtide.stand_in";  ///< target of the custom call

/// Each float of the results depends on every element of the operands, most on those at the same relative position.
/// Result floats are between -1 and 1, result integers between 0 and 3; integers don't depend on floats.
Result<Value> stand_in_for(const Shape& results, Operands operands);

}  // namespace lowtide::engine
