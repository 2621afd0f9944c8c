#include "codegen/kernel_cache.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <vector>

#include "base/debug.h"

namespace lowtide {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kBlock = 4096;                 ///< what a disk gives to a file, or a multiple
constexpr uint64_t kMagic = 0x314e52454b544c00;  // "LTKERN1"

struct Header {
  uint64_t magic = kMagic;
  TextHash key, content;  ///< of the object's bytes
  uint64_t size = 0;
};

}  // namespace

std::string kernel_cache_directory() {
  const Knobs& k = knobs();
  if (!k.cache_directory.empty()) return k.cache_directory;
  if (!k.user_cache_directory.empty()) return k.user_cache_directory + "/lowtide";
  return k.home_directory.empty() ? "" : k.home_directory + "/.cache/lowtide";
}

KernelCache::KernelCache(std::string directory, int64_t most_bytes)
    : directory_(std::move(directory)), most_bytes_(most_bytes) {
  std::error_code ignored;
  if (!directory_.empty()) fs::create_directories(directory_, ignored);
}

std::string KernelCache::path_of(TextHash key) const {
  return fmt::format("{}/{:016x}{:016x}.kernel", directory_, key.high, key.low);
}

std::optional<std::string> KernelCache::find(TextHash key) const {
  if (directory_.empty()) return {};
  const int file = ::open(path_of(key).c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  Header header;
  std::string object;
  bool good = ::read(file, &header, sizeof(header)) == static_cast<ssize_t>(sizeof(header)) && header.magic == kMagic &&
              header.key == key && header.size < uint64_t{1} << 30;
  if (good) {
    object.resize(header.size);
    size_t read = 0;
    while (read < object.size()) {
      const ssize_t got = ::read(file, object.data() + read, object.size() - read);
      if (got <= 0) break;
      read += static_cast<size_t>(got);
    }
    good = read == object.size() && hash_text(object) == header.content;
  }
  struct stat status{};
  constexpr int64_t kHour = 3600;  // the time of use needs no more precision than that
  if (good && ::fstat(file, &status) == 0 && status.st_mtime + kHour < ::time(nullptr)) ::futimens(file, nullptr);
  ::close(file);
  if (!good) return {};
  return object;
}

void KernelCache::store(TextHash key, std::string_view object) const {
  if (directory_.empty()) return;
  static std::atomic<int> number{0};
  const std::string path = path_of(key);
  const std::string temporary = fmt::format("{}.{}.{}.part", path, ::getpid(), number.fetch_add(1));
  const int file = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) return;
  const Header header{.key = key, .content = hash_text(object), .size = object.size()};
  const bool written = ::write(file, &header, sizeof(header)) == static_cast<ssize_t>(sizeof(header)) &&
                       ::write(file, object.data(), object.size()) == static_cast<ssize_t>(object.size());
  const bool closed = ::close(file) == 0;
  if (!written || !closed || ::rename(temporary.c_str(), path.c_str()) != 0) ::unlink(temporary.c_str());
}

void KernelCache::drop_oldest() const {
  struct File {
    fs::path path;
    int64_t bytes = 0;
    int64_t used = 0;
  };
  if (directory_.empty()) return;
  std::vector<File> files;
  int64_t total = 0;
  std::error_code fault;
  for (auto entry = fs::directory_iterator(directory_, fault); !fault && entry != fs::directory_iterator();
       entry.increment(fault)) {
    const fs::path& path = entry->path();
    struct stat status{};
    if ((path.extension() != ".kernel" && path.extension() != ".part") || ::stat(path.c_str(), &status) != 0) continue;
    files.push_back({path, (status.st_size + kBlock - 1) / kBlock * kBlock, status.st_mtime});
    total += files.back().bytes;
  }
  std::sort(files.begin(), files.end(), [](const File& a, const File& b) { return a.used < b.used; });
  for (const File& file : files) {
    if (total <= most_bytes_) return;
    if (::unlink(file.path.c_str()) == 0) total -= file.bytes;
  }
}

}  // namespace lowtide
