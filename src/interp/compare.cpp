#include "interp/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <type_traits>

namespace lowtide::engine {
namespace {

template <class T>
constexpr bool kIsComplex = std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>;
/// The byte of a pred, which in the results of a wrong program may be neither 0 nor 1. A type distinct from u8's.
using Predicate = char8_t;

template <class T>
constexpr bool kIsInteger = std::is_integral_v<T> || requires(T t) { t.held; };

/// Smallest normal magnitude of a float type, from the bits of its storage.
double smallest_normal(ElementType type) {
  switch (type) {
    case ElementType::kF64:
    case ElementType::kC128: return 0x1p-1022;
    case ElementType::kF32:
    case ElementType::kC64:
    case ElementType::kBF16: return 0x1p-126;
    case ElementType::kF16: return 0x1p-14;
    case ElementType::kF8E5M2: return 0x1p-14;
    case ElementType::kF8E5M2FNUZ: return 0x1p-15;
    case ElementType::kF8E4M3:
    case ElementType::kF8E4M3FN: return 0x1p-6;
    case ElementType::kF8E4M3FNUZ: return 0x1p-7;
    case ElementType::kF8E4M3B11FNUZ: return 0x1p-10;
    case ElementType::kF8E3M4: return 0x1p-2;
    default: return 0;  // types without denormals, or whose denormals are half of all their values
  }
}

double flushed(double x, double smallest) { return std::fabs(x) < smallest ? 0 * x : x; }
std::complex<double> flushed(std::complex<double> x, double smallest) {
  return {flushed(x.real(), smallest), flushed(x.imag(), smallest)};
}

bool is_nan(double x) { return std::isnan(x); }
bool is_nan(std::complex<double> x) { return std::isnan(x.real()) || std::isnan(x.imag()); }
bool is_finite(double x) { return std::isfinite(x); }
bool is_finite(std::complex<double> x) { return std::isfinite(x.real()) && std::isfinite(x.imag()); }

/// A float's position in the order of all floats of its type, so that neighbours differ by one.
template <class T>
int64_t place_in_order(T value, int sign_bit) {
  using Bits = std::conditional_t<
      sizeof(T) == 8, uint64_t,
      std::conditional_t<sizeof(T) == 4, uint32_t, std::conditional_t<sizeof(T) == 2, uint16_t, uint8_t>>>;
  Bits bits = 0;
  static_assert(sizeof(T) == sizeof(Bits));
  std::memcpy(&bits, &value, sizeof bits);
  if (sign_bit < 0) return static_cast<int64_t>(bits);
  const uint64_t sign = uint64_t{1} << sign_bit;
  const auto magnitude = static_cast<int64_t>(bits & (sign - 1));
  return (bits & sign) ? -magnitude : magnitude;
}

/// The distance between two positions; for two doubles it may exceed an int64_t.
int64_t steps_between(int64_t a, int64_t b) {
  int64_t distance = 0;
  return __builtin_sub_overflow(std::max(a, b), std::min(a, b), &distance) ? INT64_MAX : distance;
}

template <class T>
int64_t ulps(T x, T y, ElementType type) {
  if constexpr (kIsComplex<T>) {
    const int sign_bit = static_cast<int>(sizeof(typename T::value_type)) * 8 - 1;
    const auto part = [&](auto a, auto b) {
      return steps_between(place_in_order(a, sign_bit), place_in_order(b, sign_bit));
    };
    return std::max(part(x.real(), y.real()), part(x.imag(), y.imag()));
  } else {
    const int sign_bit = type == ElementType::kF8E8M0FNU ? -1 : type_bits(type) - 1;
    return steps_between(place_in_order(x, sign_bit), place_in_order(y, sign_bit));
  }
}

template <class T>
auto widened(T x) {
  if constexpr (kIsComplex<T>) {
    return std::complex<double>(x);
  } else {
    return static_cast<double>(x);
  }
}

template <class T>
std::string text_of(T x) {
  if constexpr (kIsComplex<T>) {
    return fmt::format("({}, {})", x.real(), x.imag());
  } else if constexpr (std::is_same_v<T, Predicate>) {
    return x == Predicate{0} ? "false" : x == Predicate{1} ? "true" : fmt::format("the byte {}", static_cast<int>(x));
  } else if constexpr (kIsInteger<T>) {
    if constexpr (std::is_same_v<T, uint64_t>) return fmt::format("{}", x);
    return fmt::format("{}", static_cast<int64_t>(x));
  } else if constexpr (std::is_same_v<T, double>) {
    return fmt::format("{}", x);
  } else {
    return fmt::format("{}", static_cast<float>(x));
  }
}

std::string index_text(const Shape& shape, int64_t element) {
  std::string text;
  for (auto d = shape.dims.rbegin(); d != shape.dims.rend(); ++d) {
    text = fmt::format("{}{}{}", element % *d, text.empty() ? "" : ",", text);
    element /= *d;
  }
  return text.empty() ? "" : "{" + text + "}";
}

/// Elements at any address: the bytes of a mapped file need not be aligned.
template <class T>
class Elements {
 public:
  explicit Elements(const std::byte* bytes) : bytes_(bytes) {}
  T operator[](size_t i) const {
    T value;
    std::memcpy(&value, bytes_ + i * sizeof(T), sizeof(T));
    return value;
  }

