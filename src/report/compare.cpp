#include "report/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string_view>

#include "report/origin.h"

namespace lowtide::engine {
namespace {

/// Values are the same value before and after a change if their op names agree in scope, direction and primitive, and
/// they have the same rank and kind of numbers: a batch may have grown, and f32 become bf16. All other values under one
/// scope are unrelated.
struct Key {
  std::string name;    ///< shown to readers
  std::string family;  ///< distinguishes values with the same name
  auto operator<=>(const Key&) const = default;
};

/// "bf16[8,16]{1,0}" -> "float 2". Shapes that aren't arrays are returned unchanged.
std::string family_of(const std::string& shape) {
  const size_t bracket = shape.find('[');
  if (bracket == std::string::npos || shape.starts_with("(")) return shape;
  const std::string type = shape.substr(0, bracket);
  const std::string_view extents = std::string_view(shape).substr(bracket + 1, shape.find(']') - bracket - 1);
  const auto dimensions = extents.empty() ? 0 : 1 + std::ranges::count(extents, ',');
  const char* kind = "other";
  if (type.starts_with("f") || type.starts_with("bf")) kind = "float";
  if (type.starts_with("s") || type.starts_with("u")) kind = "integer";
  if (type.starts_with("c")) kind = "complex";
  return fmt::format("{} {}", kind, dimensions);
}

// Forward, backward and recomputed values of one scope are different values.
Key key_of(const PeakRow& row) {
  const std::string& op_name = row.origin.op_name;
  if (op_name.empty()) {
    const size_t begin = row.value.starts_with("%") ? 1 : 0;
    return {row.value.substr(begin, row.value.find_first_of(".{") - begin) + " " + row.shape, {}};
  }
  std::string name = user_scopes(op_name);
  if (name.empty()) name = op_name;
  if (op_name.find("rematted_computation") != std::string::npos) {
    name += " (recomputed)";
  } else if (op_name.find("transpose(") != std::string::npos) {
    name += " (backward)";
  }
  return {std::move(name), op_name.substr(op_name.rfind('/') + 1) + " " + family_of(row.shape)};
}

struct Side {
  int64_t bytes = 0, largest = -1;
  std::string shape;
  Origin origin;
};

void add(const PeakRow& row, std::map<Key, Side>& sides) {
  Side& side = sides[key_of(row)];
  side.bytes += row.bytes;
  if (row.bytes > side.largest) {
    side.largest = row.bytes;
    side.shape = row.shape;
    side.origin = row.origin;
  }
}

std::map<Key, Side> sides_of(const Report& report) {
  std::map<Key, Side> sides;
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

PeakComparison compare(const Report& before, const Report& after) {
  PeakComparison comparison;
  comparison.module_before = before.module;
  comparison.module_after = after.module;
  comparison.before = before.given;
  comparison.after = after.given;
  if (before.xla_peak && after.xla_peak) {
    comparison.before.peak = *before.xla_peak;
    comparison.after.peak = *after.xla_peak;
  }
  const std::map<Key, Side> a = sides_of(before), b = sides_of(after);
  std::map<Key, PeakDifference> differences;
  for (const auto& [key, side] : a) {
    PeakDifference& difference = differences[key];
    difference.before = side.bytes;
    difference.shape_before = side.shape;
    difference.origin = side.origin;
  }
  for (const auto& [key, side] : b) {
    PeakDifference& difference = differences[key];
    difference.after = side.bytes;
    difference.shape_after = side.shape;
    difference.origin = side.origin;
  }
  for (auto& [key, difference] : differences) {
    if (difference.change() == 0) continue;
    difference.key = key.name;
    comparison.differences.push_back(std::move(difference));
  }
  std::stable_sort(
      comparison.differences.begin(), comparison.differences.end(),
      [](const PeakDifference& x, const PeakDifference& y) { return std::abs(x.change()) > std::abs(y.change()); });
  return comparison;
}

}  // namespace lowtide::engine
