#include "text/zip.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <set>

namespace lowtide::engine {
namespace {

// Records of the format (PKWARE's APPNOTE.TXT): their signatures, and the lengths of their fixed parts.
constexpr uint32_t kLocal = 0x04034b50, kCentral = 0x02014b50, kEnd = 0x06054b50, kEnd64 = 0x06064b50,
                   kEnd64Place = 0x07064b50;
constexpr size_t kLocalBytes = 30, kCentralBytes = 46, kEndBytes = 22, kEnd64Bytes = 56, kEnd64PlaceBytes = 20;
constexpr size_t kLongestComment = 65535;
constexpr uint16_t kExtra64 = 1, kStored = 0, kDeflated = 8, kEncrypted = 1;
constexpr uint32_t kIn64 = 0xffffffff;  ///< marks a number that is in the record's extra field
constexpr uint64_t kMostRatio = 1032;   ///< deflate's highest compression ratio
constexpr uint64_t kMostEntries = 1'000'000;

/// Reads numbers at offsets in the archive; beyond its end they are 0, and `whole` becomes false.
class Bytes {
 public:
  explicit Bytes(std::span<const std::byte> all) : all_(all) {}
  bool has(uint64_t at, uint64_t count) const { return at <= all_.size() && count <= all_.size() - at; }
  uint64_t number(uint64_t at, size_t bytes) const {
    uint64_t value = 0;
    if (has(at, bytes)) std::memcpy(&value, all_.data() + at, bytes);
    return value;
  }
  std::string text(uint64_t at, uint64_t count) const {
    return has(at, count) ? std::string(reinterpret_cast<const char*>(all_.data()) + at, count) : std::string();
  }
  uint64_t size() const { return all_.size(); }

