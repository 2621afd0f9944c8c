#include "base/sizes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace lowtide::engine {
namespace {

constexpr double kLargestSize = 9.2e18;  // int64_t holds 2^63 - 1

Status not_a_size(std::string_view text) {
  return Status::usage(
      fmt::format("`{}` is no size: expected bytes, or a number with KiB, MiB, GiB, TiB, PiB (K, M, G, "
                  "T, P mean the same) or KB, MB, GB, TB, PB (powers of 1000)",
                  text));
}

}  // namespace

Result<int64_t> parse_size(std::string_view text) {
  const std::string_view whole = text;
  const auto is_space = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);

  size_t digits = 0;
  while (digits < text.size() && ((text[digits] >= '0' && text[digits] <= '9') || text[digits] == '.')) ++digits;
  const std::string_view number = text.substr(0, digits);
  std::string_view unit = text.substr(digits);
  while (!unit.empty() && is_space(unit.front())) unit.remove_prefix(1);

  std::string upper(unit);
  std::transform(upper.begin(), upper.end(), upper.begin(), [](unsigned char c) { return std::toupper(c); });
  double scale = 1;
  if (!upper.empty() && upper != "B") {
    const size_t power = std::string_view("KMGTP").find(upper[0]);
    if (power == std::string_view::npos) return not_a_size(whole);
    const std::string_view rest = std::string_view(upper).substr(1);
    if (!rest.empty() && rest != "IB" && rest != "I" && rest != "B") return not_a_size(whole);
    scale = std::pow(rest == "B" ? 1000.0 : 1024.0, static_cast<double>(power + 1));
  }

  if (number.find('.') == std::string_view::npos && scale == 1) {  // exact beyond 2^53
    int64_t bytes = 0;
    const auto [end, fault] = std::from_chars(number.data(), number.data() + number.size(), bytes);
    if (fault != std::errc() || end != number.data() + number.size()) return not_a_size(whole);
    return bytes;
  }
  double value = 0;
  const auto [end, fault] = std::from_chars(number.data(), number.data() + number.size(), value);
  if (fault != std::errc() || end != number.data() + number.size()) return not_a_size(whole);
  if (!(value * scale < kLargestSize)) return not_a_size(whole);
  return static_cast<int64_t>(std::llround(value * scale));
}

std::string format_bytes(int64_t bytes) {
  constexpr std::array<const char*, 6> kUnits = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  const char* sign = bytes < 0 ? "-" : "";
  double value = std::fabs(static_cast<double>(bytes));
  if (value < 1024) return fmt::format("{}{:.0f} B", sign, value);
  size_t unit = 0;
  while (unit + 1 < kUnits.size() && value >= 1023.5) {  // 1023.5 would print as 1024
    value /= 1024;
    ++unit;
  }
  const int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  return fmt::format("{}{:.{}f} {}", sign, value, decimals, kUnits[unit]);
}

std::string format_count(int64_t count) {
  std::string text = fmt::format("{}", count);
  const size_t first = count < 0 ? 1 : 0;
  for (size_t i = text.size(); i > first + 3;) text.insert(i -= 3, 1, ',');
  return text;
}

}  // namespace lowtide::engine
