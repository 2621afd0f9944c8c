#pragma once
/// Arrays as numpy writes them: .npz, a zip archive of .npy files, packed or not.

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
  uint64_t begin = 0, end = 0;             ///< of its elements in the archive, where they lie there as we want them
  std::shared_ptr<const std::string> own;  ///< else: row-major, little endian
};

/// Packed, column-major and big-endian arrays are brought into memory as we want them. `V2` is bf16: numpy has no name
/// of its own for what ml_dtypes adds. Faults name the array.
Result<std::vector<NpzArray>> read_npz(std::span<const std::byte> archive);

}  // namespace lowtide::engine
