#include "lowtide/files.h"

#include <sys/stat.h>

#include <filesystem>
#include <optional>
#include <utility>

#include "session/guard.h"
#include "text/dump/dump_files.h"
#include "text/file.h"

namespace lowtide {
namespace {

namespace fs = std::filesystem;
using FileNumber = std::pair<dev_t, ino_t>;

std::optional<FileNumber> number_of(const fs::path& path, mode_t kind) {
  struct stat about{};
  if (::stat(path.c_str(), &about) != 0 || (about.st_mode & S_IFMT) != kind) return std::nullopt;
  return FileNumber{about.st_dev, about.st_ino};
}

/// The file that holds the input: the part before '#', unless a file has the full name.
std::string file_of(const std::string& path) {
  std::error_code error;
  const size_t sign = path.rfind('#');
  return sign == std::string::npos || fs::exists(path, error) ? path : path.substr(0, sign);
}

/// Is the file a module or a report on one? Other files of a dump directory, such as HTML pages, aren't read.
bool is_read_of_dumps(const std::string& path) {
  constexpr size_t kHeadBytes = size_t{16} << 10;
  const std::string head = engine::read_head(path, kHeadBytes);
  return engine::classify_dump_file(path, fs::path(path).filename().string(), head).has_value();
}

}  // namespace

Result<std::string> read_file(const std::string& path) {
  return engine::guarded([&]() -> Result<std::string> {
    LT_TAKE(std::string bytes, engine::read_bytes(path));
    return bytes;
  });
}

bool is_read_of(const std::string& input, const std::string& file) {
  const std::string read = file_of(input);
  const auto number = number_of(file, S_IFREG);
  if (!number) return false;
  if (const auto folder = number_of(read, S_IFDIR)) {
    std::error_code error;
    for (fs::path at = fs::canonical(file, error).parent_path(); !error; at = at.parent_path()) {
      if (number_of(at, S_IFDIR) == folder) return is_read_of_dumps(file);
      if (at == at.parent_path()) return false;
    }
    return false;
  }
  return number_of(read, S_IFREG) == number;
}

}  // namespace lowtide
