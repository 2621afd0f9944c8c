#include "report/compare.h"

#include <algorithm>
#include <cstdlib>
#include <map>

#include "report/origin.h"

namespace lowtide {
namespace {

// Forward, backward and recomputed values of one scope are different values.
std::string key_of(const PeakRow& row) {
  const std::string& op_name = row.origin.op_name;
  if (op_name.empty()) {
    const size_t begin = row.value.starts_with("%") ? 1 : 0;
    return row.value.substr(begin, row.value.find_first_of(".{") - begin) + " " + row.shape;
  }
  std::string key = user_scopes(op_name);
  if (key.empty()) key = op_name;
  if (op_name.find("rematted_computation") != std::string::npos) return key + " (recomputed)";
  return op_name.find("transpose(") != std::string::npos ? key + " (backward)" : key;
}

struct Side {
  int64_t bytes = 0, largest = -1;
  std::string shape;
  Origin origin;
};

void add(const PeakRow& row, std::map<std::string, Side>& sides) {
  Side& side = sides[key_of(row)];
  side.bytes += row.bytes;
  if (row.bytes > side.largest) {
    side.largest = row.bytes;
    side.shape = row.shape;
    side.origin = row.origin;
  }
}

std::map<std::string, Side> sides_of(const Report& report) {
  std::map<std::string, Side> sides;
  for (const PeakRow& row : report.input_at_peak) {
    if (row.allocation < 0) {
      add(row, sides);
      continue;
    }
    for (const PeakRow& held : row.contents) {
      if (held.live_at_peak) add(held, sides);
    }
  }
  return sides;
}

}  // namespace

double ReportComparison::growth_percent() const {
  if (before.peak <= 0) return after.peak > 0 ? 100 : 0;
  return 100.0 * static_cast<double>(after.peak - before.peak) / static_cast<double>(before.peak);
}

ReportComparison compare(const Report& before, const Report& after) {
  ReportComparison comparison;
  comparison.module_before = before.module;
  comparison.module_after = after.module;
  comparison.before = before.given;
  comparison.after = after.given;
  if (before.xla_peak && after.xla_peak) {
    comparison.before.peak = *before.xla_peak;
    comparison.after.peak = *after.xla_peak;
  }
  const std::map<std::string, Side> a = sides_of(before), b = sides_of(after);
  std::map<std::string, Difference> differences;
  for (const auto& [key, side] : a) {
    Difference& difference = differences[key];
    difference.before = side.bytes;
    difference.shape_before = side.shape;
    difference.origin = side.origin;
  }
  for (const auto& [key, side] : b) {
    Difference& difference = differences[key];
    difference.after = side.bytes;
    difference.shape_after = side.shape;
    difference.origin = side.origin;
  }
  for (auto& [key, difference] : differences) {
    if (difference.change() == 0) continue;
    difference.key = key;
    comparison.differences.push_back(std::move(difference));
  }
  std::stable_sort(
      comparison.differences.begin(), comparison.differences.end(),
      [](const Difference& x, const Difference& y) { return std::abs(x.change()) > std::abs(y.change()); });
  return comparison;
}

}  // namespace lowtide
