#pragma once
/// Arrays by the leaf that computes them, assembled into tuples as operations need.

#include <map>

#include "region/region.h"

namespace lowtide::engine {

class ArrayStore {
 public:
  void set(LeafRef leaf, Value array) { arrays_[leaf] = std::move(array); }
  /// Sets all leaves of the value that an instruction computes.
  void set(const Instruction& instruction, const Value& value);
  bool holds(LeafRef leaf) const { return arrays_.contains(leaf); }
  /// The value of a leaf, resolved through aliases; constants are provided automatically.
  Value get(LeafRef leaf) const;
  /// The operand in its reader's form: arrays are resolved through tuples, and put into tuples again.
  Value operand(const Instruction& operand) const;

 private:
  Value gather(const Instruction& operand, const Shape& shape, int32_t& leaf) const;
  std::map<LeafRef, Value> arrays_;
};

}  // namespace lowtide::engine
