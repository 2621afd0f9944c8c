#pragma once
/// Writes the numbers of MLIR's bytecode (byte_cursor.h reads them).

#include <cstdint>
#include <string>
#include <string_view>

namespace lowtide::engine {

class ByteWriter {
 public:
  void byte(uint8_t value) { out_ += static_cast<char>(value); }
  void varint(uint64_t value);
  void signed_varint(int64_t value) {  ///< zigzag
    varint((static_cast<uint64_t>(value) << 1) ^ (value < 0 ? ~uint64_t{0} : 0));
  }
  void flagged(uint64_t value, bool flag) { varint(value << 1 | (flag ? 1 : 0)); }
  void bytes(std::string_view bytes) { out_ += bytes; }
  void blob(std::string_view bytes) {
    varint(bytes.size());
    out_ += bytes;
  }
  /// A section: its number, its length, its bytes.
  void section(uint8_t id, std::string_view bytes) {
    byte(id);
    blob(bytes);
  }
  const std::string& out() const { return out_; }
  std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

}  // namespace lowtide::engine