 private:
  const std::byte* bytes_;
};

template <class T>
void compare_elements(const Shape& shape, const std::byte* got, const std::byte* want, const Tolerance& tolerance,
                      const std::string& name, Comparison& result) {
  const Elements<T> x(got), y(want);
  const auto count = static_cast<size_t>(element_count(shape));
  const ElementType type = shape.type;
  const double smallest = smallest_normal(type);
  double largest = 0;
  if constexpr (!kIsInteger<T>) {
    for (size_t i = 0; i < count; ++i) {
      const auto value = widened(y[i]);
      if (is_finite(value)) largest = std::max(largest, std::abs(value));
    }
  }
  const auto agree = [&](T a, T b) {
    if constexpr (kIsInteger<T>) {
      if (a == b) return true;
      const auto d = static_cast<double>(a) - static_cast<double>(b);
      result.max_abs_error = std::max(result.max_abs_error, std::fabs(d));
      return false;
    } else {
      const auto exact_a = widened(a), exact_b = widened(b);
      if (exact_a == exact_b || (is_nan(exact_a) && is_nan(exact_b))) return true;
      if (!is_finite(exact_a) || !is_finite(exact_b)) return false;
      const auto flat_a = flushed(exact_a, smallest), flat_b = flushed(exact_b, smallest);
      if (flat_a == flat_b) return true;
      const double error = std::min(std::abs(exact_a - exact_b), std::abs(flat_a - flat_b));
      result.max_abs_error = std::max(result.max_abs_error, error);
      result.max_ulp = std::max(result.max_ulp, ulps(a, b, type));
      return error <= tolerance.rtol * std::abs(exact_b) + tolerance.atol_of_max * largest;
    }
  };
  for (size_t i = 0; i < count; ++i) {
    const T a = x[i], b = y[i];
    if (agree(a, b)) continue;
    if (result.mismatches++ == 0 && result.first.empty()) {
      result.first = fmt::format("{}{}: {}, expected {}", name, index_text(shape, static_cast<int64_t>(i)), text_of(a),
                                 text_of(b));
    }
  }
}

void note(Comparison& result, int64_t mismatches, std::string sentence) {
  result.mismatches += mismatches;
  if (result.first.empty()) result.first = std::move(sentence);
}

void compare_into(const Literal& got, const Literal& want, const Tolerance& tolerance, const std::string& name,
                  Comparison& result) {
  if (!same_shape(got.shape(), want.shape())) {
    note(result, std::max<int64_t>(1, want.size()),
         fmt::format("{}: {}, expected {}", name, to_string_without_layout(got.shape()),
                     to_string_without_layout(want.shape())));
    return;
  }
  if (want.shape().is_tuple()) {
    for (size_t i = 0; i < want.parts().size(); ++i) {
      compare_into(*got.parts()[i], *want.parts()[i], tolerance, fmt::format("{}.{}", name, i), result);
    }
    return;
  }
  if (!want.shape().is_array()) return;
  if (!got.known() || !want.known()) {
    note(result, std::max<int64_t>(1, want.size()), fmt::format("{}: its elements are not known", name));
    return;
  }
  compare_bytes(want.shape(), got.bytes().data(), want.bytes().data(), tolerance, name, result);
}

}  // namespace

Tolerance usual_tolerance(ElementType type) {
  switch (type) {
    case ElementType::kF64:
    case ElementType::kC128: return {1e-10, 1e-11};
    case ElementType::kF32:
    case ElementType::kC64: return {1e-4, 1e-5};
    case ElementType::kF16: return {1e-2, 4e-3};
    default: return {6e-2, 3e-2};
  }
}

void compare_bytes(const Shape& array, const std::byte* got, const std::byte* want, const Tolerance& tolerance,
                   const std::string& name, Comparison& result) {
  dispatch(array.type, [&]<class T>() {
    using Element = std::conditional_t<std::is_same_v<T, bool>, Predicate, T>;
    compare_elements<Element>(array, got, want, tolerance, name, result);
  });
}

Comparison compare(const Literal& got, const Literal& want, const Tolerance& tolerance, const std::string& name) {
  Comparison result;
  compare_into(got, want, tolerance, name, result);
  return result;
}

Comparison compare_results(std::span<const Value> got, std::span<const Value> want, const Tolerance& tolerance) {
  Comparison result;
  if (got.size() != want.size()) {
    note(result, 1, fmt::format("{} results, expected {}", got.size(), want.size()));
    return result;
  }
  for (size_t i = 0; i < want.size(); ++i) {
    compare_into(*got[i], *want[i], tolerance, fmt::format("out{}", i), result);
  }
  return result;
}

std::string usual_difference(std::span<const Value> got, std::span<const Value> want) {
  if (got.size() != want.size()) return fmt::format("{} results, expected {}", got.size(), want.size());
  for (size_t i = 0; i < want.size(); ++i) {
    const Comparison c = compare(*got[i], *want[i], usual_tolerance(want[i]->shape().type), fmt::format("out{}", i));
    if (!c.agrees()) return fmt::format("{} ({} elements differ)", c.first, c.mismatches);
  }
  return "";
}

}  // namespace lowtide::engine
