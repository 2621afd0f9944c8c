#pragma once
/// Sums of products for dot and convolution, as loops.

#include "ops/folding.h"

namespace lowtide::engine {

class ProductSum {
 public:
  /// Elements are rounded to `result` first. Floats narrower than f32 are summed in f32 and rounded once at the end,
  /// integers wrap, predicates are or-ed.
  ProductSum(ElementContext& context, ElementType result);
  Affine open(int64_t extent) { return folding_.open(extent); }
  /// The innermost body; nothing is added if `guard` doesn't hold.
  void add(NodeId a, NodeId b, NodeId guard = kNoId);
  NodeId close();

 private:
  NestBuilder& nest_;
  ElementType result_, sum_;
  Folding folding_;
};

}  // namespace lowtide::engine
