#pragma once
/// Protobuf's wire format, as much of it as the messages of XLA that hosts pass need
/// (https://protobuf.dev/programming-guides/encoding).

#include <cstdint>
#include <string>
#include <string_view>

namespace lowtide::pjrt {

/// The fields of a protobuf message, one after another.
class Fields {
 public:
  explicit Fields(std::string_view bytes) : rest_(bytes) {}
  uint32_t number = 0;
  uint64_t value = 0;
  std::string_view bytes;

  /// False at the end, or if the message is malformed.
  bool next() {
    if (rest_.empty() || broken_) return false;
    const uint64_t key = varint();
    number = static_cast<uint32_t>(key >> 3);
    bytes = {};
    value = 0;
    switch (key & 7) {
      case 0: value = varint(); break;
      case 1: bytes = take(8); break;
      case 2: bytes = take(varint()); break;
      case 5: bytes = take(4); break;
      default: broken_ = true;
    }
    return !broken_;
  }
  bool is_broken() const { return broken_; }
  uint64_t varint() {
    uint64_t all = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (rest_.empty()) break;
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      all |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return all;
    }
    broken_ = true;
    return 0;
  }

 private:
  std::string_view take(uint64_t n) {
    if (broken_ || n > rest_.size()) return broken_ = true, std::string_view();
    const std::string_view taken = rest_.substr(0, n);
    rest_.remove_prefix(n);
    return taken;
  }
  std::string_view rest_;
  bool broken_ = false;
};

inline std::string varint(uint64_t number) {
  std::string bytes;
  for (; number >= 0x80; number >>= 7) bytes += static_cast<char>((number & 0x7f) | 0x80);
  return bytes + static_cast<char>(number);
}

/// A field of bytes: a text, another message, or packed numbers.
inline std::string field(uint32_t number, std::string_view bytes) {
  constexpr uint32_t kLengthDelimited = 2;
  return varint(number << 3 | kLengthDelimited).append(varint(bytes.size())).append(bytes);
}

}  // namespace lowtide::pjrt
