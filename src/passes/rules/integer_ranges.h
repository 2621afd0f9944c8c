#pragma once
/// The least and the greatest element that an array of integers can have.

#include <optional>
#include <unordered_map>

#include "ir/module.h"

namespace lowtide::engine {

struct IntegerRange {
  int64_t least = 0, greatest = 0;
};

/// Derived from iotas, constants, clamps, remainders, minima, loop counters, and operations that move and add them
/// without overflow; none if unknown. Types of up to 32 bits, and of 64 where constants bound them.
class IntegerRanges {
 public:
  /// Records which loop runs which computation: loops must not change while this is used.
  explicit IntegerRanges(const Module& module);

  std::optional<IntegerRange> of(const Instruction& value) const { return find(value, 0); }

 private:
  std::optional<IntegerRange> find(const Instruction& i, int depth) const;
  std::optional<IntegerRange> look(const Instruction& i, int depth) const;
  std::optional<IntegerRange> of_arithmetic(const Instruction& i, int depth) const;
  std::optional<IntegerRange> of_carry(const Instruction& read) const;

  /// By body or condition: the one loop that runs it.
  std::unordered_map<const Computation*, const Instruction*> loop_of_;
};

}  // namespace lowtide::engine
