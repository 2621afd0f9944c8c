#include <algorithm>
#include <bit>
#include <cstring>

#include "text/proto/proto_shape.h"

namespace lowtide::engine {
namespace {

constexpr uint32_t kShape = 1, kTupleLiterals = 10;

/// The field of LiteralProto that has elements of this type.
uint32_t field_of(ElementType type) {
  using enum ElementType;
  switch (type) {
    case kPred: return 2;
    case kU8: return 3;
    case kS32: return 4;
    case kS64: return 5;
    case kU32: return 6;
    case kU64: return 7;
    case kF32: return 8;
    case kF64: return 9;
    case kF16: return 11;
    case kC64: return 12;
    case kBF16: return 13;
    case kS8: return 15;
    case kU16: return 16;
    case kS16: return 17;
    case kC128: return 18;
    case kF8E5M2: return 19;
    case kF8E4M3FN: return 20;
    case kS4: return 21;
    case kU4: return 22;
    case kF8E4M3B11FNUZ: return 23;
    case kF8E5M2FNUZ: return 24;
    case kF8E4M3FNUZ: return 25;
    case kS2: return 26;
    case kU2: return 27;
    case kF8E4M3: return 28;
    case kF8E3M4: return 29;
    case kS1: return 30;
    case kU1: return 31;
    case kF4E2M1FN: return 32;
    case kF8E8M0FNU: return 33;
    default: return 0;
  }
}

bool is_varint_field(ElementType type) {
  using enum ElementType;
  return type == kPred || type == kS32 || type == kS64 || type == kU32 || type == kU64;
}

/// Elements of sub-byte types, one per byte: unpacks them if the file has several in a byte, the first in the low bits;
/// signed ones are sign-extended to the byte.
std::string unpack_small(std::string_view bytes, int64_t count, ElementType type) {
  const int bits = type_bits(type);
  std::string out(static_cast<size_t>(count), '\0');
  const bool packed = bytes.size() != out.size();
  const int per_byte = 8 / bits;
  for (size_t i = 0; i < out.size(); ++i) {
    const auto byte = static_cast<unsigned char>(packed ? bytes[i / static_cast<size_t>(per_byte)] : bytes[i]);
    unsigned value = packed ? byte >> (bits * static_cast<int>(i % static_cast<size_t>(per_byte))) : byte;
    value &= (1u << bits) - 1;
    if (type_kind(type) == TypeKind::kSigned && (value >> (bits - 1)) != 0) value |= 0xffu << bits;
    out[i] = static_cast<char>(value);
  }
  return out;
}

/// The file's elements in the form in which literals store them, but still in the layout's order; empty if the file has
/// none.
std::string stored_elements(const WireMessage& proto, ElementType type, int64_t count, WireFault& fault) {
  const uint32_t number = field_of(type);
  const auto width = static_cast<size_t>(stored_bytes(type));
  std::string out;
  if (is_varint_field(type)) {
    const std::vector<int64_t> values = proto.integers(number);
    if (values.empty()) return out;
    out.resize(values.size() * width);
    for (size_t i = 0; i < values.size(); ++i) {
      const int64_t value = type == ElementType::kPred ? values[i] != 0 : values[i];
      std::memcpy(out.data() + i * width, &value, width);  // little endian, as everywhere below
    }
  } else {
    for (const std::string_view part : proto.texts(number)) out += part;
    // A list may also be encoded unpacked, number by number; existing writers do that only for lists of one.
    if (out.empty() && type == ElementType::kF32 && proto.has(number)) {
      const float value = proto.number32(number);
      out.assign(reinterpret_cast<const char*>(&value), sizeof(value));
    }
    if (out.empty() && type == ElementType::kF64 && proto.has(number)) {
      const double value = proto.number64(number);
      out.assign(reinterpret_cast<const char*>(&value), sizeof(value));
    }
    const int bits = type_bits(type);
    const auto elements = static_cast<size_t>(count);
    if (bits < 8 && !out.empty()) {
      if (out.size() == elements || out.size() == (elements * static_cast<size_t>(bits) + 7) / 8)
        out = unpack_small(out, count, type);
    }
  }
  if (!out.empty() && out.size() != static_cast<size_t>(count) * width) {
    fault.raise("a constant with another number of elements than its shape");
    out.clear();
  }
  return out;
}

/// Copies elements from the layout's order to the logical order of literals.
void copy_to_logical(const Shape& shape, const std::string& physical, std::span<std::byte> logical, size_t width) {
  const Dims& minor_to_major = shape.layout->minor_to_major;
  const size_t rank = shape.dims.size();
  Dims stride(rank, 1);  // in the logical order
  for (size_t d = rank - 1; d > 0; --d) stride[d - 1] = stride[d] * shape.dims[d];
  Dims index(rank, 0);
  const size_t count = physical.size() / width;
  int64_t at = 0;
  for (size_t n = 0; n < count; ++n) {
    std::memcpy(logical.data() + static_cast<size_t>(at) * width, physical.data() + n * width, width);
    for (const int64_t dimension : minor_to_major) {
      const auto d = static_cast<size_t>(dimension);
      at += stride[d];
      if (++index[d] < shape.dims[d]) break;
      at -= stride[d] * shape.dims[d];
      index[d] = 0;
    }
  }
}

}  // namespace

Value literal_from_proto(const WireMessage& proto, WireFault& fault) {
  static_assert(std::endian::native == std::endian::little);
  const Shape shape = shape_from_proto(proto.message(kShape), fault);
  if (fault.what) return nullptr;
  if (shape.is_tuple()) {
    std::vector<Value> parts;
    for (const WireMessage& part : proto.messages(kTupleLiterals)) {
      parts.push_back(literal_from_proto(part, fault));
      if (!parts.back()) return nullptr;
    }
    if (parts.size() == shape.elements.size()) return std::make_shared<const Literal>(std::move(parts));
    fault.raise("a constant with another number of elements than its shape");
    return nullptr;
  }
  if (shape.type == ElementType::kToken) return std::make_shared<const Literal>(Literal::token());
  if (!shape.is_array() || std::ranges::find(shape.dims, kUnboundedDim) != shape.dims.end()) {
    fault.raise("a constant whose shape has no elements to count");
    return nullptr;
  }
  const int64_t count = element_count(shape);
  const std::string elements = stored_elements(proto, shape.type, count, fault);
  if (fault.what) return nullptr;
  if (elements.empty() && count > 0) return std::make_shared<const Literal>(Literal::unknown(shape));
  Literal literal(shape);
  if (count == 0) return std::make_shared<const Literal>(std::move(literal));
  if (is_row_major(shape)) {
    std::memcpy(literal.bytes().data(), elements.data(), elements.size());
  } else {
    copy_to_logical(shape, elements, literal.bytes(), static_cast<size_t>(stored_bytes(shape.type)));
  }
  return std::make_shared<const Literal>(std::move(literal));
}

}  // namespace lowtide::engine
