#pragma once
/// A function that stands for a call that nobody here can run: of attention, of a collective among devices. Plans of a
/// program and of its fitted form can be compared with it: whatever the call computes, both hand it the same operands.

#include <string_view>

#include "base/status.h"
#include "ir/literal.h"
#include "ops/op_rule.h"

namespace lowtide::engine {

inline constexpr std::string_view kStandIn = "lowtide.stand_in";  ///< target of the custom call

/// Each element of the results depends on every element of the operands, most on those at the same part of their
/// length. Floats lie between -1 and 1, integers between 0 and 3, and floats have no part in integers.
Result<Value> stand_in_for(const Shape& results, Operands operands);

}  // namespace lowtide::engine
