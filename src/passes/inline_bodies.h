#pragma once
/// Puts bodies in the place of the instructions that run them: calls, fusions.

#include <functional>

#include "ir/module.h"

namespace lowtide::engine {

/// Instructions that a module may grow to by inlining; a larger one may double.
inline constexpr int64_t kMostInlined = 3 << 18;

/// Replaces every instruction chosen, which must run exactly one computation on its operands, by a copy of its body.
/// What the caller says, the body keeps: an op_name that is relative to the caller gets the caller's name in front, an
/// instruction without a source takes the caller's, the caller's sharding goes to the root. Returns how many were
/// replaced; beyond kMostInlined instructions the rest stays.
int64_t inline_bodies(Module& module, const std::function<bool(const Instruction&)>& chosen);

}  // namespace lowtide::engine
