#pragma once
/// Reads zip archives such as numpy's .npz files: entries stored or deflated, without encryption, in one part.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"

namespace lowtide::engine {

struct ZipEntry {
  std::string name;
  bool deflated = false;
  uint64_t begin = 0, end = 0;  ///< [begin, end): its compressed bytes in the archive
  uint64_t bytes = 0;           ///< size when unpacked
  uint32_t checksum = 0;        ///< of the unpacked bytes
};

bool is_zip(std::span<const std::byte> bytes);

/// The entries in the order of the archive's directory. Errors: an entry lies outside of the archive, two entries have
/// the same name, or a feature isn't supported.
Result<std::vector<ZipEntry>> read_zip(std::span<const std::byte> archive);

/// The entry's unpacked bytes; the checksum of deflated ones is verified.
Result<std::string> unzip(std::span<const std::byte> archive, const ZipEntry& entry);

}  // namespace lowtide::engine
