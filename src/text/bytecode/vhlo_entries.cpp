// Reads attributes and types of VHLO, StableHLO's versioned dialect for serialisation.
#include <fmt/format.h>

#include <array>
#include <span>

#include "text/bytecode/bytecode_entries.h"
#include "text/bytecode/vhlo_codes.h"

namespace lowtide::engine {
namespace {

enum Attribute : uint64_t {
  kArray = 1,
  kBool = 2,
  kDirection = 3,
  kComparison = 4,
  kApi = 5,
  kDictionary = 6,
  kFft = 7,
  kFloat = 8,
  kInteger = 9,
  kAlias = 10,
  kPrecision = 11,
  kAlgorithm = 12,
  kDistribution = 13,
  kString = 14,
  kTensor = 15,
  kTranspose = 16,
  kType = 17,
  kExtensions = 18,
  kAccuracyMode = 19,
  kAccuracy = 20,
  kSubAxisInfo = 21,
  kAxisOfMesh = 22,
  kGroupsByMesh = 23,
  kAxisAndSize = 24,
  kInlineMesh = 25,
};

constexpr std::array<std::string_view, 6> kDirections = {"EQ", "NE", "GE", "GT", "LE", "LT"};
constexpr std::array<std::string_view, 5> kComparisons = {"NOTYPE", "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED"};
constexpr std::array<std::string_view, 5> kApis = {"0", "1", "2", "3", "4"};
constexpr std::array<std::string_view, 4> kFfts = {"FFT", "IFFT", "RFFT", "IRFFT"};
constexpr std::array<std::string_view, 3> kPrecisions = {"DEFAULT", "HIGH", "HIGHEST"};
constexpr std::array<std::string_view, 3> kAlgorithms = {"DEFAULT", "THREE_FRY", "PHILOX"};
constexpr std::array<std::string_view, 3> kDistributions = {"", "UNIFORM", "NORMAL"};
constexpr std::array<std::string_view, 4> kTransposes = {"TRANSPOSE_INVALID", "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"};
constexpr std::array<std::string_view, 3> kAccuracyModes = {"DEFAULT", "HIGHEST", "TOLERANCE"};

/// The words of an enumeration, and the text that StableHLO writes around them.
struct Enumeration {
  uint64_t code;
  std::string_view name;
  std::span<const std::string_view> words;
};
constexpr std::array<Enumeration, 9> kEnumerations = {{
    {kDirection, "comparison_direction", kDirections},
    {kComparison, "comparison_type", kComparisons},
    {kApi, "", kApis},
    {kFft, "fft_type", kFfts},
    {kPrecision, "precision", kPrecisions},
    {kAlgorithm, "rng_algorithm", kAlgorithms},
    {kDistribution, "rng_distribution", kDistributions},
    {kTranspose, "transpose", kTransposes},
    {kAccuracyMode, "result_accuracy_mode", kAccuracyModes},
}};

/// A type without parameters.
struct Plain {
  uint64_t code;
  std::string_view text;
  int width;
  char kind;  ///< 's' and 'u' for integers, 'f' for floating-point numbers, ' ' for others
};
constexpr std::array<Plain, 31> kPlain = {{
    {0, "i1", 1, 's'},
    {2, "bf16", 16, 'f'},
    {3, "f16", 16, 'f'},
    {4, "f32", 32, 'f'},
    {5, "f64", 64, 'f'},
    {6, "f8E4M3FN", 8, 'f'},
    {7, "f8E5M2", 8, 'f'},
    {9, "index", 64, 's'},
    {10, "i4", 4, 's'},
    {11, "i8", 8, 's'},
    {12, "i16", 16, 's'},
    {13, "i32", 32, 's'},
    {14, "i64", 64, 's'},
    {15, "ui4", 4, 'u'},
    {16, "ui8", 8, 'u'},
    {17, "ui16", 16, 'u'},
    {18, "ui32", 32, 'u'},
    {19, "ui64", 64, 'u'},
    {22, "!stablehlo.token", 0, ' '},
    {27, "f8E4M3FNUZ", 8, 'f'},
    {28, "f8E5M2FNUZ", 8, 'f'},
    {29, "f8E4M3B11FNUZ", 8, 'f'},
    {31, "i2", 2, 's'},
    {32, "ui2", 2, 'u'},
    {34, "tf32", 19, 'f'},
    {35, "f8E4M3", 8, 'f'},
    {36, "f8E3M4", 8, 'f'},
    {37, "f4E2M1FN", 4, 'f'},
    {38, "f6E2M3FN", 6, 'f'},
    {39, "f6E3M2FN", 6, 'f'},
    {40, "f8E8M0FNU", 8, 'f'},
}};

enum Type : uint64_t {
  kComplexType = 1,
  kFunction = 8,
  kTensorType = 20,
  kEncodedTensor = 21,
  kTuple = 23,
  kQuantised = 24,
  kQuantisedPerAxis = 30,
  kNone = 33,
  kBuffer = 41,
  kFuture = 42,
};

}  // namespace

std::optional<uint64_t> vhlo_type_code(std::string_view name) {
  if (name == "none") return kNone;
  for (const Plain& plain : kPlain) {
    if (plain.text == name) return plain.code;
  }
  return std::nullopt;
}

std::optional<uint64_t> vhlo_word(VhloEnumeration enumeration, std::string_view word) {
  for (const Enumeration& of : kEnumerations) {
    if (of.code != static_cast<uint64_t>(enumeration)) continue;
    for (size_t i = 0; i < of.words.size(); ++i) {
      if (of.words[i] == word && !word.empty()) return i;
    }
  }
  return std::nullopt;
}

void BytecodeEntries::read_vhlo_attribute(ByteCursor& cursor, BytecodeAttribute& attribute) {
  using Kind = BytecodeAttribute::Kind;
  const uint64_t code = cursor.varint();
  for (const Enumeration& of : kEnumerations) {
    if (of.code != code) continue;
    const uint64_t value = cursor.varint();
    if (value >= of.words.size() || of.words[value].empty()) {
      return cursor.raise(fmt::format("found {} as a {}", value, of.name));
    }
    attribute.number = static_cast<int64_t>(value);
    attribute.string = of.words[value];
    attribute.text = of.name.empty()         ? fmt::format("{} : i32", of.words[value])
                     : code == kAccuracyMode ? fmt::format("#stablehlo.{}<{}>", of.name, of.words[value])
                                             : fmt::format("#stablehlo<{} {}>", of.name, of.words[value]);
    return;
  }
  switch (code) {
    case kArray: read_items(cursor, attribute); return describe_array(attribute);
    case kBool:
      attribute.kind = Kind::kNumber;
      attribute.number = cursor.varint() != 0 ? 1 : 0;
      attribute.text = attribute.number != 0 ? "true" : "false";
      return;
    case kDictionary: read_pairs(cursor, attribute); return describe_dictionary(attribute);
    case kFloat: return read_float(cursor, attribute);
    case kInteger: return read_integer(cursor, attribute);
    case kAlias: {
      const std::vector<int64_t> output = read_signed(cursor);
      const int64_t operand = cursor.signed_varint();
      const std::vector<int64_t> index = read_signed(cursor);
      attribute.text = fmt::format(
          "#stablehlo.output_operand_alias<output_tuple_indices = [{}], operand_index = {}, "
          "operand_tuple_indices = [{}]>",
          fmt::join(output, ", "), operand, fmt::join(index, ", "));
      return;
    }
    case kString: return read_string(cursor, attribute);
    case kTensor:
      attribute.type = &type(cursor.varint());
      attribute.bytes = cursor.bytes(cursor.varint());
      return describe_tensor(attribute);
    case kType:
      attribute.kind = Kind::kType;
      attribute.type = &type(cursor.varint());
      attribute.text = attribute.type->text;
      return;
    case kExtensions: {
      std::string bounds;
      for (const int64_t bound : read_signed(cursor)) {
        bounds += (bounds.empty() ? "" : ", ") + (bound == kBytecodeDynamic ? "?" : std::to_string(bound));
      }
      attribute.text = fmt::format("#stablehlo.bounds<{}>", bounds);
      return;
    }
    case kAccuracy: {
      const int64_t atol = big_number(cursor, 64), rtol = big_number(cursor, 64), ulps = cursor.signed_varint();
      const BytecodeAttribute& mode = this->attribute(cursor.varint());
      attribute.is_default = mode.number == 0;
      attribute.text = fmt::format("#stablehlo.result_accuracy<atol = {}, rtol = {}, ulps = {}, mode = {}>",
                                   fmt::format("{:e}", std::bit_cast<double>(atol)),
                                   fmt::format("{:e}", std::bit_cast<double>(rtol)), ulps, mode.text);
      return;
    }
    case kSubAxisInfo: {
      const int64_t before = cursor.signed_varint(), size = cursor.signed_varint();
      attribute.text = fmt::format("({}){}", before, size);
      return;
    }
    case kAxisOfMesh: {
      attribute.text = fmt::format("#stablehlo.axis_ref<name = {}", this->attribute(cursor.varint()).text);
      if (cursor.varint() != 0)
        attribute.text += fmt::format(", sub_axis_info = {}", this->attribute(cursor.varint()).text);
      attribute.text += '>';
      return;
    }
    case kGroupsByMesh: {
      const BytecodeAttribute& mesh = this->attribute(cursor.varint());
      const BytecodeAttribute& axes = this->attribute(cursor.varint());
      const std::string name = mesh.text.starts_with('"') ? "@" + std::string(mesh.string) : std::string(mesh.text);
      attribute.text = fmt::format("#stablehlo.replica_group_mesh_axes<mesh = {}, axes = {}>", name, axes.text);
      return;
    }
    case kAxisAndSize: {
      const std::string& name = this->attribute(cursor.varint()).text;
      attribute.text = fmt::format("#stablehlo.mesh_axis<name = {}, size = {}>", name, cursor.signed_varint());
      return;
    }
    case kInlineMesh: {
      attribute.text = fmt::format("#stablehlo.mesh<axes = {}", this->attribute(cursor.varint()).text);
      bool has_devices = false;
      const uint64_t devices = cursor.flagged(has_devices);
      if (has_devices) attribute.text += fmt::format(", device_ids = {}", this->attribute(devices).text);
      attribute.text += '>';
      return;
    }
    default:
      return fault_.raise(cursor.place(), fmt::format("VHLO's attributes of code {} are not known", code),
                          Fault::kUnsupported);
  }
}

void BytecodeEntries::read_vhlo_type(ByteCursor& cursor, BytecodeType& type) {
  const uint64_t code = cursor.varint();
  for (const Plain& plain : kPlain) {
    if (plain.code != code) continue;
    type.text = plain.text;
    type.width = plain.width;
    type.is_unsigned = plain.kind == 'u';
    type.is_float = plain.kind == 'f';
    return;
  }
  switch (code) {
    case kComplexType: type.text = fmt::format("complex<{}>", this->type(cursor.varint()).text); return;
    case kFunction: {
      const std::string inputs = type_list(cursor), outputs = type_list(cursor);
      type.text = fmt::format("({}) -> ({})", inputs, outputs);
      return;
    }
    case kTensorType: return read_tensor_type(cursor, type, {});
    case kEncodedTensor: {
      const std::string encoding = attribute(cursor.varint()).text;
      return read_tensor_type(cursor, type, encoding);
    }
    case kTuple: type.text = fmt::format("tuple<{}>", type_list(cursor)); return;
    case kFuture: type.text = fmt::format("!stablehlo.future<{}>", type_list(cursor)); return;
    case kNone:
      type.text = "none";
      type.nothing = true;
      return;
    default:
      return fault_.raise(cursor.place(),
                          code == kQuantised || code == kQuantisedPerAxis
                              ? std::string("quantized element types can't be computed with")
                              : fmt::format("VHLO's types of code {} are not known", code),
                          Fault::kUnsupported);
  }
}

}  // namespace lowtide::engine
