#include "passes/compare_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>

#include "interp/interpreter.h"

namespace lowtide {
namespace {

/// Largest |x - y| / max |y| that another order of sums may cause.
double tolerance_of(ElementType type) {
  const int bits = type_bits(type);
  if (type == ElementType::kF64 || type == ElementType::kC128) return 1e-12;
  return bits >= 32 ? 1e-5 : bits == 16 ? 2e-2 : 0.25;
}

template <class T>
std::string first_difference(const Literal& before, const Literal& after, Numerics numerics) {
  const auto x = before.data<T>();
  const auto y = after.data<T>();
  const auto as_double = [](const T& v) -> double {
    if constexpr (requires { v.held; }) {
      return static_cast<double>(static_cast<int64_t>(v));
    } else {
      return static_cast<double>(v);
    }
  };
  double largest = 0;
  for (const T& v : x) largest = std::max(largest, std::isfinite(as_double(v)) ? std::fabs(as_double(v)) : 0.0);
  const bool loose =
      numerics != Numerics::kExact && numerics != Numerics::kValueExact && is_floating(before.shape().type);
  const double allowed = loose ? tolerance_of(before.shape().type) * largest : 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double a = as_double(x[i]), b = as_double(y[i]);
    if (a == b || (std::isnan(a) && std::isnan(b)) || std::fabs(a - b) <= allowed) continue;
    return fmt::format("element {} of {} was {} and is {}", i, to_string_without_layout(before.shape()), a, b);
  }
  return "";
}

std::string difference_of(const Literal& before, const Literal& after, Numerics numerics) {
  if (!same_shape(before.shape(), after.shape())) {
    return fmt::format("the shape was {} and is {}", to_string(before.shape()), to_string(after.shape()));
  }
  if (!before.shape().is_array() || std::ranges::equal(before.bytes(), after.bytes())) return "";
  std::string found = dispatch(before.shape().type, [&]<class T>() -> std::string {
    if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>) {
      const T* x = before.data<T>().data();
      const T* y = after.data<T>().data();
      double largest = 0;
      for (int64_t i = 0; i < before.size(); ++i) largest = std::max<double>(largest, std::abs(x[i]));
      const double allowed = numerics == Numerics::kReassociated ? tolerance_of(before.shape().type) * largest : 0;
      for (int64_t i = 0; i < before.size(); ++i) {
        if (!(std::abs(x[i] - y[i]) > allowed)) continue;
        return fmt::format("element {} of {} differs by {}", i, to_string(before.shape()), std::abs(x[i] - y[i]));
      }
      return "";
    } else {
      return first_difference<T>(before, after, numerics);
    }
  });
  if (found.empty() && numerics == Numerics::kExact) {
    found = fmt::format("{} has the same values in other bits (signed zeros or NaN)", to_string(before.shape()));
  }
  return found;
}

}  // namespace

Result<std::string> difference_of_runs(const Module& before, const Module& after, Numerics numerics, uint64_t seed) {
  LT_ASSIGN_OR_RETURN(const std::vector<Value> expected, interpret(before, seeded_arguments(before, seed)));
  auto got = interpret(after, seeded_arguments(after, seed));
  if (!got.ok()) return "after the rewrite it doesn't run: " + got.status().message();
  if (expected.size() != got->size()) return fmt::format("{} results became {}", expected.size(), got->size());
  for (size_t i = 0; i < expected.size(); ++i) {
    const std::string difference = difference_of(*expected[i], *(*got)[i], numerics);
    if (!difference.empty()) return fmt::format("result {}: {}", i, difference);
  }
  return std::string();
}

}  // namespace lowtide
