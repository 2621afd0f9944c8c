#pragma once
/// A value of zeros of any shape, tuples and tokens included.

#include "base/status.h"
#include "ir/literal.h"

namespace lowtide::engine {

/// An error for shapes without elements of their own: opaque handles and buffers.
Result<Value> zeros_of(const Shape& shape);

}  // namespace lowtide::engine
