#pragma once
/// Reads numpy's .npz: a zip archive of .npy files, compressed or not.

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "ir/shape.h"

namespace lowtide::engine {

struct NpzArray {
  std::string name;  ///< without .npy
  Shape shape;
  uint64_t begin = 0, end = 0;             ///< [begin, end): its elements in the archive, if usable directly
  std::shared_ptr<const std::string> own;  ///< otherwise its elements converted to row-major, little endian
};

/// Compressed, column-major and big-endian arrays are converted in memory. `V2` is bf16, since numpy has no names for
/// the types of ml_dtypes. Errors name the array.
Result<std::vector<NpzArray>> read_npz(std::span<const std::byte> archive);

}  // namespace lowtide::engine
