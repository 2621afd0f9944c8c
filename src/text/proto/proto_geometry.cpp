#include "text/proto/proto_geometry.h"

#include <fmt/format.h>

#include <algorithm>

#include "text/proto/proto_sharding.h"

namespace lowtide::engine {
namespace {

/// Appends `2x2` with one entry per dimension, unless all are `usual`.
void window_part(std::string& out, std::string_view key, const std::vector<WireMessage>& dims, uint32_t field,
                 int64_t usual) {
  std::string text;
  bool needed = false;
  for (const WireMessage& dimension : dims) {
    const int64_t value = dimension.integer(field);
    needed |= value != usual;
    text += fmt::format("{}{}", text.empty() ? "" : "x", value);
  }
  if (needed) out += fmt::format("{}{}={}", out.empty() ? "" : " ", key, text);
}

/// One array's part of `b01f_01io->b01f`: `letters` label the dimensions `at`, digits the spatial dimensions.
std::string labels(std::string_view letters, const std::vector<int64_t>& at, const std::vector<int64_t>& spatial) {
  std::string text(at.size() + spatial.size(), '?');
  const auto put = [&](int64_t position, char label) {
    if (position >= 0 && static_cast<size_t>(position) < text.size()) text[position] = label;
  };
  for (size_t i = 0; i < at.size(); ++i) put(at[i], letters[i]);
  for (size_t i = 0; i < spatial.size() && i < 10; ++i) put(spatial[i], static_cast<char>('0' + i));
  return text;
}

}  // namespace

std::string window_text(const WireMessage& window) {
  const std::vector<WireMessage> dims = window.messages(1);
  std::string out, padding;
  bool padded = false;
  window_part(out, "size", dims, 1, INT64_MIN);
  window_part(out, "stride", dims, 2, 1);
  for (const WireMessage& dimension : dims) {
    padded |= dimension.integer(3) != 0 || dimension.integer(4) != 0;
    padding += fmt::format("{}{}_{}", padding.empty() ? "" : "x", dimension.integer(3), dimension.integer(4));
  }
  if (padded) out += " pad=" + padding;
  window_part(out, "lhs_dilate", dims, 6, 1);
  window_part(out, "rhs_dilate", dims, 5, 1);
  window_part(out, "rhs_reversal", dims, 7, 0);
  return fmt::format("{{{}}}", out);
}

std::string dim_labels_text(const WireMessage& numbers) {
  return fmt::format("{}_{}->{}", labels("bf", {numbers.integer(7), numbers.integer(8)}, numbers.integers(11)),
                     labels("io", {numbers.integer(3), numbers.integer(4)}, numbers.integers(6)),
                     labels("bf", {numbers.integer(9), numbers.integer(10)}, numbers.integers(12)));
}

std::string slice_text(const std::vector<WireMessage>& dims) {
  std::string text;
  for (const WireMessage& dimension : dims) {
    text += fmt::format("{}[{}:{}", text.empty() ? "" : ", ", dimension.integer(1), dimension.integer(2));
    if (const int64_t stride = dimension.integer(3); stride != 1) text += fmt::format(":{}", stride);
    text += ']';
  }
  return fmt::format("{{{}}}", text);
}

std::string padding_text(const std::vector<WireMessage>& dims) {
  const bool interior = std::ranges::any_of(dims, [](const WireMessage& d) { return d.integer(3) != 0; });
  std::string text;
  for (const WireMessage& d : dims) {
    text += fmt::format("{}{}_{}", text.empty() ? "" : "x", d.integer(1), d.integer(2));
    if (interior) text += fmt::format("_{}", d.integer(3));
  }
  return text;
}

/// OutputOperandAliasing: `{{0}: (1, {})}`.
std::string aliasing_text(const std::vector<WireMessage>& entries) {
  std::string text;
  for (const WireMessage& entry : entries) {
    text += fmt::format("{}{}: ({}, {})", text.empty() ? "" : ", ", braced(entry.integers(1)), entry.integer(2),
                        braced(entry.integers(3)));
  }
  return fmt::format("{{{}}}", text);
}

}  // namespace lowtide::engine
