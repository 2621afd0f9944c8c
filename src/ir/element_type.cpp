#include "ir/element_type.h"

#include <array>

namespace lowtide::engine {
namespace {

struct Row {
  std::string_view text;
  int bits;
  TypeKind kind;
  int stored;
};

constexpr Row kRows[] = {
#define TYPE(name, text, bits, kind, cpp) \
  {text, bits, TypeKind::k##kind, static_cast<int>(sizeof(typename detail::Unwrap<void(cpp)>::type))},
#include "ir/types.def"
    {"tuple", 0, TypeKind::kNone, 0},
    {"token", 0, TypeKind::kNone, 0},
    {"opaque", 0, TypeKind::kNone, 0},
    {"b", 0, TypeKind::kNone, 0},
};

const Row& row(ElementType type) { return kRows[static_cast<size_t>(type)]; }

}  // namespace

std::string_view type_name(ElementType type) { return row(type).text; }
TypeKind type_kind(ElementType type) { return row(type).kind; }
int type_bits(ElementType type) { return row(type).bits; }
int stored_bytes(ElementType type) { return row(type).stored; }

std::optional<ElementType> type_from_name(std::string_view name) {
  for (size_t i = 0; i < std::size(kRows); ++i) {
    const auto type = static_cast<ElementType>(i);
    if (kRows[i].text == name && type != ElementType::kTuple && type != ElementType::kBuffer) return type;
  }
  return std::nullopt;
}

}  // namespace lowtide::engine
