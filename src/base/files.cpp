#include "base/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/progress.h"

namespace lowtide {
namespace {

/// Names of files being written, for the signal handler: a place is taken before its file is made, and given back after
/// the rename. A file that finds no place is only safe from faults, not from signals.
struct Unfinished {
  std::atomic<bool> taken{false}, there{false};
  char name[4096];
};
std::array<Unfinished, 4> unfinished;

void remember(const std::string& name) {
  for (Unfinished& place : unfinished) {
    if (name.size() >= sizeof place.name || place.taken.exchange(true)) continue;
    std::memcpy(place.name, name.c_str(), name.size() + 1);
    place.there.store(true);
    return;
  }
}

void forget(const std::string& name) {
  for (Unfinished& place : unfinished) {
    if (!place.there.load() || name != place.name) continue;
    place.there.store(false);
    place.taken.store(false);
  }
}

Status cannot_write(const std::string& path, int error) {
  return Status::usage(fmt::format("can't write {}: {}", path, std::strerror(error)));
}

}  // namespace

void remove_unfinished_files() noexcept {
  for (Unfinished& place : unfinished) {
    if (place.there.load()) ::unlink(place.name);
  }
}

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

Result<PartialFile> PartialFile::create(const std::string& path) {
  PartialFile file;
  file.path_ = path;
  file.temporary_ = fmt::format("{}.{}.part", path, ::getpid());
  remember(file.temporary_);
  file.descriptor_ = ::open(file.temporary_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file.descriptor_ < 0) return cannot_write(path, errno);
  return file;
}

PartialFile::PartialFile(PartialFile&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::exchange(other.temporary_, {})),
      descriptor_(std::exchange(other.descriptor_, -1)) {}

PartialFile::~PartialFile() {
  if (temporary_.empty()) return;
  if (descriptor_ >= 0) {
    ::close(descriptor_);
    ::unlink(temporary_.c_str());
  }
  forget(temporary_);
}

Status PartialFile::commit() {
  const std::string temporary = std::exchange(temporary_, {});
  int error = ::close(std::exchange(descriptor_, -1)) != 0 ? errno : 0;
  if (error == 0 && ::rename(temporary.c_str(), path_.c_str()) != 0) error = errno;
  if (error != 0) ::unlink(temporary.c_str());
  forget(temporary);
  return error == 0 ? Status() : cannot_write(path_, error);
}

Status write_stdout(std::string_view content) {
  erase_progress();
  std::fflush(stdout);
  const int error = write_all(STDOUT_FILENO, content);
  if (error == 0 || error == EPIPE) return {};
  return cannot_write("stdout", error);
}

Status write_file(const std::string& path, std::string_view content) {
  if (path == "-") return write_stdout(content);
  if (is_special_file(path)) {
    const int file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (file < 0) return cannot_write(path, errno);
    const int error = write_all(file, content);
    ::close(file);
    return error == 0 || error == EPIPE ? Status() : cannot_write(path, error);
  }
  LT_ASSIGN_OR_RETURN(PartialFile file, PartialFile::create(path));
  if (const int error = write_all(file.descriptor(), content); error != 0) return cannot_write(path, error);
  return file.commit();
}

}  // namespace lowtide
