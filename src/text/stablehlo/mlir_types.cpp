#include "text/stablehlo/mlir_types.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>

namespace lowtide::engine {
namespace {

constexpr int kDeepestType = 32;
constexpr size_t kMostDimensions = 64;
constexpr int64_t kMostBits = int64_t{1} << 53;  // one array: 1 PiB, as in HLO text

std::optional<ElementType> element_from_name(std::string_view name) {
  using enum ElementType;
  static const std::unordered_map<std::string_view, ElementType> kNames = {{"i1", kPred},
                                                                           {"si1", kS1},
                                                                           {"ui1", kU1},
                                                                           {"i2", kS2},
                                                                           {"i4", kS4},
                                                                           {"i8", kS8},
                                                                           {"i16", kS16},
                                                                           {"i32", kS32},
                                                                           {"i64", kS64},
                                                                           {"index", kS64},
                                                                           {"ui2", kU2},
                                                                           {"ui4", kU4},
                                                                           {"ui8", kU8},
                                                                           {"ui16", kU16},
                                                                           {"ui32", kU32},
                                                                           {"ui64", kU64},
                                                                           {"f4E2M1FN", kF4E2M1FN},
                                                                           {"f8E3M4", kF8E3M4},
                                                                           {"f8E4M3", kF8E4M3},
                                                                           {"f8E4M3FN", kF8E4M3FN},
                                                                           {"f8E4M3B11FNUZ", kF8E4M3B11FNUZ},
                                                                           {"f8E4M3FNUZ", kF8E4M3FNUZ},
                                                                           {"f8E5M2", kF8E5M2},
                                                                           {"f8E5M2FNUZ", kF8E5M2FNUZ},
                                                                           {"f8E8M0FNU", kF8E8M0FNU},
                                                                           {"f16", kF16},
                                                                           {"bf16", kBF16},
                                                                           {"f32", kF32},
                                                                           {"f64", kF64}};
  const auto found = kNames.find(name.starts_with("si") && name != "si1" ? name.substr(1) : name);
  return found == kNames.end() ? std::nullopt : std::optional(found->second);
}

Result<ElementType> read_element(MlirScanner& scanner) {
  scanner.peek();
  const MlirScanner before = scanner;
  if (scanner.peek() == '!' && scanner.signed_name('!').starts_with("quant.")) {
    return Status::unsupported("quantized element types can't be computed with").at(scanner.source(), before.place());
  }
  const std::string_view name = scanner.identifier();
  if (name == "complex" && scanner.eat("<")) {
    const std::string_view part = scanner.identifier();
    if (part == "f32" && scanner.eat(">")) return ElementType::kC64;
    if (part == "f64" && scanner.eat(">")) return ElementType::kC128;
  } else if (const std::optional<ElementType> type = element_from_name(name)) {
    return *type;
  }
  scanner.move_to(before.at());
  return scanner.expected("an element type: f32, i1, ui8, complex<f32>, ...");
}

/// Reads the extents before the element type: `2x?x`.
Status read_dimensions(MlirScanner& scanner, Shape& shape) {
  for (;;) {
    const char c = scanner.peek();
    if (c == '*') return scanner.expected("a tensor of known rank");
    if (c != '?' && !is_digit(c)) return {};
    if (shape.dims.size() == kMostDimensions) return scanner.expected("fewer dimensions");
    if (c == '?') {
      scanner.eat("?");
      shape.dims.push_back(kUnboundedDim);
    } else {
      const std::optional<int64_t> extent = scanner.integer();
      if (!extent) return scanner.expected("an extent");
      shape.dims.push_back(*extent);
    }
    if (!scanner.eat("x")) return scanner.expected("'x' and the next extent or the element type");
  }
}

/// Reads the bounds of dynamic extents: `, #stablehlo.bounds<?, 4>`. Other encodings aren't needed.
Status read_encoding(MlirScanner& scanner, Shape& shape) {
  scanner.peek();
  const Offset place = scanner.place();
  const std::string_view text = scanner.dictionary_value();
  const size_t open = text.find('<');
  if (text.find("bounds<") == std::string_view::npos) return {};
  TextCursor cursor(text.substr(open + 1));
  shape.dynamic.assign(shape.dims.size(), false);
  for (size_t d = 0; d < shape.dims.size(); ++d) {
    if (d > 0 && !cursor.eat(",")) return scanner.fault(place, "bounds of another rank than the tensor");
    if (cursor.eat("?")) continue;
    const std::optional<int64_t> bound = cursor.integer();
    if (!bound || *bound < 0) return scanner.fault(place, "a bound that is no extent");
    if (shape.dims[d] != kUnboundedDim) continue;
    shape.dims[d] = *bound;
    shape.dynamic[d] = true;
  }
  return {};
}

Result<Shape> read_type(MlirScanner& scanner, const MlirAliases& aliases, int depth);

/// Reads the types up to '>' as a tuple; the '<' has been read.
Result<Shape> read_types(MlirScanner& scanner, const MlirAliases& aliases, int depth) {
  std::vector<Shape> parts;
  while (scanner.peek() != '>') {
    LT_ASSIGN_OR_RETURN(Shape part, read_type(scanner, aliases, depth + 1));
    parts.push_back(std::move(part));
    if (!scanner.eat(",")) break;
  }
  if (!scanner.eat(">")) return scanner.expected("',' or '>'");
  return Shape::tuple(std::move(parts));
}

Result<Shape> read_type(MlirScanner& scanner, const MlirAliases& aliases, int depth) {
  if (depth > kDeepestType) return scanner.expected("a type nested less deeply");
  scanner.peek();
  const MlirScanner before = scanner;
  if (scanner.peek() == '!') {
    const std::string_view name = scanner.signed_name('!');
    if (name == "stablehlo.token" || name == "mhlo.token") return Shape::token();
    if (name == "stablehlo.future" || name == "mhlo.async_bundle") {
      if (!scanner.eat("<")) return scanner.expected("'<' and the types of the results");
      return read_types(scanner, aliases, depth);
    }
    const auto alias = aliases.find(name);
    if (alias != aliases.end()) {
      MlirScanner aliased(scanner.source(), static_cast<size_t>(alias->second.data() - scanner.text().data()));
      return read_type(aliased, aliases, depth + 1);
    }
    scanner.move_to(before.at());
    return scanner.expected("a tensor, a tuple or a token");
  }
  const std::string_view kind = scanner.identifier();
  if (kind == "tensor" && scanner.eat("<")) {
    Shape shape = Shape::array(ElementType::kF32, {});
    LT_RETURN_IF_ERROR(read_dimensions(scanner, shape));
    LT_ASSIGN_OR_RETURN(shape.type, read_element(scanner));
    if (scanner.eat(",")) LT_RETURN_IF_ERROR(read_encoding(scanner, shape));
    if (!scanner.eat(">")) return scanner.expected("'>' behind the element type");
    int64_t bits = std::max(type_bits(shape.type), 8);
    for (const int64_t extent : shape.dims) {
      if (bits > kMostBits / std::max<int64_t>(extent, 1)) {
        return Status(Fault::kLimit, "this array has more than 1 PiB").at(scanner.source(), before.place());
      }
      bits *= std::max<int64_t>(extent, 1);
    }
    return shape;
  }
  if (kind == "tuple" && scanner.eat("<")) {
    return read_types(scanner, aliases, depth);
  }
  scanner.move_to(before.at());
  return scanner.expected("a type: tensor<...>, tuple<...> or !stablehlo.token");
}

}  // namespace

Result<Shape> read_mlir_type(MlirScanner& scanner, const MlirAliases& aliases) {
  return read_type(scanner, aliases, 0);
}

Result<std::vector<Shape>> read_mlir_results(MlirScanner& scanner, const MlirAliases& aliases) {
  std::vector<Shape> types;
  if (!scanner.eat("(")) {
    LT_ASSIGN_OR_RETURN(Shape type, read_mlir_type(scanner, aliases));
    types.push_back(std::move(type));
    return types;
  }
  while (scanner.peek() != ')') {
    LT_ASSIGN_OR_RETURN(Shape type, read_mlir_type(scanner, aliases));
    types.push_back(std::move(type));
    if (!scanner.eat(",")) break;
  }
  if (!scanner.eat(")")) return scanner.expected("',' or ')' behind a type");
  return types;
}

Result<MlirFunctionType> read_mlir_function_type(MlirScanner& scanner, const MlirAliases& aliases) {
  MlirFunctionType type;
  if (scanner.peek() != '(') return scanner.expected("the types of the operands in parentheses");
  LT_ASSIGN_OR_RETURN(type.operands, read_mlir_results(scanner, aliases));
  if (!scanner.eat("->")) return scanner.expected("'->' and the types of the results");
  LT_ASSIGN_OR_RETURN(type.results, read_mlir_results(scanner, aliases));
  return type;
}

bool is_of_type(const Shape& shape, const Shape& type) {
  if (same_shape(shape, type)) return true;
  if (shape.is_tuple() && type.is_tuple() && shape.elements.size() == type.elements.size()) {
    return std::ranges::equal(shape.elements, type.elements, is_of_type);
  }
  if (!shape.is_array() || !type.is_array() || shape.type != type.type || !type.dynamic.empty()) return false;
  return std::ranges::equal(shape.dims, type.dims,
                            [](int64_t extent, int64_t of) { return extent == of || of == kUnboundedDim; });
}

bool has_unknown_extent(const Shape& type) {
  if (type.is_tuple()) return std::ranges::any_of(type.elements, has_unknown_extent);
  return type.is_array() && std::ranges::find(type.dims, kUnboundedDim) != type.dims.end();
}

std::string mlir_type_name(ElementType type) {
  switch (type_kind(type)) {
    case TypeKind::kPredicate: return "i1";
    case TypeKind::kSigned: return type == ElementType::kS1 ? "si1" : fmt::format("i{}", type_bits(type));
    case TypeKind::kUnsigned: return fmt::format("ui{}", type_bits(type));
    case TypeKind::kComplex: return type == ElementType::kC64 ? "complex<f32>" : "complex<f64>";
    default: break;
  }
  std::string name(type_name(type));
  if (name.starts_with("f8") || name.starts_with("f4")) {  // f8e4m3fn is f8E4M3FN
    for (size_t i = 2; i < name.size(); ++i) name[i] = static_cast<char>(std::toupper(name[i]));
  }
  return name;
}

std::string mlir_type_text(const Shape& shape) {
  if (shape.is_tuple()) {
    std::string parts;
    for (const Shape& part : shape.elements) parts += (parts.empty() ? "" : ", ") + mlir_type_text(part);
    return fmt::format("tuple<{}>", parts);
  }
  if (!shape.is_array()) return "!stablehlo.token";
  std::string text = "tensor<", bounds;
  bool bounded = false;
  for (size_t d = 0; d < shape.dims.size(); ++d) {
    const bool dynamic = d < shape.dynamic.size() && shape.dynamic[d];
    const bool known = !dynamic && shape.dims[d] != kUnboundedDim;
    text += known ? fmt::format("{}x", shape.dims[d]) : "?x";
    bounds += fmt::format("{}{}", d > 0 ? ", " : "", dynamic ? std::to_string(shape.dims[d]) : "?");
    bounded |= dynamic;
  }
  return text + mlir_type_name(shape.type) + (bounded ? fmt::format(", #stablehlo.bounds<{}>>", bounds) : ">");
}

}  // namespace lowtide::engine
