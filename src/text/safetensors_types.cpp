#include "text/safetensors_types.h"

#include <algorithm>
#include <iterator>

namespace lowtide::engine {
namespace {

struct TypeRow {
  std::string_view text;
  ElementType type;
};
constexpr TypeRow kTypes[] = {
    {"BOOL", ElementType::kPred},        {"I8", ElementType::kS8},          {"I16", ElementType::kS16},
    {"I32", ElementType::kS32},          {"I64", ElementType::kS64},        {"U8", ElementType::kU8},
    {"U16", ElementType::kU16},          {"U32", ElementType::kU32},        {"U64", ElementType::kU64},
    {"F16", ElementType::kF16},          {"BF16", ElementType::kBF16},      {"F32", ElementType::kF32},
    {"F64", ElementType::kF64},          {"C64", ElementType::kC64},        {"C128", ElementType::kC128},
    {"F8_E4M3", ElementType::kF8E4M3FN}, {"F8_E5M2", ElementType::kF8E5M2}, {"F8_E8M0", ElementType::kF8E8M0FNU},
};

}  // namespace

std::optional<ElementType> tensor_type_from_text(std::string_view text) {
  for (const TypeRow& row : kTypes) {
    if (row.text == text) return row.type;
  }
  return std::nullopt;
}

std::optional<ElementType> tensor_carrier(ElementType type) {
  if (is_integral(type) && type_bits(type) < 8) {
    return type_kind(type) == TypeKind::kSigned ? ElementType::kS8 : ElementType::kU8;
  }
  const bool known =
      std::any_of(std::begin(kTypes), std::end(kTypes), [&](const TypeRow& r) { return r.type == type; });
  return known ? std::optional(type) : std::nullopt;
}

std::string_view tensor_type_text(ElementType carrier) {
  return std::find_if(std::begin(kTypes), std::end(kTypes), [&](const TypeRow& r) { return r.type == carrier; })->text;
}

}  // namespace lowtide::engine
