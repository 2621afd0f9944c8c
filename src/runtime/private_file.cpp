#include "runtime/private_file.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace lowtide::engine {

Result<PrivateFile> PrivateFile::map(int file, const std::string& path, int64_t offset, int64_t bytes,
                                     OpenFiles* files) {
  const auto fault = [&](int error) {
    return Status(error == ENOMEM ? Fault::kLimit : Fault::kInput, fmt::format("{}: {}", path, std::strerror(error)));
  };
  const int64_t page = ::sysconf(_SC_PAGESIZE), skipped = offset % page;
  PrivateFile result;
  result.mapped_bytes_ = static_cast<size_t>(bytes + skipped);
  void* const where =
      ::mmap(nullptr, result.mapped_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, offset - skipped);
  if (where == MAP_FAILED) return fault(errno);
  result.mapped_ = where;
  result.registered_ = std::make_unique<MappedFile>(files, where, result.mapped_bytes_, path);
  result.data_ = static_cast<std::byte*>(where) + skipped;
  return result;
}

PrivateFile::PrivateFile(PrivateFile&& other) noexcept { *this = std::move(other); }

PrivateFile& PrivateFile::operator=(PrivateFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(mapped_, other.mapped_);
  std::swap(mapped_bytes_, other.mapped_bytes_);
  std::swap(registered_, other.registered_);
  return *this;
}

PrivateFile::~PrivateFile() {
  registered_.reset();
  if (mapped_) ::munmap(mapped_, mapped_bytes_);
}

Status PrivateFile::restore() {
  if (::madvise(mapped_, mapped_bytes_, MADV_DONTNEED) == 0) return {};
  return {Fault::kInternal, fmt::format("pages of a file can't be read again: {}", std::strerror(errno))};
}

}  // namespace lowtide::engine
