#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/memory.h"
#include "base/sizes.h"

namespace lowtide::engine {
namespace {

constexpr size_t kHugePage = size_t{2} << 20;

size_t page_bytes() {
  static const auto kPage = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  return kPage;
}

size_t round_up(size_t value, size_t unit) { return (value + unit - 1) / unit * unit; }

Status no_room(int64_t bytes, const std::string& what) {
  const AvailableMemory available = available_memory();
  return {Fault::kLimit, fmt::format("{} needs {} ({} bytes), but {} has only {} left", what, format_bytes(bytes),
                                     bytes, available.bound_by, format_bytes(available.bytes))};
}

}  // namespace

Result<Pages> Pages::make(int64_t bytes, const std::string& what) {
  LT_ASSERT(bytes >= 0, "negative size of " + what);
  Pages pages;
  if (bytes == 0) return pages;
  const size_t page = page_bytes(), body = round_up(static_cast<size_t>(bytes), page);
  const size_t alignment = body >= 2 * kHugePage ? kHugePage : page;
  const size_t reserved_bytes = body + alignment + 2 * page;
  void* reserved = ::mmap(nullptr, reserved_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (reserved == MAP_FAILED) return no_room(bytes, what);
  pages.reserved_ = reserved;
  pages.reserved_bytes_ = reserved_bytes;
  const size_t begin = round_up(reinterpret_cast<uintptr_t>(reserved) + page, alignment);
  pages.data_ = static_cast<std::byte*>(reserved) + (begin - reinterpret_cast<uintptr_t>(reserved));
  pages.size_ = bytes;
  if (::mprotect(pages.data_, body, PROT_READ | PROT_WRITE) != 0) return no_room(bytes, what);
  if (alignment == kHugePage) ::madvise(pages.data_, body, MADV_HUGEPAGE);
  return pages;
}

Pages& Pages::operator=(Pages&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(reserved_, other.reserved_);
  std::swap(reserved_bytes_, other.reserved_bytes_);
  return *this;
}

Pages::~Pages() {
  if (reserved_) ::munmap(reserved_, reserved_bytes_);
}

void Pages::forget() {
  if (data_) ::madvise(data_, round_up(static_cast<size_t>(size_), page_bytes()), MADV_DONTNEED);
}

int64_t resident_bytes(std::span<const std::byte> range) {
  if (range.empty()) return 0;
  const size_t page = page_bytes();
  const size_t first = reinterpret_cast<uintptr_t>(range.data()) / page;
  const size_t last = (reinterpret_cast<uintptr_t>(range.data()) + range.size() - 1) / page;
  const int file = ::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  if (file < 0) return static_cast<int64_t>(range.size());  // unknown: count all
  constexpr uint64_t kPresent = uint64_t{1} << 63, kSwapped = uint64_t{1} << 62;
  std::array<uint64_t, 4096> entries;
  int64_t pages = 0;
  for (size_t at = first; at <= last;) {
    const size_t count = std::min(entries.size(), last - at + 1);
    const ssize_t got = ::pread(file, entries.data(), count * 8, static_cast<off_t>(at * 8));
    if (got <= 0) break;
    for (size_t i = 0; i < static_cast<size_t>(got) / 8; ++i) pages += (entries[i] & (kPresent | kSwapped)) != 0;
    at += static_cast<size_t>(got) / 8;
  }
  ::close(file);
  return pages * static_cast<int64_t>(page);
}

}  // namespace lowtide::engine
