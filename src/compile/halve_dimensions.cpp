#include "compile/halve_dimensions.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analysis/leaves.h"
#include "base/thread_pool.h"
#include "compile/frontier.h"
#include "passes/resize/resize.h"
#include "report/arguments.h"

namespace lowtide::engine {
namespace {

constexpr size_t kMostDimensions = 3;  ///< tried
constexpr size_t kMostNamed = 3;       ///< arguments per row
constexpr int64_t kLeastExtent = 8;
constexpr int64_t kPlannedInstructions = 8'000;  ///< in total, for one dimension
constexpr int64_t kMostPlansOfHalves = 16;

struct Dimension {
  int32_t atom = 0;
  int64_t extent = 0;  ///< of the atom
  double bytes = 0;    ///< at the peak
  std::vector<std::string> names;
};

/// The atoms of the arguments' dimensions, in order of the first argument that has them.
std::vector<Dimension> dimensions_of(const Module& module, const ModuleExtents& extents) {
  const Graph graph(module);
  const auto rows = argument_rows(graph, account_for(module, AccountMode::kAsGiven), Categories(graph));
  std::map<int32_t, Dimension> by_atom;
  for (const ArgumentRow& row : rows) {
    const auto parameters = module.entry->parameters();
    const auto number = static_cast<size_t>(row.number);
    if (number >= parameters.size() || parameters[number] == nullptr || !parameters[number]->shape.is_array()) continue;
    const Instruction& parameter = *parameters[number];
    for (size_t d = 0; d < parameter.shape.dims.size(); ++d) {
      for (const int32_t atom : extents.atoms().whole(extents.dimension(parameter, 0, d))) {
        Dimension& dimension = by_atom[atom];
        dimension.atom = atom;
        dimension.extent = extents.atoms().extent(atom);
        dimension.names.push_back(fmt::format("dimension {} of {} ({})", d, row.path, parameter.shape.dims[d]));
      }
    }
  }
  std::vector<Dimension> all;
  for (auto& [atom, dimension] : by_atom) {
    if (dimension.extent >= kLeastExtent && dimension.extent % 2 == 0) all.push_back(std::move(dimension));
  }
  return all;
}

/// Bytes of the values at the peak, by the extents of their dimensions.
std::map<int64_t, double> bytes_by_extent(const Program& program) {
  const auto peak = std::ranges::max_element(program.live);
  const Step at = static_cast<Step>(peak - program.live.begin());
  std::map<int64_t, double> bytes;
  for (const Storage& s : program.storages) {
    const bool temporary = s.kind == StorageKind::kTemporary;
    if (s.kind == StorageKind::kConstant || s.values.empty() || (temporary && (at < s.born || at >= s.dies))) continue;
    const Shape* shape = leaf_shape(s.values.front().instruction->shape, s.values.front().leaf);
    if (shape == nullptr || !shape->is_array()) continue;
    for (const int64_t extent : shape->dims) bytes[extent] += static_cast<double>(s.bytes);
  }
  return bytes;
}

std::vector<Dimension> largest_at_peak(const Module& module, const ModuleExtents& extents, const Program& program) {
  std::vector<Dimension> all = dimensions_of(module, extents);
  const std::map<int64_t, double> bytes = bytes_by_extent(program);
  for (Dimension& dimension : all) {
    const auto found = bytes.find(dimension.extent);
    if (found != bytes.end()) dimension.bytes = found->second;
  }
  std::erase_if(all, [](const Dimension& dimension) { return dimension.bytes == 0; });
  std::ranges::sort(all, [](const Dimension& a, const Dimension& b) {
    return a.bytes != b.bytes ? a.bytes > b.bytes : a.atom < b.atom;
  });
  if (all.size() > kMostDimensions) all.resize(kMostDimensions);
  return all;
}

/// The lowest peak found; nothing if the module can't be planned.
std::optional<int64_t> lowest_peak(const Module& module, const Target& target, const Decisions& decisions) {
  std::optional<int64_t> lowest;
  const auto planner = Planner::make(module, target);
  if (!planner.ok()) return lowest;
  if (const auto same = planner->plan(decisions); same.ok()) lowest = same->program->peak_bytes();
  const int64_t plans = kPlannedInstructions / std::max<int64_t>(1, planner->instructions());
  if (lowest && plans < 2) return lowest;
  const auto frontier = find_frontier(*planner, {.budget = std::clamp<int64_t>(plans, 2, kMostPlansOfHalves)});
  if (frontier.ok()) lowest = std::min(lowest.value_or(INT64_MAX), frontier->tightest().peak_bytes);
  return lowest;
}

/// What halving this dimension saves; nothing if it can't be halved or saves nothing.
std::optional<ChangeRow> halve(const Module& module, const ModuleExtents& extents, const Dimension& dimension,
                               const Compiled& best) {
  const auto wish = [&](int32_t atom, int64_t extent) { return atom == dimension.atom ? extent / 2 : extent; };
  const auto resized = resize(module, extents, wish);
  if (!resized.ok()) return std::nullopt;
  const auto halved = std::ranges::find(resized->classes, dimension.atom, &ExtentClass::atom);
  if (halved == resized->classes.end() || halved->now != dimension.extent / 2) return std::nullopt;
  const auto lower = lowest_peak(*resized->module, *best.target, best.decisions);
  const int64_t peak = best.program->peak_bytes();
  if (!lower || *lower >= peak) return std::nullopt;
  std::string what = "halve " + dimension.names.front();
  const size_t named = std::min(kMostNamed, dimension.names.size());
  for (size_t k = 1; k < named; ++k) what += ", " + dimension.names[k];
  if (dimension.names.size() > named) what += fmt::format(" and {} more", dimension.names.size() - named);
  return ChangeRow{what, "", peak - *lower, *lower};
}

}  // namespace

Result<std::vector<ChangeRow>> halve_dimensions(const Module& module, const Compiled& best) {
  const ModuleExtents extents(module);
  const std::vector<Dimension> dimensions = largest_at_peak(module, extents, *best.program);
  std::vector<std::optional<ChangeRow>> rows(dimensions.size());
  module.context().pool().run(std::ssize(dimensions), [&](int64_t task, int) {
    const auto k = static_cast<size_t>(task);
    rows[k] = halve(module, extents, dimensions[k], best);
  });
  std::vector<ChangeRow> changes;
  for (std::optional<ChangeRow>& row : rows) {
    if (row) changes.push_back(std::move(*row));
  }
  return changes;
}

}  // namespace lowtide::engine
