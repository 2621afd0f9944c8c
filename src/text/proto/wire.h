#pragma once
/// Protobuf's wire format: https://protobuf.dev/programming-guides/encoding. A message is read one level at a time;
/// what its fields mean is the caller's business.

#include <cstdint>
#include <string_view>
#include <vector>

namespace lowtide::engine {

/// The first thing found wrong in a tree of messages. All messages of one file share one.
struct WireFault {
  const char* what = nullptr;  ///< null: nothing wrong
  void raise(const char* found) {
    if (!what) what = found;
  }
};

/// The fields of one message. Accessors answer for a field that is absent, or of another wire type, as proto3 does:
/// with zero or nothing. A nested message that doesn't parse raises the shared fault and reads as empty, so mappings
/// need no error paths: whoever opened the outermost message looks at the fault in the end.
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
    uint64_t value;          ///< of varints and fixed numbers
    std::string_view bytes;  ///< of kBytes
  };
  const char* parse(std::string_view bytes);
  const Field* find(uint32_t number) const;

  std::vector<Field> fields_;
  WireFault* fault_;
  int depth_;
};

/// Takes a varint off the front; false where there is none.
bool take_varint(std::string_view& bytes, uint64_t& value);

}  // namespace lowtide::engine
