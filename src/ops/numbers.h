#pragma once
/// Arithmetic uses seven types; elements are widened when loaded, and rounded or wrapped once when stored.
///   pred -> bool    s1..s64 -> int64    u1..u64 -> uint64    f4..f32 -> float    f64 -> double    c64, c128 -> complex

#include <complex>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include "base/status.h"
#include "ir/literal.h"
#include "ops/infer.h"

namespace lowtide::engine {

using Complex64 = std::complex<float>;
using Complex128 = std::complex<double>;

template <class T>
inline constexpr bool is_complex_v = std::is_same_v<T, Complex64> || std::is_same_v<T, Complex128>;

/// The type in which elements stored as T are computed.
template <class T>
struct Computed {
  static auto pick() {
    if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, double> || is_complex_v<T>) {
      return T{};
    } else if constexpr (std::is_integral_v<T>) {
      return std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>{};
    } else if constexpr (requires(T t) { t.held; }) {
      return std::conditional_t<std::is_signed_v<typename T::Held>, int64_t, uint64_t>{};
    } else {
      return float{};
    }
  }
  using type = decltype(pick());
};
template <class T>
using computed_t = typename Computed<T>::type;

template <class T>
computed_t<T> widen(T element) {
  using C = computed_t<T>;
  if constexpr (requires { element.held; }) {
    return static_cast<C>(element.held);
  } else {
    return static_cast<C>(element);
  }
}

template <class T>
T narrow(computed_t<T> number) {
  if constexpr (requires(T t) { t.held; }) {
    return T(static_cast<int64_t>(number));
  } else {
    return static_cast<T>(number);
  }
}

/// Calls f.operator()<C>() with the type in which elements of `type` are computed, which must be one of `kinds`.
template <Kinds kinds = kAnything, class F>
auto dispatch_computed(ElementType type, F&& f) {
  // Only the requested kinds are instantiated: not every operation exists for every kind.
  if constexpr ((kinds & kPredicates) != 0) {
    if (type == ElementType::kPred) return f.template operator()<bool>();
  }
  if constexpr ((kinds & kComplexes) != 0) {
    if (type == ElementType::kC64) return f.template operator()<Complex64>();
    if (type == ElementType::kC128) return f.template operator()<Complex128>();
  }
  if constexpr ((kinds & kFloats) != 0) {
    if (type == ElementType::kF64) return f.template operator()<double>();
    if (is_floating(type)) return f.template operator()<float>();
  }
  if constexpr ((kinds & kSignedIntegers) != 0) {
    if (type_kind(type) == TypeKind::kSigned) return f.template operator()<int64_t>();
  }
  if constexpr ((kinds & kUnsignedIntegers) != 0) {
    if (type_kind(type) == TypeKind::kUnsigned) return f.template operator()<uint64_t>();
  }
  LT_ASSERT(false, "no arithmetic for elements of " + std::string(type_name(type)));
  __builtin_unreachable();
}

/// Reads elements of an array as numbers, some at a time. C must be the type in which they are computed.
template <class C>
class NumberReader {
 public:
  /// With `repeat` the array has one element, which is repeated as often as needed.
  NumberReader(const Literal& array, bool repeat);
  /// `count` <= kChunk numbers from element `first` on; valid until the next call.
  const C* read(int64_t first, int64_t count);

 private:
  const Literal& array_;
  bool repeat_;
  std::unique_ptr<C[]> room_;
};

template <class C>
class NumberWriter {
 public:
  explicit NumberWriter(Literal& array);
  C* room(int64_t first);                    ///< buffer for the numbers of elements from `first` on
  void write(int64_t first, int64_t count);  ///< stores the numbers in that buffer

 private:
  Literal& array_;
  std::unique_ptr<C[]> room_;
};

inline constexpr int64_t kChunk = 1024;

/// A new array of zeros; an error if it needs more memory than the interpreter allows for one value.
Result<std::shared_ptr<Literal>> new_array(const Shape& shape);

}  // namespace lowtide::engine
