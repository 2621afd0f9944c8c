#pragma once
/// Integers of a literal as places in an array.

#include "ir/literal.h"

namespace lowtide {

/// As integer_at, but a u64 beyond the signed range, which is beyond every extent, is INT64_MAX.
int64_t index_at(const Literal& array, int64_t element);

}  // namespace lowtide
