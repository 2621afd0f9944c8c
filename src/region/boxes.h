#pragma once
/// The elements that a region reads and writes of an operand that it updates in place: boxes with constant corners.

#include <optional>

#include "region/region.h"

namespace lowtide::engine {

struct Interval {
  int64_t begin = 0, end = 0;
};
using Box = std::vector<Interval>;  ///< one interval per dimension

/// The elements that an in-place update writes, if its indices are constant; the whole array otherwise.
Box written_box(const Instruction& update);

/// A box that contains every element of the input that the operations read for the outputs; none if none is read.
std::optional<Box> box_read(const Region& region, size_t input);

/// Output `output` overwrites the operand that the region also reads as an input. Are those reads elsewhere?
bool reads_apart_from_update(const Region& region, size_t output);

}  // namespace lowtide::engine
