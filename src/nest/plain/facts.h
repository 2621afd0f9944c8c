#pragma once
/// Known facts about the values of plain nodes, used to leave out redundant roundings, selects and comparisons.

#include <algorithm>
#include <climits>
#include <cmath>
#include <limits>
#include <vector>

#include "nest/builder.h"

namespace lowtide::engine {

struct FloatFacts {
  double least = -std::numeric_limits<double>::infinity();
  double greatest = std::numeric_limits<double>::infinity();
  bool may_be_nan = true, may_be_minus_zero = true;
  int grid = INT_MIN;  ///< a multiple of 2^grid; INT_MIN: nothing known

  double size() const { return std::max(std::fabs(least), std::fabs(greatest)); }
  /// Is it exact in a float with this many bits, the implied one included, above its denormals?
  bool fits(int bits) const { return !may_be_nan && grid > INT_MIN / 2 && size() <= std::ldexp(1.0, grid + bits); }
};

/// A NestBuilder that knows such facts.
class PlainNest : public NestBuilder {
 public:
  using NestBuilder::NestBuilder;
  /// Facts about an f32 or f64.
  const FloatFacts& facts(NodeId id);
  /// Declares facts that the caller can justify but that don't follow from the operations.
  void declare(NodeId id, const FloatFacts& known);
  /// Bounds of an integer: the builder's, or tighter ones.
  Bounds integer_bounds(NodeId id) const;

 private:
  FloatFacts find(NodeId id);
  FloatFacts of_constant(const Node& node) const;
  FloatFacts of_bits(NodeId integer, ElementType type) const;
  FloatFacts of_product(const Node& node);
  FloatFacts of_select(const Node& node);
  FloatFacts of_fma(const Node& node);
  FloatFacts of_half(const Node& node) const;

  std::vector<FloatFacts> facts_;
  std::vector<bool> found_;
};

}  // namespace lowtide::engine
