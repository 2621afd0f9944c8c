#include "ops/number_text.h"

#include <cstdlib>

namespace lowtide::engine {
namespace {

/// A decimal as 0.d1d2d3... times ten to `point`, without leading or trailing zeros.
struct Decimal {
  std::string digits;
  int64_t point = 0;
};

Decimal decimal_of(std::string_view token) {
  Decimal decimal;
  bool fraction = false;
  size_t i = token.starts_with('-') ? 1 : 0;
  for (; i < token.size() && token[i] != 'e' && token[i] != 'E'; ++i) {
    if (token[i] == '.') {
      fraction = true;
    } else {
      if (!decimal.digits.empty() || token[i] != '0') {
        decimal.digits += token[i];
        if (!fraction) ++decimal.point;
      } else if (fraction) {
        --decimal.point;
      }
    }
  }
  if (i < token.size()) {
    const size_t begin = i + 1 < token.size() && token[i + 1] == '+' ? i + 2 : i + 1;
    int64_t exponent = 0;
    std::from_chars(token.data() + begin, token.data() + token.size(), exponent);
    decimal.point += exponent;
  }
  while (!decimal.digits.empty() && decimal.digits.back() == '0') decimal.digits.pop_back();
  return decimal;
}

template <class T>
const char* read_finite(std::string_view token, T& out) {
  const char* end = token.data() + token.size();
  const bool starts = !token.empty() && (token[0] == '-' || token[0] == '.' || (token[0] >= '0' && token[0] <= '9'));
  const auto [stop, error] = std::from_chars(token.data(), end, out);
  if (!starts || stop != end || error == std::errc::invalid_argument) return "a number";
  if (error == std::errc::result_out_of_range) {
    // A number too small becomes zero or the least denormal; one too large is an error.
    const std::string copy(token);
    const double nearest = std::strtod(copy.c_str(), nullptr);
    if (std::fabs(nearest) > 1) return "a number within the range of the type";
    out = std::is_same_v<T, float> ? static_cast<T>(std::strtof(copy.c_str(), nullptr)) : static_cast<T>(nearest);
  }
  return std::isfinite(out) ? nullptr : "a number";
}

template <class T>
const char* read_whole(std::string_view token, T& out) {
  const char* end = token.data() + token.size();
  const auto [stop, error] = std::from_chars(token.data(), end, out);
  if (error == std::errc::result_out_of_range) return "an integer within the range of the type";
  return error == std::errc() && stop == end ? nullptr : "an integer";
}

}  // namespace

int compare_magnitude(std::string_view token, float value) {
  const Decimal a = decimal_of(token);
  char text[200];  // every float has an exact expansion of at most 112 digits
  const auto end = std::to_chars(text, text + sizeof text, std::fabs(value), std::chars_format::scientific, 150).ptr;
  const Decimal b = decimal_of(std::string_view(text, static_cast<size_t>(end - text)));
  if (a.digits.empty() || b.digits.empty())
    return static_cast<int>(!a.digits.empty()) - static_cast<int>(!b.digits.empty());
  if (a.point != b.point) return a.point < b.point ? -1 : 1;
  const int order = a.digits.compare(b.digits);
  return order < 0 ? -1 : order > 0 ? 1 : 0;
}

bool read_odd_float(std::string_view token, float& out) {
  double wide = 0;
  if (read_finite(token, wide)) return false;
  const auto nearest = static_cast<float>(wide);
  // If the double is a float, the decimal may still differ from it, which matters at ties of the narrower type; as
  // floats these end in zero bits. A short decimal without exponent that is so close to a tie is equal to it.
  const bool on_float = static_cast<double>(nearest) == wide;
  const bool may_be_tie = on_float && (std::bit_cast<uint32_t>(nearest) & 0xffu) == 0;
  const bool is_short = token.size() <= 12 && token.find_first_of("eE") == std::string_view::npos;
  const int side = !on_float                 ? (std::fabs(static_cast<double>(nearest)) > std::fabs(wide) ? -1 : 1)
                   : may_be_tie && !is_short ? compare_magnitude(token, nearest)
                                             : 0;
  auto bits = std::bit_cast<uint32_t>(nearest);
  if (side < 0 && (bits & 0x7fffffffu) != 0) --bits;
  if (side != 0) bits |= 1u;
  out = std::bit_cast<float>(bits);
  return true;
}

const char* read_decimal(std::string_view token, float& out) { return read_finite(token, out); }
const char* read_decimal(std::string_view token, double& out) { return read_finite(token, out); }
const char* read_integer(std::string_view token, int64_t& out) { return read_whole(token, out); }
const char* read_integer(std::string_view token, uint64_t& out) {
  if (!token.starts_with('-')) return read_whole(token, out);
  int64_t wrapped = 0;  // like XLA: -1 is the largest u64
  const char* fault = read_whole(token, wrapped);
  out = static_cast<uint64_t>(wrapped);
  return fault;
}

void append_digits(std::string_view digits, int exponent, int wide, std::string& out) {
  const auto count = static_cast<int>(digits.size());
  if (exponent < -4 || exponent >= std::max(wide, count)) {
    out += digits[0];
    if (count > 1) out.append(".").append(digits.substr(1));
    out += exponent < 0 ? "e-" : "e+";
    const std::string power = std::to_string(std::abs(exponent));
    out.append(power.size() < 2 ? "0" : "").append(power);
  } else if (exponent < 0) {
    out.append("0.").append(static_cast<size_t>(-exponent - 1), '0').append(digits);
  } else if (count <= exponent + 1) {
    out.append(digits).append(static_cast<size_t>(exponent + 1 - count), '0');
  } else {
    out.append(digits.substr(0, static_cast<size_t>(exponent) + 1)).append(".");
    out.append(digits.substr(static_cast<size_t>(exponent) + 1));
  }
}

}  // namespace lowtide::engine
