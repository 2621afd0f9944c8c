#pragma once
/// Bytes of files, whole or only their beginning.

#include <string>

#include "base/status.h"

namespace lowtide::engine {

/// Largest input in bytes, unpacked: places in a source are 32-bit offsets.
inline constexpr size_t kLargestInput = size_t{2} << 30;

/// The whole file, unpacked where it is gzip; `-` is the standard input. Faults name the path.
Result<std::string> read_bytes(const std::string& path);

/// The first `count` bytes, unpacked where it is gzip; empty where the file can't be read.
std::string read_head(const std::string& path, size_t count);

}  // namespace lowtide::engine
