/// XLA's own allocations, from the reports that accompany a module in a dump directory.

#include <algorithm>
#include <map>
#include <tuple>

#include "report/live.h"
#include "report/origin.h"
#include "report/peak_rows.h"

namespace lowtide::engine {
namespace {

/// Describes the values that XLA's reports name, with what the module says about them.
class Namer {
 public:
  Namer(const Graph& graph, const Account& account, const Categories& categories, const XlaReport& report)
      : graph_(graph), categories_(categories), live_(graph, account) {
    for (const auto& computation : graph.module().computations()) {
      for (const auto& instruction : computation->instructions()) {
        by_name_.try_emplace(instruction->name, instruction.get());
      }
    }
    for (const AccountBuffer& buffer : account.buffers) {
      for (const ValueRef& value : buffer.values) buffer_.try_emplace({value.instruction->id, value.index}, &buffer);
    }
    const int64_t peak = report.peak_position.value_or(0);
    for (const XlaReport::LiveRange& range : report.live_ranges) {
      at_peak_[{range.name, range.index}] = range.born <= peak && peak <= range.dies;
    }
  }

  PeakRow row_of(const XlaReport::Value& value) const {
    PeakRow row;
    row.value = "%" + value.name + (value.index.empty() ? "" : to_string(value.index));
    row.shape = value.shape.substr(0, value.shape.find('{'));
    row.bytes = value.bytes;
    row.offset = value.offset;
    const auto range = at_peak_.find({value.name, value.index});
    row.live_at_peak = range == at_peak_.end() ? at_peak_.empty() : range->second;
    const auto found = by_name_.find(value.name);
    if (found == by_name_.end() || !has_leaf(found->second->shape, value.index)) return row;
    const ValueRef reference{found->second, value.index};
    row.origin = origin_of(graph_, reference);
    row.category = categories_.of_value(reference);
    const auto buffer = buffer_.find({reference.instruction->id, reference.index});
    if (buffer == buffer_.end()) return row;
    row.born = buffer->second->born;
    row.dies = buffer->second->dies;
    row.category = categories_.of(*buffer->second);
    row.why_live = live_.why(*buffer->second);
    return row;
  }

 private:
  static bool has_leaf(const Shape& shape, const ShapeIndex& index) {
    const Shape* at = &shape;
    for (const int64_t i : index) {
      if (!at->is_tuple() || i < 0 || i >= static_cast<int64_t>(at->elements.size())) return false;
      at = &at->elements[i];
    }
    return at->is_array();
  }

  const Graph& graph_;
  const Categories& categories_;
  const WhyAlive live_;
  std::map<std::string_view, const Instruction*> by_name_;
  std::map<std::pair<int32_t, ShapeIndex>, const AccountBuffer*> buffer_;
  std::map<std::pair<std::string, ShapeIndex>, bool> at_peak_;
};

Category category_of_kind(const std::string& kind, Category fallback) {
  if (kind.starts_with("constant")) return Category::kConstant;
  if (kind.starts_with("thread-local")) return Category::kLibraryScratch;
  return fallback;
}

}  // namespace

std::vector<PeakRow> allocation_rows(const Graph& graph, const Account& account, const Categories& categories,
                                     const XlaReport& report) {
  const Namer namer(graph, account, categories, report);
  std::vector<PeakRow> rows;
  for (const XlaReport::Allocation& allocation : report.allocations) {
    PeakRow row;
    row.allocation = allocation.number;
    row.kind = allocation.kind;
    row.bytes = allocation.bytes;
    for (const XlaReport::Value& value : allocation.values) row.contents.push_back(namer.row_of(value));
    std::stable_sort(row.contents.begin(), row.contents.end(), [](const PeakRow& a, const PeakRow& b) {
      return std::tuple(!a.live_at_peak, -a.bytes, a.offset) < std::tuple(!b.live_at_peak, -b.bytes, b.offset);
    });
    if (!row.contents.empty()) {  // the allocation is named after its largest value at the peak
      const PeakRow& first = row.contents.front();
      row.value = first.value;
      row.shape = first.shape;
      row.origin = first.origin;
      row.category = first.category;
      row.why_live = first.why_live;
      row.born = first.born;
      row.dies = first.dies;
    }
    for (const PeakRow& held : row.contents) row.values.push_back(held.value);
    row.category = category_of_kind(row.kind, row.category);
    rows.push_back(std::move(row));
  }
  std::stable_sort(rows.begin(), rows.end(), [](const PeakRow& a, const PeakRow& b) { return a.bytes > b.bytes; });
  return rows;
}

}  // namespace lowtide::engine
