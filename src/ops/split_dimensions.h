#pragma once
/// Splitting dimensions: of the array f32[6,5], [6] becomes [2,3], and an operation on it becomes one on f32[2,3,5].

#include <vector>

#include "ir/module.h"

namespace lowtide::engine {

/// What each dimension of an array is split into: consecutive dimensions, major first; itself alone if it stays.
class SplitDims {
 public:
  explicit SplitDims(const Dims& whole);
  void split(size_t d, const Dims& parts) { parts_[d] = parts; }

  bool is_split(size_t d) const { return parts_[d].size() > 1; }
  bool is_split() const;
  bool splits_any(const Dims& dimensions) const;
  Dims extents() const;                        ///< of all parts
  int64_t number(int64_t d) const;             ///< that the first part of dimension d gets; d may be the rank
  Dims numbers(const Dims& dimensions) const;  ///< of all parts of these dimensions, in their order
  /// One value for each part, given one for each dimension: the parts of a split dimension get `of_part(extent)`.
  template <class F>
  Dims spread(const Dims& values, F&& of_part) const {
    Dims spread;
    for (size_t d = 0; d < parts_.size(); ++d) {
      for (const int64_t extent : parts_[d]) spread.push_back(is_split(d) ? of_part(extent) : values[d]);
    }
    return spread;
  }

 private:
  std::vector<Dims> parts_;
};

/// The same for an operation's operands (empty for those that are no arrays) and for its result, or all its results.
struct SplitOperation {
  SplitDims result;
  std::vector<SplitDims> operands;
  /// From this operand on there is a start index for each dimension of the first one; 0: there are none.
  size_t indices = 0;
};

// Operations' rules (OpRule::split).

/// Nothing depends on the number of a dimension that may be split.
bool split_by_element(SplitOperation& split, Attributes& attributes);
/// DimensionsAttributes with dimensions of the operands, or of the result.
bool split_operand_dimensions(SplitOperation& split, Attributes& attributes);
bool split_result_dimensions(SplitOperation& split, Attributes& attributes);

}  // namespace lowtide::engine
