#include "base/open_files.h"

#include <unistd.h>

#include <cstring>

namespace lowtide::engine {

void OpenFiles::remove_unfinished() const noexcept {
  for (const Unfinished& place : unfinished_) {
    if (place.there.load()) ::unlink(place.name);
  }
  for (const Unfinished& place : unfinished_) {
    if (place.there.load()) ::rmdir(place.name);  // now that it is empty
  }
}

const char* OpenFiles::mapped_at(const void* address) const noexcept {
  const auto at = reinterpret_cast<uintptr_t>(address);
  for (const Mapping& mapping : mappings_) {
    if (mapping.begin.load() <= at && at < mapping.end.load()) return mapping.name.load();
  }
  return nullptr;
}

UnfinishedFile::UnfinishedFile(OpenFiles* files, const std::string& name) {
  if (files == nullptr || name.size() >= sizeof(OpenFiles::Unfinished::name)) return;
  for (OpenFiles::Unfinished& place : files->unfinished_) {
    if (place.taken.exchange(true)) continue;
    std::memcpy(place.name, name.c_str(), name.size() + 1);
    place.there.store(true);
    place_ = &place;
    return;
  }
}

UnfinishedFile::~UnfinishedFile() {
  if (place_ == nullptr) return;
  place_->there.store(false);
  place_->taken.store(false);
}

MappedFile::MappedFile(OpenFiles* files, const void* begin, size_t bytes, const std::string& file) : name_(file) {
  if (files == nullptr) return;
  for (OpenFiles::Mapping& mapping : files->mappings_) {
    if (mapping.taken.exchange(true)) continue;
    mapping.name.store(name_.c_str());
    mapping.begin.store(reinterpret_cast<uintptr_t>(begin));
    mapping.end.store(reinterpret_cast<uintptr_t>(begin) + bytes);
    place_ = &mapping;
    return;
  }
}

MappedFile::~MappedFile() {
  if (place_ == nullptr) return;
  place_->end.store(0);
  place_->taken.store(false);
}

}  // namespace lowtide::engine
