#include "text/bytecode/byte_writer.h"

namespace lowtide::engine {

void ByteWriter::varint(uint64_t value) {
  constexpr int kMost = 8;  // bytes with a length prefix; larger values are a zero byte and eight whole bytes
  int size = 1;
  while (size <= kMost && (value >> (7 * size)) != 0) ++size;
  if (size > kMost) {
    byte(0);
    for (int i = 0; i < 8; ++i) byte(static_cast<uint8_t>(value >> (8 * i)));
    return;
  }
  // From the lowest bit: one zero bit per further byte, then a one, then the value.
  const uint64_t whole = ((value << 1) | 1) << (size - 1);
  for (int i = 0; i < size; ++i) byte(static_cast<uint8_t>(whole >> (8 * i)));
}

}  // namespace lowtide::engine
