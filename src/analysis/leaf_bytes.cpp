#include "analysis/leaf_bytes.h"

#include <algorithm>

namespace lowtide::engine {
namespace {

/// An upper bound on the elements after padding, in floating point; negative extents give 0.
double largest_count(const Shape& array) {
  double count = 1;
  for (const int64_t extent : array.dims) count *= extent < 0 ? 0.0 : static_cast<double>(extent);
  if (array.layout) {
    for (const Dims& tile : array.layout->tiles) {
      for (const int64_t extent : tile) count *= extent > 1 ? static_cast<double>(extent) : 1.0;
    }
  }
  return count;
}

}  // namespace

LeafBytes leaf_bytes(const Shape& leaf) {
  LeafBytes result;
  if (leaf.layout) result.memory_space = leaf.layout->memory_space;
  if (!leaf.is_array()) return result;
  for (const int64_t extent : leaf.dims) {
    if (extent < 0) return result;
  }
  if (largest_count(leaf) * 16.0 >= static_cast<double>(kMostBytes)) {
    result.bytes = kMostBytes;
    return result;
  }
  result.bytes = logical_bytes(leaf);
  // A layout with another rank than the array is ignored.
  if (!leaf.layout || leaf.layout->tiles.empty() || leaf.layout->minor_to_major.size() != leaf.dims.size())
    return result;
  const int64_t padded = padded_bytes(leaf);
  result.padding = std::max<int64_t>(0, padded - result.bytes);
  result.bytes = padded;
  return result;
}

int64_t safe_logical_bytes(const Shape& shape) {
  int64_t sum = 0;
  for_each_leaf(shape, [&](const ShapeIndex&, const Shape& leaf) {
    const LeafBytes one = leaf_bytes(leaf);
    sum = add_bytes(sum, one.bytes - one.padding);
  });
  return sum;
}

}  // namespace lowtide::engine
