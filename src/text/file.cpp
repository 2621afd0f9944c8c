#include "text/file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "text/gzip.h"

namespace lowtide::engine {
namespace {

struct Close {
  void operator()(std::FILE* file) const {
    if (file != stdin) std::fclose(file);
  }
};
using File = std::unique_ptr<std::FILE, Close>;

/// Reads until the end or `limit` bytes; false on a read error.
bool read_up_to(std::FILE* file, size_t limit, std::string& out) {
  while (out.size() < limit) {
    const size_t had = out.size();
    const size_t step = std::min(limit - had, std::max<size_t>(had, size_t{64} << 10));
    out.resize(had + step);
    const size_t got = std::fread(out.data() + had, 1, step, file);
    out.resize(had + got);
    if (got < step) return std::ferror(file) == 0;
  }
  return true;
}

}  // namespace

Result<std::string> read_bytes(const std::string& path) {
  const File file(path == "-" ? stdin : std::fopen(path.c_str(), "rb"));
  const auto fault = [&](std::string_view what) { return Status::input(fmt::format("{}: {}", path, what)); };
  if (!file) return fault(std::strerror(errno));
  std::string bytes;
  if (!read_up_to(file.get(), kLargestInput + 1, bytes)) return fault(std::strerror(errno));
  if (bytes.size() > kLargestInput)
    return fault(fmt::format("larger than {} bytes, the most this version reads", kLargestInput));
  if (!is_gzip(bytes)) return bytes;
  Result<std::string> unpacked = gunzip(bytes, kLargestInput);
  if (!unpacked.ok()) return fault(unpacked.status().message());
  return unpacked;
}

std::string read_head(const std::string& path, size_t count) {
  const File file(std::fopen(path.c_str(), "rb"));
  std::string bytes;
  if (!file || !read_up_to(file.get(), count, bytes)) return {};
  return is_gzip(bytes) ? gunzip_head(bytes, count) : bytes;
}

}  // namespace lowtide::engine
