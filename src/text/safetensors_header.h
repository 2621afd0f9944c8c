#pragma once
/// Parses the JSON header of a safetensors file, in time that is linear in its length.

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
    uint64_t begin = 0, end = 0;                       ///< [begin, end): its bytes in the data
    std::shared_ptr<const std::string> own = nullptr;  ///< its converted bytes, if the file's can't be used directly
  };
  std::map<std::string, Entry, std::less<>> entries;
  std::map<std::string, std::string> metadata;
};

/// Checks types and extents, and that the tensors tile `data_bytes` without gaps or overlaps. Errors don't name the
/// file.
Result<TensorHeader> parse_tensor_header(std::string_view text, uint64_t data_bytes);

}  // namespace lowtide::engine
