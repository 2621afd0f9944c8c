#include "base/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace lowtide::engine {
namespace {

Status cannot_write(const std::string& path, int error) {
  return Status::usage(fmt::format("can't write {}: {}", path, std::strerror(error)));
}

}  // namespace

int write_all(int descriptor, std::string_view content) {
  while (!content.empty()) {
    const ssize_t written = ::write(descriptor, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    content.remove_prefix(static_cast<size_t>(written));
  }
  return 0;
}

bool is_special_file(const std::string& path) {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode);
}

namespace {

/// A path in the same folder with an unpredictable name, so that nobody can place a link there beforehand.
std::string temporary_beside(const std::string& path) {
  uint64_t random = 0;
  if (::getrandom(&random, sizeof random, 0) != static_cast<ssize_t>(sizeof random)) return {};
  constexpr size_t kLongestName = 200;  // of 255, so that a long name has room for the rest
  const size_t folder = path.rfind('/') == std::string::npos ? 0 : path.rfind('/') + 1;
  return fmt::format("{}.{:016x}.part", path.substr(0, folder + std::min(path.size() - folder, kLongestName)), random);
}

/// Gives a new file the owner and mode of the one it replaces. If the group can't be kept, the new file's group has no
/// rights.
bool take_over(int descriptor, const struct stat& replaced) {
  struct stat own{};
  if (::fstat(descriptor, &own) != 0) return false;
  mode_t mode = replaced.st_mode & 0777;
  const bool same = own.st_uid == replaced.st_uid && own.st_gid == replaced.st_gid;
  if (!same && ::fchown(descriptor, replaced.st_uid, replaced.st_gid) != 0 && own.st_gid != replaced.st_gid &&
      ::fchown(descriptor, static_cast<uid_t>(-1), replaced.st_gid) != 0) {
    mode &= ~static_cast<mode_t>(S_IRWXG);
  }
  return ::fchmod(descriptor, mode) == 0;
}

}  // namespace

Result<PartialFile> PartialFile::create(const std::string& path, OpenFiles* files) {
  PartialFile file;
  file.path_ = path;
  struct stat replaced{};
  const bool replaces = ::stat(path.c_str(), &replaced) == 0;
  constexpr int kHow = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  do {
    file.temporary_ = temporary_beside(path);
    file.unfinished_ = std::make_unique<UnfinishedFile>(files, file.temporary_);
    file.descriptor_ = ::open(file.temporary_.c_str(), kHow, replaces ? 0600 : 0666);
  } while (file.descriptor_ < 0 && errno == EEXIST);
  if (file.descriptor_ < 0 || (replaces && !take_over(file.descriptor_, replaced))) return cannot_write(path, errno);
  return file;
}

PartialFile::PartialFile(PartialFile&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::exchange(other.temporary_, {})),
      unfinished_(std::move(other.unfinished_)),
      descriptor_(std::exchange(other.descriptor_, -1)) {}

PartialFile::~PartialFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  ::unlink(temporary_.c_str());
}

Status PartialFile::commit() {
  int error = ::close(std::exchange(descriptor_, -1)) != 0 ? errno : 0;
  if (error == 0 && ::rename(temporary_.c_str(), path_.c_str()) != 0) error = errno;
  if (error != 0) ::unlink(temporary_.c_str());
  unfinished_.reset();
  return error == 0 ? Status() : cannot_write(path_, error);
}

Status write_file(const std::string& path, std::string_view content, OpenFiles* files) {
  if (is_special_file(path)) {
    const int file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (file < 0) return cannot_write(path, errno);
    const int error = write_all(file, content);
    ::close(file);
    return error == 0 || error == EPIPE ? Status() : cannot_write(path, error);
  }
  LT_ASSIGN_OR_RETURN(PartialFile file, PartialFile::create(path, files));
  if (const int error = write_all(file.descriptor(), content); error != 0) return cannot_write(path, error);
  return file.commit();
}

}  // namespace lowtide::engine
