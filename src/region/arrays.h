#pragma once
/// Arrays by the leaf that makes them, and the bundles that operations want of them.

#include <map>

#include "region/region.h"

namespace lowtide::engine {

class ArrayStore {
 public:
  void set(LeafRef leaf, Value array) { arrays_[leaf] = std::move(array); }
  /// All leaves of a value that an instruction makes.
  void set(const Instruction& instruction, const Value& value);
  bool holds(LeafRef leaf) const { return arrays_.contains(leaf); }
  /// Behind names; constants are there unasked.
  Value get(LeafRef leaf) const;
  /// The operand as its reader wants it: arrays from behind bundles, bundled anew.
  Value operand(const Instruction& operand) const;

 private:
  Value gather(const Instruction& operand, const Shape& shape, int32_t& leaf) const;
  std::map<LeafRef, Value> arrays_;
};

}  // namespace lowtide::engine
