#include "text/gzip.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <limits>

namespace lowtide::engine {
namespace {

// Deflate's compression ratio is at most 1032:1; HLO text with its repeated lines reaches about 60:1.
constexpr size_t kSuspectRatio = 400;
constexpr size_t kAlwaysAllowed = size_t{64} << 20;

struct Inflater {
  z_stream stream{};
  bool ready = false;
  Inflater() { ready = inflateInit2(&stream, 15 + 16) == Z_OK; }  // 15: window bits, +16: gzip header
  ~Inflater() {
    if (ready) inflateEnd(&stream);
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
};

enum class Ending { kComplete, kFull, kDamaged, kTruncated };

/// Unpacks into `out` until the data ends or `out` holds `limit` bytes.
Ending unpack(std::string_view bytes, size_t limit, std::string& out) {
  Inflater inflater;
  if (!inflater.ready) return Ending::kDamaged;
  z_stream& stream = inflater.stream;
  std::string_view rest = bytes;
  for (;;) {
    if (stream.avail_in == 0) {
      if (rest.empty()) return Ending::kTruncated;
      const size_t step = std::min<size_t>(rest.size(), std::numeric_limits<uInt>::max());
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(rest.data()));
      stream.avail_in = static_cast<uInt>(step);
      rest.remove_prefix(step);
    }
    if (out.size() >= limit) return Ending::kFull;
    const size_t had = out.size();
    const size_t room = std::min({limit - had, std::max<size_t>(had, size_t{64} << 10), size_t{64} << 20});
    out.resize(had + room);
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + had);
    stream.avail_out = static_cast<uInt>(room);
    const int outcome = inflate(&stream, Z_NO_FLUSH);
    out.resize(had + room - stream.avail_out);
    if (outcome == Z_STREAM_END) {
      const std::string_view next(reinterpret_cast<const char*>(stream.next_in), stream.avail_in);
      if (!is_gzip(next)) return Ending::kComplete;  // zero padding after the last member is common
      if (inflateReset(&stream) != Z_OK) return Ending::kDamaged;
    } else if (outcome != Z_OK && outcome != Z_BUF_ERROR) {
      return Ending::kDamaged;
    }
  }
}

}  // namespace

bool is_gzip(std::string_view bytes) { return bytes.size() >= 3 && bytes.substr(0, 3) == "\x1f\x8b\x08"; }

Result<std::string> gunzip(std::string_view bytes, size_t limit) {
  const size_t by_ratio =
      std::max(kAlwaysAllowed, bytes.size() > limit / kSuspectRatio ? limit : bytes.size() * kSuspectRatio);
  const size_t allowed = std::min(limit, by_ratio);
  std::string out;
  switch (unpack(bytes, allowed, out)) {
    case Ending::kComplete: return out;
    case Ending::kDamaged: return Status::input(fmt::format("damaged gzip data after {} unpacked bytes", out.size()));
    case Ending::kTruncated:
      return Status::input(fmt::format("the gzip data ends early, after {} unpacked bytes", out.size()));
    case Ending::kFull: break;
  }
  return Status::input(
      fmt::format("{} bytes of gzip unpack to more than {} bytes; this is no program's text", bytes.size(), allowed));
}

std::string gunzip_head(std::string_view bytes, size_t count) {
  std::string out;
  unpack(bytes, count, out);
  return out;
}

}  // namespace lowtide::engine
