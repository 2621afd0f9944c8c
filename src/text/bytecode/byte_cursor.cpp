#include "text/bytecode/byte_cursor.h"

#include <fmt/format.h>

#include <bit>

namespace lowtide::engine {

uint8_t ByteCursor::byte() {
  if (fault_->found()) return 0;
  if (at_ == bytes_.size()) return raise("found the end, expected another byte"), 0;
  return static_cast<uint8_t>(bytes_[at_++]);
}

uint64_t ByteCursor::varint() {
  const uint8_t first = byte();
  // The number of trailing zero bits is the number of further bytes; if all bits are zero, eight whole bytes follow.
  const int more = first == 0 ? 8 : std::countr_zero(first);
  uint64_t value = first == 0 ? 0 : first >> (more + 1);
  int shift = first == 0 ? 0 : 7 - more;
  if (first == 0 && fault_->found()) return 0;
  for (int i = 0; i < more; ++i, shift += 8) value |= static_cast<uint64_t>(byte()) << shift;
  return fault_->found() ? 0 : value;
}

int64_t ByteCursor::signed_varint() {
  const uint64_t value = varint();
  return static_cast<int64_t>((value >> 1) ^ (0 - (value & 1)));
}

uint64_t ByteCursor::flagged(bool& flag) {
  const uint64_t value = varint();
  flag = (value & 1) != 0;
  return value >> 1;
}

std::string_view ByteCursor::bytes(uint64_t n) {
  if (fault_->found()) return {};
  if (n > left()) return raise(fmt::format("found {} bytes, expected {}", left(), n)), std::string_view();
  const std::string_view taken = bytes_.substr(at_, n);
  at_ += n;
  return taken;
}

std::string_view ByteCursor::terminated() {
  if (fault_->found()) return {};
  const size_t end = bytes_.find('\0', at_);
  if (end == bytes_.npos) return raise("found no zero byte behind a text"), std::string_view();
  const std::string_view text = bytes_.substr(at_, end - at_);
  at_ = end + 1;
  return text;
}

size_t ByteCursor::count(const char* of) {
  const uint64_t n = varint();
  if (n > left()) {
    raise(fmt::format("found a count of {} {} where {} bytes are left", n, of, left()));
    return 0;
  }
  return n;
}

}  // namespace lowtide::engine
