#pragma once
/// Element types of arrays, with their C++ storage (types.def is the table).

#include <complex>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

#include "base/small_types.h"

namespace lowtide::engine {

enum class ElementType : uint8_t {
#define TYPE(name, text, bits, kind, cpp) k##name,
#include "ir/types.def"
  kTuple,   ///< a bundle of values, no bytes of its own
  kToken,   ///< orders side effects, no bytes
  kOpaque,  ///< a handle of a backend, no bytes
  kBuffer,  ///< b(shape): a reference to a buffer
};

enum class TypeKind : uint8_t { kPredicate, kSigned, kUnsigned, kFloat, kComplex, kNone };

std::string_view type_name(ElementType type);                      ///< "bf16"
std::optional<ElementType> type_from_name(std::string_view name);  ///< array types, token and opaque
TypeKind type_kind(ElementType type);
int type_bits(ElementType type);     ///< logical bits: 4 for s4, 8 for pred, 0 for tuples and tokens
int stored_bytes(ElementType type);  ///< bytes of one element in a Literal: 1 for s4

inline bool is_array_type(ElementType type) { return type < ElementType::kTuple; }
inline bool is_integral(ElementType type) {
  return type_kind(type) == TypeKind::kSigned || type_kind(type) == TypeKind::kUnsigned;
}
inline bool is_floating(ElementType type) { return type_kind(type) == TypeKind::kFloat; }
/// f32 or f64, which are computed as they are stored.
inline bool is_wide_float(ElementType type) { return type == ElementType::kF32 || type == ElementType::kF64; }
inline bool is_complex(ElementType type) { return type_kind(type) == TypeKind::kComplex; }

namespace detail {
template <class T>
struct Unwrap;
template <class R, class T>
struct Unwrap<R(T)> {
  using type = T;
};
}  // namespace detail

/// Calls f.operator()<T>() with the C++ type that stores `type`. `type` must be an array type.
template <class F>
decltype(auto) dispatch(ElementType type, F&& f) {
  switch (type) {
#define TYPE(name, text, bits, kind, cpp) \
  case ElementType::k##name: return f.template operator()<typename detail::Unwrap<void(cpp)>::type>();
#include "ir/types.def"
    default: break;
  }
  __builtin_unreachable();
}

}  // namespace lowtide::engine
