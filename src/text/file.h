#pragma once
/// Reads whole files, or only their beginning.

#include <string>

#include "base/status.h"

namespace lowtide::engine {

/// Largest input in bytes, unpacked: places in a source are 32-bit offsets.
inline constexpr size_t kLargestInput = size_t{2} << 30;

/// The whole file, unpacked if it is gzip; `-` is the standard input. Errors name the path.
Result<std::string> read_bytes(const std::string& path);

/// The first `count` bytes, unpacked if the file is gzip; empty if it can't be read.
std::string read_head(const std::string& path, size_t count);

}  // namespace lowtide::engine
