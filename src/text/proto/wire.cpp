#include "text/proto/wire.h"

#include <bit>

namespace lowtide::engine {
namespace {

constexpr int kDeepest = 64;  // nested tuples are the only recursion in HLO protos
constexpr size_t kMostFields = size_t{1} << 23;

uint64_t little_endian(std::string_view bytes, size_t count) {
  uint64_t value = 0;
  for (size_t i = 0; i < count; ++i) value |= uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
  return value;
}

}  // namespace

bool take_varint(std::string_view& bytes, uint64_t& value) {
  value = 0;
  for (size_t i = 0; i < bytes.size() && i < 10; ++i) {
    const auto byte = static_cast<unsigned char>(bytes[i]);
    value |= uint64_t{byte & 0x7fu} << (7 * i);
    if (byte < 0x80) {
      bytes.remove_prefix(i + 1);
      return true;
    }
  }
  return false;
}

WireMessage::WireMessage(std::string_view bytes, WireFault& fault, int depth) : fault_(&fault), depth_(depth) {
  if (const char* wrong = depth > kDeepest ? "messages nested too deeply" : parse(bytes)) {
    fault.raise(wrong);
    fields_.clear();
  }
}

/// Returns null, or a description of the error in the bytes.
const char* WireMessage::parse(std::string_view bytes) {
  while (!bytes.empty()) {
    uint64_t tag = 0;
    if (!take_varint(bytes, tag)) return "a field's tag is cut off";
    const uint64_t number = tag >> 3;
    if (number == 0 || number > 0x1fffffff) return "a field's number is out of range";
    Field field{static_cast<uint32_t>(number), Kind::kVarint, 0, {}};
    switch (tag & 7) {
      case 0:
        if (!take_varint(bytes, field.value)) return "a varint is cut off";
        break;
      case 1:
      case 5: {
        const size_t width = (tag & 7) == 1 ? 8 : 4;
        if (bytes.size() < width) return "a fixed-width number is cut off";
        field.kind = width == 8 ? Kind::kFixed64 : Kind::kFixed32;
        field.value = little_endian(bytes, width);
        bytes.remove_prefix(width);
        break;
      }
      case 2: {
        uint64_t length = 0;
        if (!take_varint(bytes, length) || length > bytes.size()) return "a field is longer than its message";
        field.kind = Kind::kBytes;
        field.bytes = bytes.substr(0, length);
        bytes.remove_prefix(length);
        break;
      }
      default: return "a field has an unknown wire type";
    }
    if (fields_.size() == kMostFields) return "more than eight million fields in one message";
    fields_.push_back(field);
  }
  return nullptr;
}

const WireMessage::Field* WireMessage::find(uint32_t number) const {
  for (size_t i = fields_.size(); i-- > 0;) {  // of several fields with the same number the last one counts
    if (fields_[i].number == number) return &fields_[i];
  }
  return nullptr;
}

int64_t WireMessage::integer(uint32_t number, int64_t absent) const {
  const Field* field = find(number);
  return field && field->kind == Kind::kVarint ? static_cast<int64_t>(field->value) : absent;
}

std::string_view WireMessage::bytes(uint32_t number) const {
  const Field* field = find(number);
  return field && field->kind == Kind::kBytes ? field->bytes : std::string_view();
}

float WireMessage::number32(uint32_t number) const {
  const Field* field = find(number);
  return field && field->kind == Kind::kFixed32 ? std::bit_cast<float>(static_cast<uint32_t>(field->value)) : 0;
}

double WireMessage::number64(uint32_t number) const {
  const Field* field = find(number);
  return field && field->kind == Kind::kFixed64 ? std::bit_cast<double>(field->value) : 0;
}

WireMessage WireMessage::message(uint32_t number) const { return {bytes(number), *fault_, depth_ + 1}; }

std::vector<int64_t> WireMessage::integers(uint32_t number) const {
  std::vector<int64_t> all;
  for (const Field& field : fields_) {
    if (field.number != number) continue;
    if (field.kind == Kind::kVarint) all.push_back(static_cast<int64_t>(field.value));
    if (field.kind != Kind::kBytes) continue;
    std::string_view packed = field.bytes;
    while (!packed.empty()) {
      uint64_t value = 0;
      if (!take_varint(packed, value)) {
        fault_->raise("a list of numbers is cut off");
        return {};
      }
      all.push_back(static_cast<int64_t>(value));
    }
  }
  return all;
}

std::vector<std::string_view> WireMessage::texts(uint32_t number) const {
  std::vector<std::string_view> all;
  for (const Field& field : fields_) {
    if (field.number == number && field.kind == Kind::kBytes) all.push_back(field.bytes);
  }
  return all;
}

std::vector<WireMessage> WireMessage::messages(uint32_t number) const {
  std::vector<WireMessage> all;
  for (const std::string_view bytes : texts(number)) all.emplace_back(bytes, *fault_, depth_ + 1);
  return all;
}

size_t WireMessage::count(uint32_t number) const {
  size_t found = 0;
  for (const Field& field : fields_) found += field.number == number;
  return found;
}

}  // namespace lowtide::engine
