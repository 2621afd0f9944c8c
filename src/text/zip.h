#pragma once
/// What a zip archive holds, as numpy's .npz files do: stored or deflated, without encryption, in one part.

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
  uint64_t begin = 0, end = 0;  ///< of its bytes, as they are packed, in the archive
  uint64_t bytes = 0;           ///< unpacked
  uint32_t checksum = 0;        ///< of what is unpacked
};

bool is_zip(std::span<const std::byte> bytes);

/// In the order of the archive's directory. Faults: nothing of it may lie outside of the archive, two entries have one
/// name, something that isn't read here.
Result<std::vector<ZipEntry>> read_zip(std::span<const std::byte> archive);

/// The entry's bytes; of deflated ones the checksum is compared.
Result<std::string> unzip(std::span<const std::byte> archive, const ZipEntry& entry);

}  // namespace lowtide::engine
