#include "report/drawing.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/sizes.h"
#include "report/columns.h"

namespace lowtide::engine {
namespace {

constexpr size_t kRows = 6;
constexpr size_t kLabelWidth = 11;  // "  26.0 GiB "
constexpr std::array<const char*, 9> kBlocks = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};

// The largest number of bytes during each column's share of the steps.
std::vector<int64_t> columns_of(const Curve& curve, size_t count) {
  std::vector<int64_t> columns(count, 0);
  const size_t steps = curve.bytes.size();
  for (size_t c = 0; c < count; ++c) {
    const size_t begin = c * steps / count;
    const size_t end = std::max(begin + 1, (c + 1) * steps / count);
    for (size_t s = begin; s < std::min(end, steps); ++s) columns[c] = std::max(columns[c], curve.bytes[s]);
  }
  return columns;
}

// Phase names centred under their columns; those without room are left out.
std::string phase_line(const Curve& curve, size_t count) {
  std::string line(count, ' ');
  const auto column_of = [&](Step step) { return static_cast<size_t>(step) * count / curve.bytes.size(); };
  std::vector<const Phase*> by_length;
  for (const Phase& phase : curve.phases) by_length.push_back(&phase);
  std::stable_sort(by_length.begin(), by_length.end(),
                   [](const Phase* a, const Phase* b) { return a->end - a->begin > b->end - b->begin; });
  for (const Phase* phase : by_length) {
    const size_t begin = column_of(phase->begin), end = std::max(begin + 1, column_of(phase->end));
    const size_t length = phase->name.size();
    if (length > count) continue;
    const size_t middle = (begin + end) / 2;
    const size_t at = std::min(middle > length / 2 ? middle - length / 2 : 0, count - length);
    const size_t free_from = at > 0 ? at - 1 : 0, free_to = std::min(count, at + length + 1);
    const bool room = std::all_of(line.begin() + static_cast<std::ptrdiff_t>(free_from),
                                  line.begin() + static_cast<std::ptrdiff_t>(free_to), [](char c) { return c == ' '; });
    if (room) line.replace(at, length, phase->name);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

}  // namespace

std::vector<std::string> draw_curve(const Curve& curve, size_t width) {
  if (curve.bytes.empty() || width <= kLabelWidth + 10) return {};
  const size_t count = std::min<size_t>(80, width - kLabelWidth - 2);
  const std::vector<int64_t> columns = columns_of(curve, count);
  const int64_t top = *std::max_element(columns.begin(), columns.end());
  if (top <= 0) return {};
  constexpr size_t kLevels = kRows * 8;
  const auto level = [&](int64_t bytes) {
    return static_cast<size_t>(std::lround(static_cast<double>(bytes) / static_cast<double>(top) * kLevels));
  };
  const size_t base_row = std::min(kRows - 1, level(curve.base) / 8);
  std::vector<std::string> lines;
  for (size_t row = kRows; row-- > 0;) {
    std::string label;
    const char* axis = "┤";
    if (row == kRows - 1) label = format_bytes(top);
    if (row == base_row && curve.base > 0 && row != kRows - 1) {
      label = format_bytes(curve.base);
      axis = "┼";
    }
    std::string line = pad_left(label, kLabelWidth) + " " + axis;
    for (const int64_t bytes : columns) {
      const size_t filled = level(bytes);
      line += kBlocks[std::min<size_t>(8, filled > row * 8 ? filled - row * 8 : 0)];
    }
    line.erase(line.find_last_not_of(' ') + 1);
    lines.push_back(std::move(line));
  }
  const std::string phases = phase_line(curve, count);
  if (!phases.empty()) lines.push_back(std::string(kLabelWidth + 2, ' ') + phases);
  return lines;
}

}  // namespace lowtide::engine
