#pragma once
/// Classes of corresponding dimensions of a computation's arrays: each class is one loop that many values can share.

#include <unordered_map>

#include "region/region.h"

namespace lowtide::engine {

class DimensionClasses {
 public:
  /// Unites dimensions of results with those of operands that have equal extents and are read at the same place
  /// (pointwise, stride 1, offset 0), and dimensions of operands that are reduced together.
  explicit DimensionClasses(const Computation& computation);

  /// The class of dimension d of an array; arrays inside tuples have the classes of their producers.
  int32_t class_of(LeafRef array, int64_t d) const;
  int32_t count() const { return count_; }
  int64_t extent(int32_t c) const { return extents_[c]; }
  /// The arrays that have a dimension of the class, in program order, each once.
  const std::vector<LeafRef>& members(int32_t c) const { return members_[c]; }

 private:
  struct Key {
    const Instruction* instruction;
    int32_t leaf;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    size_t operator()(const Key& key) const {
      return std::hash<const void*>()(key.instruction) * 31 + static_cast<size_t>(key.leaf);
    }
  };
  std::unordered_map<Key, std::vector<int32_t>, Hash> classes_;  ///< by dimension
  std::vector<int64_t> extents_;
  std::vector<std::vector<LeafRef>> members_;
  int32_t count_ = 0;
};

}  // namespace lowtide::engine
