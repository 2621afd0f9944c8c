#pragma once
/// The JSON header of a safetensors file, in time that is linear in its length.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/status.h"
#include "ir/shape.h"

namespace lowtide::engine {

struct TensorHeader {
  struct Entry {
    Shape shape;
    uint64_t begin = 0, end = 0;                       ///< of its bytes in the data
    std::shared_ptr<const std::string> own = nullptr;  ///< where they aren't in the file as they must be
  };
  std::map<std::string, Entry, std::less<>> entries;
  std::map<std::string, std::string> metadata;
};

/// Checks types and extents, and that the tensors tile `data_bytes` without gaps or overlaps. Faults have no file's
/// name.
Result<TensorHeader> parse_tensor_header(std::string_view text, uint64_t data_bytes);

}  // namespace lowtide::engine
