#pragma once
/// The least and the greatest element that an array of integers can have.

#include <optional>

#include "ir/module.h"

namespace lowtide {

struct IntegerRange {
  int64_t least = 0, greatest = 0;
};

/// From iotas, constants, clamps, remainders, minima, and what moves and adds them without wrapping round its type;
/// nothing where it may be anything. Types of up to 32 bits, and of 64 where constants bound them.
std::optional<IntegerRange> range_of(const Instruction& value);

}  // namespace lowtide
