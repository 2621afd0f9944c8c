#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/sizes.h"
#include "report/columns.h"
#include "report/compare.h"

namespace lowtide::engine {
namespace {

constexpr size_t kBytes = 10;
constexpr double kLargestPercent = 100;  // beyond a hundredfold, percentages aren't informative

const char* verb_of(const PeakDifference& difference) {
  if (difference.shape_before.empty()) return "appeared";
  if (difference.shape_after.empty()) return "gone";
  return difference.change() > 0 ? "grew" : "shrank";
}

std::string signed_bytes(int64_t bytes) { return (bytes > 0 ? "+" : "") + format_bytes(bytes); }

std::string shapes_of(const PeakDifference& difference) {
  if (difference.shape_before.empty() || difference.shape_before == difference.shape_after) {
    return difference.shape_after;
  }
  if (difference.shape_after.empty()) return difference.shape_before;
  return difference.shape_before + " → " + difference.shape_after;
}

nlohmann::ordered_json sizes_json(const Sizes& sizes) {
  return {{"argument_bytes", sizes.arguments}, {"output_bytes", sizes.outputs}, {"alias_bytes", sizes.alias},
          {"temp_bytes", sizes.temp},          {"load_bytes", sizes.load},      {"peak_bytes", sizes.peak}};
}

}  // namespace

std::string to_text(const PeakComparison& comparison, const TextOptions& options) {
  std::string text;
  const auto line = [&](std::string one) {
    one.erase(one.find_last_not_of(' ') + 1);
    text += one + "\n";
  };
  line(fit(fmt::format("{} → {}", comparison.module_before, comparison.module_after), options.width));
  const auto total = [&](const char* name, int64_t before, int64_t after) {
    std::string change;
    if (before > 0 && before != after) {
      const double ratio = static_cast<double>(after) / static_cast<double>(before);
      change = ratio < kLargestPercent ? fmt::format(" ({:+.1f} %)", 100 * (ratio - 1)) : " (many times over)";
    }
    line(fmt::format("{:<12}{} → {}{}", name, pad_left(format_bytes(before), kBytes), format_bytes(after), change));
  };
  total("peak", comparison.before.peak, comparison.after.peak);
  total("arguments", comparison.before.arguments, comparison.after.arguments);
  total("results", comparison.before.outputs, comparison.after.outputs);
  total("temporaries", comparison.before.temp, comparison.after.temp);
  const auto& rows = comparison.differences;
  if (rows.empty()) {
    line("No value at the peak differs.");
    return options.utf8 ? text : to_ascii(text);
  }
  const size_t listed = options.top == 0 ? rows.size() : std::min(rows.size(), static_cast<size_t>(options.top));
  size_t shapes = 12;
  for (size_t r = 0; r < listed; ++r) shapes = std::max(shapes, display_width(shapes_of(rows[r])));
  shapes = std::min<size_t>(shapes, 34);
  const size_t from = options.width - 3 * (kBytes + 1) - 9 - shapes - 4;
  line("");
  line(fmt::format("{} {} {} {}  {}  {}", pad_left("change", kBytes), pad_left("before", kBytes),
                   pad_left("after", kBytes), pad_right("", 8), pad_right("value", shapes), "from"));
  int64_t rest = 0;
  for (size_t r = 0; r < rows.size(); ++r) {
    const PeakDifference& row = rows[r];
    if (r >= listed) {
      rest += row.change();
      continue;
    }
    const std::string place = row.origin.source.empty() ? fit_end(row.key.substr(0, row.key.find(' ')), from)
                                                        : row.origin.scope + " · " + row.origin.source;
    line(fmt::format("{} {} {} {}  {}  {}", pad_left(signed_bytes(row.change()), kBytes),
                     pad_left(row.before ? format_bytes(row.before) : "-", kBytes),
                     pad_left(row.after ? format_bytes(row.after) : "-", kBytes), pad_right(verb_of(row), 8),
                     pad_right(shapes_of(row), shapes), fit_end(place, from)));
  }
  if (listed < rows.size()) {
    line(fmt::format("{} in {} more: --top 0", pad_left(signed_bytes(rest), kBytes), rows.size() - listed));
  }
  return options.utf8 ? text : to_ascii(text);
}

std::string to_json(const PeakComparison& comparison) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const PeakDifference& row : comparison.differences) {
    rows.push_back({{"key", row.key},
                    {"change", verb_of(row)},
                    {"before_bytes", row.before},
                    {"after_bytes", row.after},
                    {"shape_before", row.shape_before},
                    {"shape_after", row.shape_after},
                    {"op_name", row.origin.op_name},
                    {"source", row.origin.full_source}});
  }
  const nlohmann::ordered_json json = {{"schema_version", 1},
                                       {"before", sizes_json(comparison.before)},
                                       {"after", sizes_json(comparison.after)},
                                       {"growth_percent", comparison.growth_percent()},
                                       {"differences", rows}};
  return json.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace lowtide::engine
