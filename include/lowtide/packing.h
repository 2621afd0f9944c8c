#pragma once
/// Buffers with lifetimes, packed into one arena.

#include <cstdint>
#include <string>
#include <vector>

namespace lowtide {

struct Packing {
  std::vector<int64_t> offsets;  ///< bytes, by row of the table
  int64_t peak = 0;              ///< bytes of the arena
  int64_t load = 0;              ///< no packing needs less
  double seconds = 0;            ///< time that packing took
  std::string table;             ///< the rows with their offsets in a last column
};

}  // namespace lowtide