 private:
  std::span<const std::byte> all_;
};

struct Directory {
  uint64_t entries = 0, bytes = 0, at = 0;
};

Result<Directory> find_directory(const Bytes& archive) {
  if (archive.size() < kEndBytes) return Status::input("too short for a zip archive");
  const uint64_t last = archive.size() - kEndBytes;
  uint64_t at = last + 1;
  do {
    if (at == 0 || last - at + 1 > kLongestComment)
      return Status::input("a zip archive without its directory: cut off?");
  } while (archive.number(--at, 4) != kEnd);
  Directory directory{archive.number(at + 10, 2), archive.number(at + 12, 4), archive.number(at + 16, 4)};
  const bool large = directory.entries == 0xffff || directory.bytes == kIn64 || directory.at == kIn64;
  if (large && at >= kEnd64PlaceBytes && archive.number(at - kEnd64PlaceBytes, 4) == kEnd64Place) {
    const uint64_t end = archive.number(at - kEnd64PlaceBytes + 8, 8);
    if (!archive.has(end, kEnd64Bytes) || archive.number(end, 4) != kEnd64)
      return Status::input("the directory of a large zip archive isn't where it says");
    directory = {archive.number(end + 32, 8), archive.number(end + 40, 8), archive.number(end + 48, 8)};
  }
  if (!archive.has(directory.at, directory.bytes) || directory.entries > kMostEntries ||
      directory.entries * kCentralBytes > directory.bytes) {
    return Status::input("the directory of the zip archive leaves it");
  }
  return directory;
}

/// Reads the sizes and the place of a large entry from its extra field.
void read_extra(const Bytes& archive, uint64_t at, uint64_t bytes, ZipEntry& entry, uint64_t& packed, uint64_t& local) {
  const uint64_t end = at + bytes;
  while (at + 4 <= end) {
    const uint64_t length = archive.number(at + 2, 2);
    if (archive.number(at, 2) != kExtra64) {
      at += 4 + length;
      continue;
    }
    uint64_t next = at + 4;
    const uint64_t stop = std::min(end, next + length);
    for (uint64_t* const number : {&entry.bytes, &packed, &local}) {
      if (*number != kIn64 || next + 8 > stop) continue;
      *number = archive.number(next, 8);
      next += 8;
    }
    return;
  }
}

}  // namespace

bool is_zip(std::span<const std::byte> bytes) {
  const uint64_t first = Bytes(bytes).number(0, 4);
  return first == kLocal || first == kEnd;
}

Result<std::vector<ZipEntry>> read_zip(std::span<const std::byte> bytes) {
  const Bytes archive(bytes);
  LT_ASSIGN_OR_RETURN(const Directory directory, find_directory(archive));
  std::vector<ZipEntry> entries;
  std::set<std::string> names;
  uint64_t at = directory.at;
  const uint64_t end = directory.at + directory.bytes;
  for (uint64_t k = 0; k < directory.entries; ++k) {
    if (at + kCentralBytes > end || archive.number(at, 4) != kCentral)
      return Status::input(fmt::format("entry {} of the zip archive's directory is damaged", k));
    const uint64_t name = archive.number(at + 28, 2), extra = archive.number(at + 30, 2);
    const uint64_t next = at + kCentralBytes + name + extra + archive.number(at + 32, 2);
    if (next > end) return Status::input(fmt::format("entry {} of the zip archive leaves its directory", k));
    ZipEntry entry;
    entry.name = archive.text(at + kCentralBytes, name);
    const auto fault = [&](const char* what) { return Status::input(entry.name + ": " + what); };
    if (archive.number(at + 8, 2) & kEncrypted) return fault("is encrypted");
    const uint64_t method = archive.number(at + 10, 2);
    if (method != kStored && method != kDeflated) return fault("is packed otherwise than by deflate");
    entry.deflated = method == kDeflated;
    entry.checksum = static_cast<uint32_t>(archive.number(at + 16, 4));
    uint64_t packed = archive.number(at + 20, 4), local = archive.number(at + 42, 4);
    entry.bytes = archive.number(at + 24, 4);
    read_extra(archive, at + kCentralBytes + name, extra, entry, packed, local);
    if (!archive.has(local, kLocalBytes) || archive.number(local, 4) != kLocal)
      return fault("isn't where it should be");
    entry.begin = local + kLocalBytes + archive.number(local + 26, 2) + archive.number(local + 28, 2);
    if (!archive.has(entry.begin, packed)) return fault("leaves the archive");
    entry.end = entry.begin + packed;
    if (!entry.deflated && packed != entry.bytes) return fault("has two sizes");
    if (entry.deflated && entry.bytes / kMostRatio > packed) return fault("claims more bytes than deflate can pack");
    if (!names.insert(entry.name).second) return fault("stands twice in the archive");
    entries.push_back(std::move(entry));
    at = next;
  }
  return entries;
}

Result<std::string> unzip(std::span<const std::byte> archive, const ZipEntry& entry) {
  const auto packed = archive.subspan(entry.begin, entry.end - entry.begin);
  if (!entry.deflated) return std::string(reinterpret_cast<const char*>(packed.data()), packed.size());
  const auto fault = [&](const char* what) { return Status::input(entry.name + ": " + what); };
  std::string out(entry.bytes, '\0');
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) return fault("can't be unpacked");
  uint64_t taken = 0, made = 0;
  int outcome = Z_OK;
  while (outcome == Z_OK) {
    const auto most = std::numeric_limits<uInt>::max();
    const auto in = static_cast<uInt>(std::min<uint64_t>(packed.size() - taken, most));
    const auto room = static_cast<uInt>(std::min<uint64_t>(out.size() - made, most));
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(packed.data() + taken));
    stream.avail_in = in;
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + made);
    stream.avail_out = room;
    outcome = inflate(&stream, Z_NO_FLUSH);
    taken += in - stream.avail_in;
    made += room - stream.avail_out;
    if (outcome == Z_OK && in == stream.avail_in && room == stream.avail_out) break;  // no progress any more
  }
  inflateEnd(&stream);
  if (outcome != Z_STREAM_END || made != entry.bytes) return fault("is damaged, or has another size than it says");
  uLong sum = ::crc32(0, nullptr, 0);
  for (uint64_t at = 0; at < made;) {
    const auto step = static_cast<uInt>(std::min<uint64_t>(made - at, 1U << 30));
    sum = ::crc32(sum, reinterpret_cast<const Bytef*>(out.data() + at), step);
    at += step;
  }
  if (static_cast<uint32_t>(sum) != entry.checksum) return fault("is damaged: its checksum is another one");
  return out;
}

}  // namespace lowtide::engine
