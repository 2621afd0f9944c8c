#pragma once
/// Replaces instructions that run a computation (calls, fusions) by its body.

#include <functional>

#include "ir/module.h"

namespace lowtide::engine {

/// Instructions that a module may grow to by inlining; a larger one may double.
inline constexpr int64_t kMostInlined = 3 << 18;

/// Replaces every instruction chosen, which must run exactly one computation on its operands, by a copy of its body.
/// The body inherits the caller's metadata: an op_name that is relative to the caller is prefixed with the caller's
/// name, an instruction without a source gets the caller's, the root gets the caller's sharding. Returns how many were
/// replaced; beyond kMostInlined instructions the rest stays.
int64_t inline_bodies(Module& module, const std::function<bool(const Instruction&)>& chosen);

}  // namespace lowtide::engine
