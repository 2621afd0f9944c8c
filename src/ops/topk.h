#pragma once
/// The k largest elements, for the operation topk and the custom call "TopK".

#include "base/status.h"
#include "ir/literal.h"

namespace lowtide::engine {

/// (values, s32 indices) along the last dimension: the largest first, or the smallest.
Result<Value> top_k(const Literal& operand, int64_t k, bool largest);

}  // namespace lowtide::engine
