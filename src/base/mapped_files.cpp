#include "base/mapped_files.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>

namespace lowtide::engine {
namespace {

/// A place is taken before it is filled in, and what is asked about it counts only while `end` is set.
struct Mapping {
  std::atomic<bool> taken{false};
  std::atomic<uintptr_t> begin{0}, end{0};
  char name[512];
};
std::array<Mapping, 1024> mappings;

}  // namespace

MappedFile::MappedFile(const void* begin, size_t bytes, const std::string& file) : place_(-1) {
  for (size_t i = 0; i < mappings.size(); ++i) {
    Mapping& mapping = mappings[i];
    if (mapping.taken.exchange(true)) continue;
    const size_t shown = std::min(file.size(), sizeof mapping.name - 1);
    std::memcpy(mapping.name, file.data(), shown);
    mapping.name[shown] = 0;
    mapping.begin.store(reinterpret_cast<uintptr_t>(begin));
    mapping.end.store(reinterpret_cast<uintptr_t>(begin) + bytes);
    place_ = static_cast<int>(i);
    return;
  }
}

MappedFile::~MappedFile() {
  if (place_ < 0) return;
  Mapping& mapping = mappings[static_cast<size_t>(place_)];
  mapping.end.store(0);
  mapping.taken.store(false);
}

const char* file_mapped_at(const void* address) noexcept {
  const auto at = reinterpret_cast<uintptr_t>(address);
  for (const Mapping& mapping : mappings) {
    if (mapping.begin.load() <= at && at < mapping.end.load()) return mapping.name;
  }
  return nullptr;
}

}  // namespace lowtide::engine
