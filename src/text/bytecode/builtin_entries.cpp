// Reads attributes and types of MLIR's builtin dialect: names, dictionaries, locations, and the types of Shardy's
// operations.
#include <fmt/format.h>

#include "text/bytecode/bytecode_entries.h"
#include "text/stablehlo/mlir_attributes.h"

namespace lowtide::engine {
namespace {

enum Attribute : uint64_t {
  kArray = 0,
  kDictionary = 1,
  kString = 2,
  kStringWithType = 3,
  kFlatSymbol = 4,
  kSymbol = 5,
  kType = 6,
  kUnit = 7,
  kInteger = 8,
  kFloat = 9,
  kCallSite = 10,
  kFileLineColumn = 11,
  kFused = 12,
  kFusedWithMetadata = 13,
  kNamed = 14,
  kUnknown = 15,
  kDenseResource = 16,
  kDenseArray = 17,
  kDenseElements = 18,
  kFileRange = 22,
};

enum Type : uint64_t {
  kIntegerType = 0,
  kIndex = 1,
  kFunction = 2,
  kBF16 = 3,
  kF16 = 4,
  kF32 = 5,
  kF64 = 6,
  kComplex = 9,
  kNone = 12,
  kTensor = 13,
  kEncodedTensor = 14,
  kTuple = 15,
};

}  // namespace

void BytecodeEntries::read_builtin_attribute(ByteCursor& cursor, BytecodeAttribute& attribute) {
  using Kind = BytecodeAttribute::Kind;
  const uint64_t code = cursor.varint();
  const auto next = [&]() -> const BytecodeAttribute& { return this->attribute(cursor.varint()); };
  const auto place_of = [&] {
    const uint64_t number = cursor.varint();
    const std::string name = location(number);
    return name.empty() ? std::string("unknown") : name;
  };
  switch (code) {
    case kArray: read_items(cursor, attribute); return describe_array(attribute);
    case kDictionary: read_pairs(cursor, attribute); return describe_dictionary(attribute);
    case kString: return read_string(cursor, attribute);
    case kStringWithType:
      read_string(cursor, attribute);
      (void)cursor.varint();
      return;
    case kFlatSymbol: {
      const BytecodeAttribute& name = next();
      attribute.kind = Kind::kString;
      attribute.string = name.string;
      attribute.text = mlir_reference(name.string);
      return;
    }
    case kType:
      attribute.kind = Kind::kType;
      attribute.type = &type(cursor.varint());
      attribute.text = attribute.type->text;
      return;
    case kUnit: attribute.kind = Kind::kNothing; return;
    case kInteger: return read_integer(cursor, attribute);
    case kFloat: return read_float(cursor, attribute);
    case kDenseArray: return read_integers(cursor, attribute);
    case kDenseResource: return read_resource(cursor, attribute);
    case kDenseElements:
      attribute.type = &type(cursor.varint());
      attribute.bytes = cursor.bytes(cursor.varint());
      return describe_tensor(attribute);
    default: break;
  }
  attribute.kind = Kind::kLocation;
  switch (code) {
    case kCallSite: {
      const std::string callee = place_of(), caller = place_of();
      attribute.text = fmt::format("callsite({} at {})", callee, caller);
      return;
    }
    case kFileLineColumn: {
      const std::string_view file = next().string;
      const uint64_t line = cursor.varint(), column = cursor.varint();
      attribute.text = fmt::format("{}:{}:{}", mlir_quote(file), line, column);
      return;
    }
    case kFileRange: {
      const std::string_view file = next().string;
      uint64_t numbers[2] = {};
      const size_t n = cursor.count("parts of a place");
      for (size_t i = 0; i < n; ++i) {
        const uint64_t number = cursor.varint();
        if (i < 2) numbers[i] = number;
      }
      attribute.text = fmt::format("{}:{}:{}", mlir_quote(file), numbers[0], numbers[1]);
      return;
    }
    case kFused:
    case kFusedWithMetadata: {
      const size_t n = cursor.count("locations");
      for (size_t i = 0; i < n && !fault_.found(); ++i) attribute.text += (i > 0 ? ", " : "") + place_of();
      attribute.text = "fused[" + attribute.text + ']';
      if (code == kFusedWithMetadata) (void)next();
      return;
    }
    case kNamed: {
      const std::string name(next().string), child = place_of();
      attribute.text = mlir_quote(name) + (child == "unknown" ? "" : '(' + child + ')');
      return;
    }
    case kUnknown: attribute.is_default = true; return;
    default:
      return fault_.raise(cursor.place(), fmt::format("builtin attributes of code {} are not known", code),
                          Fault::kUnsupported);
  }
}

void BytecodeEntries::read_resource(ByteCursor& cursor, BytecodeAttribute& attribute) {
  attribute.type = &type(cursor.varint());
  const uint64_t number = cursor.varint();
  if (fault_.found()) return;
  if (number >= file_.resources.size()) {
    return cursor.raise(fmt::format("found resource {} of {}", number, file_.resources.size()));
  }
  const BytecodeFile::Resource& resource = file_.resources[number];
  attribute.kind = BytecodeAttribute::Kind::kTensor;
  attribute.bytes = resource.bytes;
  attribute.text = resource.is_there ? blob_text(resource.bytes) : "dense_resource<__elided__>";
  attribute.text += " : " + attribute.type->text;
}

/// `array<i64: 1, 2>`: little-endian, without gaps; booleans take a byte each.
void BytecodeEntries::read_integers(ByteCursor& cursor, BytecodeAttribute& attribute) {
  const BytecodeType& element = type(cursor.varint());
  const uint64_t n = cursor.varint();
  const std::string_view bytes = cursor.bytes(cursor.varint());
  const auto width = static_cast<size_t>(element.width + 7) / 8;
  if (fault_.found()) return;
  if (element.is_float || width == 0 || width > sizeof(int64_t)) {
    return cursor.raise("arrays of " + element.text + " are not known", Fault::kUnsupported);
  }
  if (n > bytes.size() || n * width != bytes.size())
    return cursor.raise("found an array of another length than it says");
  for (uint64_t i = 0; i < n; ++i) {
    uint64_t value = 0;
    for (size_t b = 0; b < width; ++b) value |= uint64_t{static_cast<unsigned char>(bytes[i * width + b])} << 8 * b;
    const int unused = 64 - static_cast<int>(8 * width);
    const int64_t number = static_cast<int64_t>(value << unused) >> unused;
    attribute.text +=
        (i > 0 ? ", " : ": ") + (element.width == 1 ? (number != 0 ? "true" : "false") : std::to_string(number));
  }
  attribute.text = "array<" + element.text + attribute.text + '>';
}

void BytecodeEntries::read_builtin_type(ByteCursor& cursor, BytecodeType& type) {
  const uint64_t code = cursor.varint();
  const auto floating = [&](const char* text, int width) {
    type.text = text;
    type.width = width;
    type.is_float = true;
  };
  switch (code) {
    case kIntegerType: {
      const uint64_t bits = cursor.varint();
      constexpr uint64_t kWidest = 1 << 24;
      if (bits >> 2 > kWidest || (bits & 3) == 3) return cursor.raise("found an integer type that doesn't exist");
      type.width = static_cast<int>(bits >> 2);
      type.is_unsigned = (bits & 3) == 2;
      type.text = fmt::format("{}i{}", (bits & 3) == 0 ? "" : type.is_unsigned ? "u" : "s", type.width);
      return;
    }
    case kIndex:
      type.text = "index";
      type.width = 64;
      return;
    case kFunction: {
      const std::string inputs = type_list(cursor), outputs = type_list(cursor);
      type.text = fmt::format("({}) -> ({})", inputs, outputs);
      return;
    }
    case kBF16: return floating("bf16", 16);
    case kF16: return floating("f16", 16);
    case kF32: return floating("f32", 32);
    case kF64: return floating("f64", 64);
    case kComplex: type.text = fmt::format("complex<{}>", this->type(cursor.varint()).text); return;
    case kNone:
      type.text = "none";
      type.nothing = true;
      return;
    case kTensor: return read_tensor_type(cursor, type, {});
    case kEncodedTensor: {
      const std::string encoding = attribute(cursor.varint()).text;
      return read_tensor_type(cursor, type, encoding);
    }
    case kTuple: type.text = fmt::format("tuple<{}>", type_list(cursor)); return;
    default:
      return fault_.raise(cursor.place(), fmt::format("builtin types of code {} are not known", code),
                          Fault::kUnsupported);
  }
}

}  // namespace lowtide::engine
