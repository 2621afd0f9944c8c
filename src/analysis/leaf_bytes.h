#pragma once
/// Bytes of leaves, for any extents: numbers that are too large saturate.

#include "ir/shape.h"

namespace lowtide::engine {

struct LeafBytes {
  int64_t bytes = 0;    ///< as laid out
  int64_t padding = 0;  ///< part of `bytes`: those beyond the logical bytes
  int64_t memory_space = 0;
};

inline constexpr int64_t kMostBytes = int64_t{1} << 60;  ///< larger sizes are reduced to this

LeafBytes leaf_bytes(const Shape& leaf);
int64_t safe_logical_bytes(const Shape& shape);

/// a + b for sums of sizes >= 0, saturating.
inline int64_t add_bytes(int64_t a, int64_t b) { return a > INT64_MAX - b ? INT64_MAX : a + b; }

}  // namespace lowtide::engine
