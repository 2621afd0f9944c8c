#include "codegen/kernel_cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <utility>
#include <vector>

#include "base/files.h"

namespace lowtide::engine {
namespace {

constexpr int64_t kBlock = 4096;                      ///< disks allocate multiples of it
constexpr int64_t kLargestEntry = int64_t{64} << 20;  ///< kernels and plans are far smaller
constexpr int64_t kHour = 3600;                       ///< the precision of the time of last use
constexpr uint64_t kMagic = 0x3245484341434c00;       // "LCACHE2": the version of the format
constexpr std::string_view kSuffix = ".kernel", kUnfinished = ".part";
constexpr size_t kNameDigits = 32, kRandomDigits = 16;

/// The header of every file; the content follows, and nothing else.
struct Header {
  uint64_t magic = kMagic;
  TextHash name;     ///< of the entry: the file's own name
  TextHash content;  ///< of the content, its size and the name
};

/// Covers the name and the content, so that a renamed file, or one with a changed byte, is rejected.
TextHash checksum(TextHash name, std::string_view content) {
  const TextHash plain = hash_text(content);
  const uint64_t words[] = {kMagic, name.low, name.high, content.size(), plain.low, plain.high};
  return hash_text({reinterpret_cast<const char*>(words), sizeof words});
}

std::string file_name(TextHash name) { return fmt::format("{:016x}{:016x}{}", name.high, name.low, kSuffix); }

bool is_hexadecimal(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

enum class Ours : uint8_t { kNo, kEntry, kUnfinished };

/// Decides by the name: 32 digits and .kernel; for a file being written, followed by 16 more digits and .part.
Ours kind_of(std::string_view name) {
  constexpr size_t kEntry = kNameDigits + kSuffix.size(), kPart = kEntry + 1 + kRandomDigits + kUnfinished.size();
  if (name.size() != kEntry && name.size() != kPart) return Ours::kNo;
  if (!is_hexadecimal(name.substr(0, kNameDigits)) || name.substr(kNameDigits, kSuffix.size()) != kSuffix)
    return Ours::kNo;
  if (name.size() == kEntry) return Ours::kEntry;
  const bool part =
      name[kEntry] == '.' && is_hexadecimal(name.substr(kEntry + 1, kRandomDigits)) && name.ends_with(kUnfinished);
  return part ? Ours::kUnfinished : Ours::kNo;
}

bool is_own_file(const struct stat& about) {
  return S_ISREG(about.st_mode) && about.st_uid == ::geteuid() && (about.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/// Creates the folder and its parents, all accessible to this user only.
void make_folder(const std::string& directory) {
  for (size_t end = directory.find('/', 1); end != std::string::npos; end = directory.find('/', end + 1))
    ::mkdir(directory.substr(0, end).c_str(), 0700);
  ::mkdir(directory.c_str(), 0700);
}

}  // namespace

/// The folder that was checked, held open: what its path names later doesn't matter.
class KernelCache::Folder {
 public:
  static std::shared_ptr<const Folder> open(const std::string& directory, std::string& refusal) {
    if (directory.empty()) return nullptr;
    constexpr int kHow = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK;
    int descriptor = ::open(directory.c_str(), kHow);
    if (descriptor < 0 && errno == ENOENT) {
      make_folder(directory);
      descriptor = ::open(directory.c_str(), kHow);
    }
    if (descriptor < 0) return nullptr;
    std::shared_ptr<const Folder> folder(new Folder(descriptor));
    struct stat about{};
    if (::fstat(descriptor, &about) != 0) return nullptr;
    if (about.st_uid != ::geteuid()) {
      refuse(refusal, directory, fmt::format("it belongs to user {}, and code is taken from there", about.st_uid));
      return nullptr;
    }
    if ((about.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
      refuse(refusal, directory,
             fmt::format("others may write there (mode {:o}; chmod 700 mends that), and code is taken from there",
                         about.st_mode & 07777));
      return nullptr;
    }
    return folder;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { ::close(descriptor_); }
  int descriptor() const { return descriptor_; }

 private:
  static void refuse(std::string& refusal, const std::string& directory, std::string_view why) {
    refusal = fmt::format("{}: {}: the cache there is not used", directory, why);
  }
  explicit Folder(int descriptor) : descriptor_(descriptor) {}
  int descriptor_;
};

KernelCache::KernelCache(const std::string& directory, std::string choices, int64_t most_bytes)
    : folder_(Folder::open(directory, refusal_)), choices_(std::move(choices)), most_bytes_(most_bytes) {}

TextHash KernelCache::name_of(TextHash key) const {
  return hash_text(fmt::format("{}{:016x}{:016x}", choices_, key.high, key.low));
}

std::optional<std::string> KernelCache::find(TextHash key) const { return find_named(name_of(key)); }

void KernelCache::store(TextHash key, std::string_view content, OpenFiles* files) const {
  store_named(name_of(key), content, files);
}

std::optional<std::string> KernelCache::find_named(TextHash name) const {
  if (!folder_) return {};
  const int file =
      ::openat(folder_->descriptor(), file_name(name).c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return {};
  struct stat about{};
  Header header;
  constexpr auto kHeaderBytes = static_cast<int64_t>(sizeof header);
  bool good = ::fstat(file, &about) == 0 && is_own_file(about) && about.st_size >= kHeaderBytes &&
              about.st_size <= kLargestEntry && ::read(file, &header, sizeof header) == kHeaderBytes &&
              header.magic == kMagic && header.name == name;
  std::string content;
  if (good) {
    content.resize(static_cast<size_t>(about.st_size - kHeaderBytes));
    size_t read = 0;
    while (read < content.size()) {
      const ssize_t got = ::read(file, content.data() + read, content.size() - read);
      if (got <= 0) break;
      read += static_cast<size_t>(got);
    }
    good = read == content.size() && checksum(name, content) == header.content;
  }
  if (good && about.st_mtime + kHour < ::time(nullptr)) ::futimens(file, nullptr);
  ::close(file);
  if (!good) return {};
  return content;
}

void KernelCache::store_named(TextHash name, std::string_view content, OpenFiles* files) const {
  if (!folder_ || std::ssize(content) > kLargestEntry - static_cast<int64_t>(sizeof(Header))) return;
  const std::string final_name = file_name(name);
  uint64_t random = 0;
  if (::getrandom(&random, sizeof random, 0) != static_cast<ssize_t>(sizeof random)) return;
  const std::string temporary = fmt::format("{}.{:016x}{}", final_name, random, kUnfinished);
  const int folder = folder_->descriptor();
  const UnfinishedFile unfinished(files, fmt::format("/proc/self/fd/{}/{}", folder, temporary));
  const int file = ::openat(folder, temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (file < 0) return;
  const Header header{.name = name, .content = checksum(name, content)};
  const bool written =
      write_all(file, {reinterpret_cast<const char*>(&header), sizeof header}) == 0 && write_all(file, content) == 0;
  const bool closed = ::close(file) == 0;
  if (!written || !closed || ::renameat(folder, temporary.c_str(), folder, final_name.c_str()) != 0)
    ::unlinkat(folder, temporary.c_str(), 0);
}

void KernelCache::drop_oldest() const {
  struct File {
    std::string name;
    int64_t bytes = 0, used = 0;
  };
  if (!folder_) return;
  const int copy = ::openat(folder_->descriptor(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* const listing = copy < 0 ? nullptr : ::fdopendir(copy);
  if (listing == nullptr) {
    if (copy >= 0) ::close(copy);
    return;
  }
  std::vector<File> files;
  int64_t total = 0;
  const int64_t now = ::time(nullptr);
  while (const dirent* entry = ::readdir(listing)) {
    const Ours kind = kind_of(entry->d_name);
    struct stat about{};
    if (kind == Ours::kNo || ::fstatat(copy, entry->d_name, &about, AT_SYMLINK_NOFOLLOW) != 0 || !is_own_file(about))
      continue;
    if (kind == Ours::kUnfinished) {  // left by a killed process, unless it is recent
      if (about.st_mtime + kHour < now) ::unlinkat(copy, entry->d_name, 0);
      continue;
    }
    files.push_back({entry->d_name, (about.st_size + kBlock - 1) / kBlock * kBlock, about.st_mtime});
    total += files.back().bytes;
  }
  std::ranges::sort(files, {}, &File::used);
  for (const File& file : files) {
    if (total <= most_bytes_) break;
    if (::unlinkat(copy, file.name.c_str(), 0) == 0) total -= file.bytes;
  }
  ::closedir(listing);
}

}  // namespace lowtide::engine
