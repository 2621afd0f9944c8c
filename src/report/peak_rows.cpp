#include "report/peak_rows.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "report/live.h"
#include "report/origin.h"
#include "report/phases.h"

namespace lowtide::engine {
namespace {

constexpr size_t kValuesNamed = 64;  // of a buffer that holds many over its life

bool stays(const AccountBuffer& buffer) {
  return buffer.kind == BufferKind::kArgument || buffer.kind == BufferKind::kOutput;
}

// The value by which a reader knows the buffer: the first into which a loop stacks slices, or else the first of all.
const ValueRef& telling_value(const Graph& graph, const AccountBuffer& buffer) {
  for (const ValueRef& value : buffer.values) {
    if (value.instruction->opcode == Opcode::kWhile && value.index.size() == 1 &&
        graph.stack_update(*value.instruction, value.index[0]) != nullptr) {
      return value;
    }
  }
  return buffer.values[0];
}

PeakRow row_of(const Graph& graph, const Categories& categories, const WhyAlive& live, const AccountBuffer& buffer,
               const ArgumentRow* argument) {
  PeakRow row;
  row.bytes = buffer.bytes;
  row.padding = buffer.padding;
  row.born = buffer.born;
  row.dies = buffer.dies;
  row.category = categories.of(buffer);
  row.why_live = live.why(buffer, argument);
  if (argument != nullptr) row.fate = argument->fate;
  if (!buffer.values.empty()) {
    const ValueRef& value = telling_value(graph, buffer);
    row.value = value_name(value);
    row.shape = to_string_without_layout(shape_of(value));
    row.origin = origin_of(graph, buffer);
    for (const ValueRef& held : buffer.values) {
      if (row.values.size() == kValuesNamed) break;
      row.values.push_back(value_name(held));
      row.made_by.push_back({held.instruction->parent->name, held.instruction->name});
    }
  }
  return row;
}

// Joins rows of one shape, origin and category, so that five gradients are one line.
std::vector<PeakRow> grouped(std::vector<PeakRow> rows) {
  std::map<std::tuple<std::string, std::string, std::string, Category, std::optional<Fate>>, size_t> place;
  std::vector<PeakRow> result;
  for (PeakRow& row : rows) {
    const auto [found, is_new] =
        place.try_emplace({row.shape, row.origin.op_name, row.origin.source, row.category, row.fate}, result.size());
    if (is_new) {
      result.push_back(std::move(row));
      continue;
    }
    PeakRow& group = result[found->second];
    group.bytes += row.bytes;
    group.padding += row.padding;
    group.count += row.count;
    group.born = std::min(group.born, row.born);
    group.dies = std::max(group.dies, row.dies);
    group.values.insert(group.values.end(), row.values.begin(), row.values.end());
    group.made_by.insert(group.made_by.end(), row.made_by.begin(), row.made_by.end());
  }
  std::stable_sort(result.begin(), result.end(), [](const PeakRow& a, const PeakRow& b) { return a.bytes > b.bytes; });
  return result;
}

}  // namespace

std::vector<PeakRow> peak_rows(const Graph& graph, const Account& account, const Categories& categories,
                               const std::vector<ArgumentRow>& arguments) {
  const WhyAlive live(graph, account);
  std::map<int64_t, const ArgumentRow*> by_number;
  for (const ArgumentRow& argument : arguments) by_number.try_emplace(argument.number, &argument);
  std::vector<PeakRow> rows;
  for (const AccountBuffer& buffer : account.buffers) {
    if (buffer.memory_space != 0 || buffer.bytes == 0) continue;
    if (!buffer.alive_at(account.peak_step) && !stays(buffer)) continue;
    const ArgumentRow* argument = nullptr;
    if (buffer.kind == BufferKind::kArgument && !buffer.values.empty()) {
      const auto* attributes = buffer.values[0].instruction->if_as<ParameterAttributes>();
      const auto found = attributes != nullptr ? by_number.find(attributes->number) : by_number.end();
      if (found != by_number.end()) argument = found->second;
    }
    rows.push_back(row_of(graph, categories, live, buffer, argument));
  }
  return grouped(std::move(rows));
}

std::string peak_place(const Account& account) {
  const auto step = static_cast<size_t>(account.peak_step);
  if (step >= account.timeline.size() || account.timeline[step].instruction == nullptr) return "";
  std::string place = phase_of(account.timeline[step]);
  place += (place.empty() ? "%" : ", %") + account.timeline[step].instruction->name;
  return place;
}

}  // namespace lowtide::engine
