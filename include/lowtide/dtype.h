#pragma once
/// Element types of arrays.

#include <complex>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>

#include "lowtide/visibility.h"

namespace lowtide {

/// Half precision, as stored.
struct float16_t {
  uint16_t bits = 0;
  float16_t() = default;
  LOWTIDE_PUBLIC float16_t(float value);  // NOLINT: implicit on purpose, rounds to nearest even
  LOWTIDE_PUBLIC operator float() const;
};
/// The upper half of a float, as stored.
struct bfloat16_t {
  uint16_t bits = 0;
  bfloat16_t() = default;
  LOWTIDE_PUBLIC bfloat16_t(float value);  // NOLINT: implicit on purpose, rounds to nearest even
  LOWTIDE_PUBLIC operator float() const;
};
using complex64_t = std::complex<float>;

struct Dtype {
  enum class Val : uint8_t {
    bool_,
    uint8,
    uint16,
    uint32,
    uint64,
    int8,
    int16,
    int32,
    int64,
    float16,
    bfloat16,
    float32,
    float64,
    complex64,
  };
  /// Sets of types, as in `issubdtype(float16, floating)`.
  enum class Category : uint8_t {
    complexfloating,
    floating,
    inexact,
    signedinteger,
    unsignedinteger,
    integer,
    number,
    generic
  };

  /// NumPy's letters; V is for bfloat16, which NumPy lacks.
  enum class Kind : uint8_t { b, u, i, f, c, V };

  Val val;
  constexpr explicit Dtype(Val v) : val(v) {}
  constexpr operator Val() const { return val; }
  constexpr uint8_t size() const {  ///< bytes of an element
    constexpr uint8_t kSizes[] = {1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8, 8};
    return kSizes[static_cast<int>(val)];
  }
};

inline constexpr Dtype bool_{Dtype::Val::bool_}, uint8{Dtype::Val::uint8}, uint16{Dtype::Val::uint16},
    uint32{Dtype::Val::uint32}, uint64{Dtype::Val::uint64}, int8{Dtype::Val::int8}, int16{Dtype::Val::int16},
    int32{Dtype::Val::int32}, int64{Dtype::Val::int64}, float16{Dtype::Val::float16}, bfloat16{Dtype::Val::bfloat16},
    float32{Dtype::Val::float32}, float64{Dtype::Val::float64}, complex64{Dtype::Val::complex64};
inline constexpr Dtype::Category complexfloating = Dtype::Category::complexfloating,
                                 floating = Dtype::Category::floating, inexact = Dtype::Category::inexact,
                                 signedinteger = Dtype::Category::signedinteger,
                                 unsignedinteger = Dtype::Category::unsignedinteger, integer = Dtype::Category::integer,
                                 number = Dtype::Category::number, generic = Dtype::Category::generic;

/// The common type of both: the wider one of the same kind; the float for a float and an integer; float32 for
/// float16 and bfloat16; the next wider signed type for a signed and an unsigned one (float32 for int64 and uint64).
LOWTIDE_PUBLIC Dtype promote_types(Dtype a, Dtype b);
LOWTIDE_PUBLIC bool issubdtype(Dtype type, Dtype::Category category);
inline bool issubdtype(Dtype a, Dtype b) { return a.val == b.val; }
inline bool issubdtype(Dtype::Category /*a*/, Dtype /*b*/) { return false; }
LOWTIDE_PUBLIC bool issubdtype(Dtype::Category a, Dtype::Category b);
LOWTIDE_PUBLIC Dtype::Kind kindof(Dtype type);
LOWTIDE_PUBLIC std::string dtype_to_string(Dtype type);  ///< "bfloat16", "bool"
inline size_t size_of(Dtype type) { return type.size(); }

/// The element type that corresponds to a C++ type.
template <class T>
struct TypeToDtype {
  operator Dtype() const {
    if constexpr (std::is_same_v<T, bool>)
      return bool_;
    else if constexpr (std::is_same_v<T, float16_t>)
      return float16;
    else if constexpr (std::is_same_v<T, bfloat16_t>)
      return bfloat16;
    else if constexpr (std::is_same_v<T, float>)
      return float32;
    else if constexpr (std::is_same_v<T, double>)
      return float64;
    else if constexpr (std::is_same_v<T, complex64_t>)
      return complex64;
    else {
      static_assert(std::is_integral_v<T>, "no array has elements of this type");
      constexpr int kWidth = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
      return Dtype(static_cast<Dtype::Val>((std::is_signed_v<T> ? 5 : 1) + kWidth));
    }
  }
};

}  // namespace lowtide
