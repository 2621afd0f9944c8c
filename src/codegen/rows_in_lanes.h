#pragma once
/// Rows in lanes. If each lane of a loop reads a row, and a serial loop inside runs along the rows, a few elements of
/// all rows are read contiguously and transposed in registers. Gathers would read every element by itself.

#include <cstdint>
#include <vector>

#include "nest/nest.h"

namespace lowtide::engine {

/// As many rows are transposed together, and at most as many elements of each.
constexpr int32_t row_block_side(bool avx512) { return avx512 ? 16 : 8; }

/// The power of two that so many elements of a row take: a register has several rows if they are short.
constexpr int32_t row_block_width(int64_t elements, int32_t side) {
  int32_t width = 4;
  while (width < elements && width < side) width *= 2;
  return width;
}

/// The loads of the serial loop `inner` that read a row for each lane of `lanes`, an element for each term. None if the
/// loop is too short, or its body too long to be written out for each element of a block.
std::vector<NodeId> loads_in_rows(const Nest& nest, int32_t inner, int32_t lanes, const std::vector<bool>& varying,
                                  bool avx512);

}  // namespace lowtide::engine
