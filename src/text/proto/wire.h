#pragma once
/// Protobuf's wire format: https://protobuf.dev/programming-guides/encoding. A message is read one level at a time; the
/// caller knows the meaning of its fields.

#include <cstdint>
#include <string_view>
#include <vector>

namespace lowtide::engine {

/// The first error found in a tree of messages. All messages of one file share one fault.
struct WireFault {
  const char* what = nullptr;  ///< null: no error
  void raise(const char* found) {
    if (!what) what = found;
  }
};

/// The fields of one message. For a field that is absent or has another wire type, accessors return zero or an empty
/// value, as in proto3. A nested message that can't be parsed raises the shared fault and reads as empty, so that
/// conversions need no error paths: the code that opened the outermost message checks the fault at the end.
class WireMessage {
 public:
  WireMessage(std::string_view bytes, WireFault& fault, int depth = 0);

  bool has(uint32_t number) const { return find(number) != nullptr; }
  int64_t integer(uint32_t number, int64_t absent = 0) const;
  bool flag(uint32_t number) const { return integer(number) != 0; }
  std::string_view bytes(uint32_t number) const;
  float number32(uint32_t number) const;
  double number64(uint32_t number) const;
  WireMessage message(uint32_t number) const;

  std::vector<int64_t> integers(uint32_t number) const;  ///< packed or not
  std::vector<std::string_view> texts(uint32_t number) const;
  std::vector<WireMessage> messages(uint32_t number) const;
  size_t count(uint32_t number) const;
  bool empty() const { return fields_.empty(); }

 private:
  enum class Kind : uint8_t { kVarint, kFixed64, kBytes, kFixed32 };
  struct Field {
    uint32_t number;
    Kind kind;
    uint64_t value;          ///< for varints and fixed-width numbers
    std::string_view bytes;  ///< for kBytes
  };
  const char* parse(std::string_view bytes);
  const Field* find(uint32_t number) const;

  std::vector<Field> fields_;
  WireFault* fault_;
  int depth_;
};

/// Removes a varint from the front of `bytes`; false if there is none.
bool take_varint(std::string_view& bytes, uint64_t& value);

}  // namespace lowtide::engine
