#include "base/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace lowtide {
namespace {

// Name of the temporary being written, for the signal handler: set before the file is made, cleared after the rename.
char unfinished_name[4096];
std::atomic<bool> unfinished{false};

Status cannot_write(const std::string& path, int error) {
  return Status::usage(fmt::format("can't write {}: {}", path, std::strerror(error)));
}

int write_all(int file, std::string_view content) {
  while (!content.empty()) {
    const ssize_t written = ::write(file, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    content.remove_prefix(static_cast<size_t>(written));
  }
  return 0;
}

}  // namespace

void remove_unfinished_file() noexcept {
  if (unfinished.load()) ::unlink(unfinished_name);
}

Status write_stdout(std::string_view content) {
  std::fflush(stdout);
  const int error = write_all(STDOUT_FILENO, content);
  if (error == 0 || error == EPIPE) return {};
  return cannot_write("stdout", error);
}

Status write_file(const std::string& path, std::string_view content) {
  if (path == "-") return write_stdout(content);
  struct stat status{};
  if (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {  // /dev/null, a pipe: nothing to rename over
    if (S_ISDIR(status.st_mode)) return cannot_write(path, EISDIR);
    const int file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (file < 0) return cannot_write(path, errno);
    const int error = write_all(file, content);
    ::close(file);
    return error == 0 || error == EPIPE ? Status() : cannot_write(path, error);
  }
  const std::string temporary = fmt::format("{}.{}.part", path, ::getpid());
  if (temporary.size() >= sizeof(unfinished_name)) return cannot_write(path, ENAMETOOLONG);
  std::memcpy(unfinished_name, temporary.c_str(), temporary.size() + 1);
  unfinished.store(true);
  int error = 0;
  const int file = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) {
    error = errno;
  } else {
    error = write_all(file, content);
    if (::close(file) != 0 && error == 0) error = errno;
    if (error == 0 && ::rename(temporary.c_str(), path.c_str()) != 0) error = errno;
    if (error != 0) ::unlink(temporary.c_str());
  }
  unfinished.store(false);
  return error == 0 ? Status() : cannot_write(path, error);
}

}  // namespace lowtide
