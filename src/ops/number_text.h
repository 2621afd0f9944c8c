#pragma once
/// Single numbers as text, for every element type: read with one rounding, written with the fewest digits.

#include <charconv>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>

#include "base/small_types.h"

namespace lowtide::engine {

template <class T>
inline constexpr bool is_small_int = requires(T t) { t.held; };
template <class T>
inline constexpr bool is_small_float = requires(T t) { t.bits; };

/// The number of fraction bits, which is also the size of a NaN's payload.
template <class T>
constexpr int mantissa_bits() {
  if constexpr (std::is_same_v<T, float>) return 23;
  if constexpr (std::is_same_v<T, double>) return 52;
  if constexpr (std::is_same_v<T, BFloat16>) return 7;
  if constexpr (std::is_same_v<T, Float16>) return 10;
  if constexpr (std::is_same_v<T, MiniFloat<5, 2, 15, MiniFloatRange::kIeee>>) return 2;
  if constexpr (std::is_same_v<T, MiniFloat<3, 4, 3, MiniFloatRange::kIeee>>) return 4;
  if constexpr (std::is_same_v<T, MiniFloat<4, 3, 7, MiniFloatRange::kIeee>>) return 3;
  return 0;  // at most one NaN, without payload
}

/// The bits of a floating value as an integer.
template <class T>
uint64_t bits_of(T value) {
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}

/// The exact sign of |decimal| - |value|. The token must be a finite decimal number.
int compare_magnitude(std::string_view token, float value);

/// Rounds the decimal to odd: the float is on the same side of every narrower type's ties as the decimal, so rounding
/// it again is correct. False if the token is no finite decimal number.
bool read_odd_float(std::string_view token, float& out);

/// Reads one real number. Returns null, or what was expected instead.
template <class T>
const char* read_real(std::string_view token, T& out);

/// Appends the fewest decimal digits that read back as the same value.
template <class T>
void append_real(T value, std::string& out);

/// `digits` d1d2d3... mean d1.d2d3... times ten to the `exponent`. Scientific from `wide` integer digits on.
void append_digits(std::string_view digits, int exponent, int wide, std::string& out);

const char* read_decimal(std::string_view token, float& out);  ///< null, or what was expected
const char* read_decimal(std::string_view token, double& out);
const char* read_integer(std::string_view token, int64_t& out);
const char* read_integer(std::string_view token, uint64_t& out);

namespace detail {

template <class T>
T nan_with(bool negative, uint64_t payload) {
  constexpr int kMantissa = mantissa_bits<T>();
  T value{};
  if constexpr (kMantissa == 0) {
    if constexpr (is_small_float<T>)
      value = T(std::copysign(std::numeric_limits<float>::quiet_NaN(), negative ? -1 : 1));
    return value;
  } else {
    constexpr int kWidth =
        std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16> ? 16 : static_cast<int>(sizeof(T)) * 8;
    const uint64_t ones = (uint64_t{1} << (kWidth - 1)) - (uint64_t{1} << kMantissa);
    const uint64_t bits = (negative ? uint64_t{1} << (kWidth - 1) : 0) | ones | payload;
    if constexpr (is_small_float<T>) {
      value.bits = static_cast<decltype(value.bits)>(bits);
    } else {
      std::memcpy(&value, &bits, sizeof value);
    }
    return value;
  }
}

/// Reads `nan`, `-nan`, `nan(0x1)`: true if the token has that form, even if its payload is invalid (see `expected`).
template <class T>
bool read_nan(std::string_view token, T& out, const char*& expected) {
  const bool negative = token.starts_with('-');
  if (negative) token.remove_prefix(1);
  if (!token.starts_with("nan")) return false;
  token.remove_prefix(3);
  constexpr int kMantissa = mantissa_bits<T>();
  uint64_t payload = kMantissa > 0 ? uint64_t{1} << (kMantissa > 0 ? kMantissa - 1 : 0) : 0;
  if (!token.empty()) {
    const bool form = token.starts_with("(0x") && token.ends_with(')');
    const char* end = token.data() + token.size() - 1;
    const auto [stop, error] = form ? std::from_chars(token.data() + 3, end, payload, 16)
                                    : std::from_chars_result{token.data(), std::errc::invalid_argument};
    if (error != std::errc() || stop != end || (kMantissa > 0 && (payload == 0 || payload >> kMantissa))) {
      expected = "a NaN payload like nan(0x1) that fits the type";
      return true;
    }
  }
  out = nan_with<T>(negative, payload);
  if (!std::isnan(static_cast<double>(out))) expected = "a number: this type has no NaN";
  return true;
}

}  // namespace detail

template <class T>
const char* read_real(std::string_view token, T& out) {
  if constexpr (std::is_same_v<T, bool>) {
    if (token == "true" || token == "1") return out = true, nullptr;
    if (token == "false" || token == "0") return out = false, nullptr;
    int64_t other = 0;
    if (read_integer(token, other)) return "true, false, 0 or 1";
    out = other != 0;
    return nullptr;
  } else if constexpr (std::is_same_v<T, uint64_t>) {
    return read_integer(token, out);
  } else if constexpr (std::is_integral_v<T> || is_small_int<T>) {
    int64_t wide = 0;
    if (const char* fault = read_integer(token, wide)) return fault;
    out = static_cast<T>(wide);
    return static_cast<int64_t>(out) == wide ? nullptr : "an integer within the range of the type";
  } else {
    const char* fault = nullptr;
    if (detail::read_nan(token, out, fault)) return fault;
    const bool infinite = token == "inf" || token == "-inf";
    if constexpr (is_small_float<T>) {
      float wide = std::copysign(std::numeric_limits<float>::infinity(), token.starts_with('-') ? -1.0f : 1.0f);
      if (!infinite && !read_odd_float(token, wide)) return "a number";
      out = T(wide);
      if (infinite) return std::isfinite(static_cast<float>(out)) ? "a number: this type has no infinity" : nullptr;
      return std::isfinite(static_cast<float>(out)) ? nullptr : "a number within the range of the type";
    } else {
      if (!infinite) return read_decimal(token, out);
      out = std::copysign(std::numeric_limits<T>::infinity(), token.starts_with('-') ? T(-1) : T(1));
      return nullptr;
    }
  }
}

template <class T>
void append_real(T value, std::string& out) {
  if constexpr (std::is_same_v<T, bool>) {
    out += value ? "true" : "false";
  } else if constexpr (std::is_same_v<T, uint64_t>) {
    out += std::to_string(value);
  } else if constexpr (std::is_integral_v<T> || is_small_int<T>) {
    out += std::to_string(static_cast<int64_t>(value));
  } else {
    const auto wide = static_cast<std::conditional_t<std::is_same_v<T, double>, double, float>>(value);
    if (std::isnan(wide)) {
      constexpr int kMantissa = mantissa_bits<T>();
      out += std::signbit(wide) ? "-nan" : "nan";
      if constexpr (kMantissa > 0) {
        const uint64_t payload = bits_of(value) & ((uint64_t{1} << kMantissa) - 1);
        if (payload == uint64_t{1} << (kMantissa - 1)) return;
        char text[24];
        const auto end = std::to_chars(text, text + sizeof text, payload, 16).ptr;
        out.append("(0x").append(text, end).append(")");
      }
      return;
    }
    if (std::signbit(wide)) out += '-';
    if (std::isinf(wide)) {
      out += "inf";
      return;
    }
    if (wide == 0) {
      out += std::signbit(wide) ? "0.0" : "0";  // XLA reads `-0` as the integer and drops its sign
      return;
    }
    // to_chars gives d.ddde[+-]xx; for narrow types more and more digits are tried until they read back.
    char text[40];
    const auto magnitude = std::fabs(wide);
    char* end = nullptr;
    if constexpr (is_small_float<T>) {
      for (int precision = 0; precision < 12; ++precision) {
        end = std::to_chars(text, text + sizeof text, magnitude, std::chars_format::scientific, precision).ptr;
        T back{};
        const std::string_view token(text, static_cast<size_t>(end - text));
        if (!read_real<T>(token, back) && bits_of(back) == bits_of(T(magnitude))) break;
      }
      if (std::is_same_v<T, ScaleFloat> && !std::isnormal(magnitude)) {  // XLA would round a shorter decimal up
        const double exact = magnitude;
        end = std::to_chars(text, text + sizeof text, exact, std::chars_format::scientific).ptr;
      }
    } else {
      end = std::to_chars(text, text + sizeof text, magnitude, std::chars_format::scientific).ptr;
    }
    std::string digits;
    const char* at = text;
    for (; at != end && *at != 'e'; ++at) {
      if (*at != '.') digits += *at;
    }
    int exponent = 0;
    if (at != end) std::from_chars(at + (at[1] == '+' ? 2 : 1), end, exponent);
    while (digits.size() > 1 && digits.back() == '0') digits.pop_back();
    // The widths of XLA's %g: the short one if it suffices, else that for all digits.
    const auto count = static_cast<int>(digits.size());
    const int wide_from = std::is_same_v<T, double>    ? (count <= 15 ? 15 : 17)
                          : std::is_same_v<T, float>   ? (count <= 6 ? 6 : 9)
                          : std::is_same_v<T, Float16> ? 5
                                                       : 4;
    append_digits(digits, exponent, wide_from, out);
  }
}

}  // namespace lowtide::engine
