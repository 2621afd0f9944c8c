#include "ops/check_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>

#include "ops/literal_text.h"
#include "ops/numbers.h"

namespace lowtide::engine {
namespace {

constexpr uint64_t kFar = std::numeric_limits<uint64_t>::max();

/// The tolerance of a comparison.
struct Limits {
  uint64_t least = 0, most = 3;  ///< units in the last place
  double tolerance = 1e-4;
};

/// The number after `key=`, if present.
std::optional<double> number_of(std::string_view config, std::string_view key) {
  const size_t at = config.find(key);
  if (at == std::string_view::npos || !config.substr(at + key.size()).starts_with('=')) return std::nullopt;
  return std::strtod(std::string(config.substr(at + key.size() + 1)).c_str(), nullptr);
}

Limits limits_of(std::string_view config) {
  Limits limits;
  if (const auto number = number_of(config, "tolerance")) limits.tolerance = *number;
  if (const auto number = number_of(config, "min_ulp_difference")) limits.least = static_cast<uint64_t>(*number);
  if (const auto number = number_of(config, "max_ulp_difference")) limits.most = static_cast<uint64_t>(*number);
  return limits;
}

/// How many numbers of type T are between zero and x: the bits without the sign.
template <class T>
uint64_t magnitude_bits(T x) {
  if constexpr (sizeof(T) == 8) {
    return std::bit_cast<uint64_t>(x) & ~(uint64_t{1} << 63);
  } else if constexpr (sizeof(T) == 4) {
    return std::bit_cast<uint32_t>(x) & ~(uint32_t{1} << 31);
  } else if constexpr (requires { T::kSign; }) {
    return x.bits & (T::kSign - 1);
  } else if constexpr (sizeof(T) == 2) {
    return x.bits & 0x7fffu;
  } else {
    return x.bits;
  }
}

template <class T>
uint64_t ulps_apart(T x, T y) {
  const auto a = static_cast<double>(widen(x)), b = static_cast<double>(widen(y));
  if (std::isnan(a) && std::isnan(b)) return 0;
  if (a == b) return 0;
  if (!std::isfinite(a) || !std::isfinite(b)) return kFar;
  const uint64_t p = magnitude_bits(x), q = magnitude_bits(y);
  if (std::signbit(a) != std::signbit(b)) return p + q;
  return p > q ? p - q : q - p;
}

bool almost(double x, double y, double tolerance) {
  return (std::isnan(x) && std::isnan(y)) || x == y || std::fabs(x - y) <= tolerance;
}

enum class Check { kEqual, kClose, kAlmostEqual };

template <class T>
bool agrees(Check check, const Limits& limits, T x, T y) {
  if constexpr (is_complex_v<T>) {
    if (check == Check::kEqual) return x == y;
    if (check == Check::kClose) {  // the part with the larger difference counts
      const uint64_t ulps = std::max(ulps_apart(x.real(), y.real()), ulps_apart(x.imag(), y.imag()));
      return ulps >= limits.least && ulps <= limits.most;
    }
    return agrees(check, limits, x.real(), y.real()) && agrees(check, limits, x.imag(), y.imag());
  } else if constexpr (std::is_integral_v<T> || requires(T t) { t.held; }) {
    return widen(x) == widen(y);
  } else {
    switch (check) {
      case Check::kEqual: return widen(x) == widen(y);
      case Check::kClose: return ulps_apart(x, y) >= limits.least && ulps_apart(x, y) <= limits.most;
      case Check::kAlmostEqual:
        return almost(static_cast<double>(widen(x)), static_cast<double>(widen(y)), limits.tolerance);
    }
    return false;
  }
}

std::string index_text(int64_t element, const Dims& extents) {
  ShapeIndex index(extents.size());
  for (size_t d = extents.size(); d-- > 0; element /= extents[d]) index[d] = element % extents[d];
  return to_string(index);
}

}  // namespace

bool is_check_call(std::string_view target) {
  return target == "check.expect_eq" || target == "check.expect_close" || target == "check.expect_almost_eq";
}

Status check_values(std::string_view target, std::string_view config, const Literal& got, const Literal& want) {
  const Limits limits = limits_of(config);
  const Check check = target == "check.expect_eq"      ? Check::kEqual
                      : target == "check.expect_close" ? Check::kClose
                                                       : Check::kAlmostEqual;
  if (!got.shape().is_array() || !same_shape(got.shape(), want.shape())) {
    return Status::input(fmt::format("{} compares {} with {}", target, to_string_without_layout(got.shape()),
                                     to_string_without_layout(want.shape())));
  }
  int64_t differing = 0, first = -1;
  dispatch(got.shape().type, [&]<class T>() {
    const auto x = got.data<T>(), y = want.data<T>();
    for (size_t i = 0; i < x.size(); ++i) {
      if (agrees(check, limits, x[i], y[i])) continue;
      if (differing++ == 0) first = static_cast<int64_t>(i);
    }
  });
  if (differing == 0) return {};
  return {Fault::kWrongValues,
          fmt::format("{}: {} of {} elements differ, first {}: got {}, expected {}", target, differing, got.size(),
                      index_text(first, got.shape().dims), element_text(got, first), element_text(want, first))};
}

}  // namespace lowtide::engine
