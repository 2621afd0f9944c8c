// Encodes attributes and types of VHLO and of the builtin dialect, which vhlo_entries.cpp and builtin_entries.cpp
// decode.
#include <algorithm>
#include <bit>

#include "base/status.h"
#include "text/bytecode/bytecode_entries.h"
#include "text/bytecode/entry_pool.h"
#include "text/bytecode/vhlo_codes.h"
#include "text/stablehlo/mlir_types.h"

namespace lowtide::engine {
namespace {

constexpr std::string_view kVhlo = "vhlo", kBuiltin = "builtin";

/// A code, followed by numbers.
template <class... N>
std::string coded(uint64_t code, N... numbers) {
  ByteWriter out;
  out.varint(code);
  (out.varint(numbers), ...);
  return out.take();
}

std::string listed(uint64_t code, const std::vector<EntryPool::Number>& items) {
  ByteWriter out;
  out.varint(code);
  out.varint(items.size());
  for (const EntryPool::Number item : items) out.varint(item);
  return out.take();
}

std::string paired(uint64_t code, const std::vector<std::pair<EntryPool::Number, EntryPool::Number>>& items) {
  ByteWriter out;
  out.varint(code);
  out.varint(items.size());
  for (const auto& [key, value] : items) {
    out.varint(key);
    out.varint(value);
  }
  return out.take();
}

bool is_bounded(const Shape& shape) {
  return std::ranges::any_of(shape.dynamic, [](const auto dynamic) { return static_cast<bool>(dynamic); });
}

std::string tensor(uint64_t code, const Shape& shape, EntryPool::Number element,
                   std::optional<EntryPool::Number> encoding = {}) {
  ByteWriter out;
  out.varint(code);
  if (encoding) out.varint(*encoding);
  out.varint(shape.dims.size());
  for (size_t d = 0; d < shape.dims.size(); ++d) {
    out.signed_varint(d < shape.dynamic.size() && shape.dynamic[d] ? kBytecodeDynamic : shape.dims[d]);
  }
  out.varint(element);
  return out.take();
}

}  // namespace

EntryPool::Number EntryPool::vhlo_string(std::string_view text) { return attribute(kVhlo, coded(14, string(text))); }
EntryPool::Number EntryPool::vhlo_bool(bool value) { return attribute(kVhlo, coded(2, value ? 1U : 0U)); }
EntryPool::Number EntryPool::vhlo_type(Number type) { return attribute(kVhlo, coded(17, type)); }
EntryPool::Number EntryPool::vhlo_array(const std::vector<Number>& items) { return attribute(kVhlo, listed(1, items)); }

EntryPool::Number EntryPool::vhlo_enumeration(uint64_t code, uint64_t value) {
  return attribute(kVhlo, coded(code, value));
}

EntryPool::Number EntryPool::vhlo_dictionary(const std::vector<std::pair<Number, Number>>& items) {
  return attribute(kVhlo, paired(6, items));
}

EntryPool::Number EntryPool::vhlo_integer(int64_t value, std::string_view type) {
  ByteWriter out;
  out.varint(9);
  out.varint(plain(type));
  if (type.ends_with("i8") || type.ends_with("i4") || type.ends_with("i2") || type == "i1") {
    out.byte(static_cast<uint8_t>(value));
  } else {
    out.signed_varint(value);
  }
  return attribute(kVhlo, out.take());
}

EntryPool::Number EntryPool::vhlo_float(double value, bool is_double) {
  ByteWriter out;
  out.varint(8);
  out.varint(plain(is_double ? "f64" : "f32"));
  out.signed_varint(is_double ? std::bit_cast<int64_t>(value) : std::bit_cast<int32_t>(static_cast<float>(value)));
  return attribute(kVhlo, out.take());
}

EntryPool::Number EntryPool::vhlo_exactness() {
  // Neither tolerances nor a mode: the default accuracy.
  ByteWriter out;
  out.varint(20);
  for (int i = 0; i < 3; ++i) out.varint(0);
  out.varint(vhlo_enumeration(static_cast<uint64_t>(VhloEnumeration::kAccuracyMode), 0));
  return attribute(kVhlo, out.take());
}

EntryPool::Number EntryPool::vhlo_alias(const std::vector<int64_t>& output, int64_t operand,
                                        const std::vector<int64_t>& index) {
  ByteWriter out;
  const auto list = [&](const std::vector<int64_t>& numbers) {
    out.varint(numbers.size());
    for (const int64_t number : numbers) out.signed_varint(number);
  };
  out.varint(10);
  list(output);
  out.signed_varint(operand);
  list(index);
  return attribute(kVhlo, out.take());
}

EntryPool::Number EntryPool::vhlo_tensor(Number type, std::string_view elements) {
  ByteWriter out;
  out.varint(15);
  out.varint(type);
  out.blob(elements);
  return attribute(kVhlo, out.take());
}

EntryPool::Number EntryPool::vhlo_integers(const std::vector<int64_t>& values, std::string_view element,
                                           const std::vector<int64_t>& dims) {
  std::string bytes;
  if (element == "i1") {
    bytes = packed_bits(std::vector<bool>(values.begin(), values.end()));
  } else {
    bytes.assign(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(int64_t));
  }
  Shape shape;
  shape.dims = dims;
  return vhlo_tensor(type(kVhlo, tensor(20, shape, plain(element))), bytes);
}

std::string EntryPool::packed_bits(const std::vector<bool>& bits) {
  if (bits.empty()) return {};
  if (std::ranges::count(bits, bits[0]) == std::ssize(bits)) return bits[0] ? "\xff" : std::string(1, '\0');
  std::string bytes((bits.size() + 7) / 8, '\0');
  for (size_t i = 0; i < bits.size(); ++i) {
    if (bits[i]) bytes[i / 8] = static_cast<char>(bytes[i / 8] | 1 << (i % 8));
  }
  return bytes;
}

EntryPool::Number EntryPool::builtin_string(std::string_view text) {
  return attribute(kBuiltin, coded(2, string(text)));
}

EntryPool::Number EntryPool::builtin_integer(int64_t value, int bits) {
  ByteWriter out;
  out.varint(8);
  out.varint(type(kBuiltin, coded(0, static_cast<uint64_t>(bits) << 2)));
  if (bits <= 8) {
    out.byte(static_cast<uint8_t>(value));
  } else {
    out.signed_varint(value);
  }
  return attribute(kBuiltin, out.take());
}

EntryPool::Number EntryPool::builtin_dictionary(const std::vector<std::pair<Number, Number>>& items) {
  return attribute(kBuiltin, paired(1, items));
}

EntryPool::Number EntryPool::unknown_location() { return attribute(kBuiltin, coded(15)); }

EntryPool::Number EntryPool::named_location(std::string_view name, Number child) {
  return attribute(kBuiltin, coded(14, builtin_string(name), child));
}

EntryPool::Number EntryPool::file_location(std::string_view file, int64_t line) {
  return attribute(kBuiltin, coded(11, builtin_string(file), static_cast<uint64_t>(line), 0U));
}

EntryPool::Number EntryPool::plain(std::string_view name) {
  const std::optional<uint64_t> code = vhlo_type_code(name);
  LT_ASSERT(code, "VHLO has no such type: " + std::string(name));
  return type(kVhlo, coded(*code));
}

EntryPool::Number EntryPool::element(ElementType element) {
  const std::string name = mlir_type_name(element);
  constexpr std::string_view kComplex = "complex<";
  if (!name.starts_with(kComplex)) return plain(name);
  return type(kVhlo, coded(1, plain(std::string_view(name).substr(kComplex.size(), 3))));
}

EntryPool::Number EntryPool::of(const Shape& shape) {
  if (shape.is_tuple()) {
    std::vector<Number> parts;
    for (const Shape& part : shape.elements) parts.push_back(of(part));
    return type(kVhlo, listed(23, parts));
  }
  if (!shape.is_array()) return plain("!stablehlo.token");
  if (!is_bounded(shape)) return type(kVhlo, tensor(20, shape, element(shape.type)));
  ByteWriter bounds;
  bounds.varint(18);
  bounds.varint(shape.dims.size());
  for (size_t d = 0; d < shape.dims.size(); ++d) {
    bounds.signed_varint(d < shape.dynamic.size() && shape.dynamic[d] ? shape.dims[d] : kBytecodeDynamic);
  }
  return type(kVhlo, tensor(21, shape, element(shape.type), attribute(kVhlo, bounds.take())));
}

EntryPool::Number EntryPool::function(const std::vector<Shape>& operands, const std::vector<Shape>& results) {
  ByteWriter out;
  out.varint(8);
  for (const std::vector<Shape>* types : {&operands, &results}) {
    out.varint(types->size());
    for (const Shape& one : *types) out.varint(of(one));
  }
  return type(kVhlo, out.take());
}

std::optional<EntryPool::Number> EntryPool::builtin_of(const Shape& shape) {
  if (!shape.is_array() || is_bounded(shape)) return {};
  const std::string name = mlir_type_name(shape.type);
  uint64_t code = 0;
  if (name == "bf16" || name == "f16" || name == "f32" || name == "f64") {
    code = name == "bf16" ? 3 : name == "f16" ? 4 : name == "f32" ? 5 : 6;
    return type(kBuiltin, tensor(13, shape, type(kBuiltin, coded(code))));
  }
  const bool is_unsigned = name.starts_with("ui");
  if (!is_unsigned && !name.starts_with('i')) return {};
  code = static_cast<uint64_t>(type_bits(shape.type)) << 2 | (is_unsigned ? 2 : 0);
  if (shape.type == ElementType::kPred) code = 1 << 2;
  return type(kBuiltin, tensor(13, shape, type(kBuiltin, coded(0, code))));
}

bool EntryPool::has(const Shape& shape) {
  if (shape.is_tuple()) return std::ranges::all_of(shape.elements, has);
  if (!shape.is_array()) return true;
  const std::string name = mlir_type_name(shape.type);
  return name.starts_with("complex") || vhlo_type_code(name);
}

}  // namespace lowtide::engine
