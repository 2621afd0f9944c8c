#include "report/trace.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

namespace lowtide::engine {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kBuffersShown = 4000;  // the largest

// Rows of a trace can't overlap: each buffer goes to the first row that is free when it is born.
std::vector<size_t> rows_for(const std::vector<const TimelineBox*>& boxes) {
  std::vector<Step> free_from;
  std::vector<size_t> rows;
  for (const TimelineBox* box : boxes) {
    const auto found = std::find_if(free_from.begin(), free_from.end(), [&](Step step) { return step <= box->born; });
    const auto row = static_cast<size_t>(found - free_from.begin());
    if (found == free_from.end()) free_from.push_back(0);
    free_from[row] = box->dies;
    rows.push_back(row);
  }
  return rows;
}

}  // namespace

std::string to_trace(const Report& report) {
  Json events = Json::array();
  events.push_back({{"ph", "M"}, {"pid", 1}, {"name", "process_name"}, {"args", {{"name", report.module}}}});
  int64_t before = -1;
  for (size_t step = 0; step < report.curve.bytes.size(); ++step) {
    if (report.curve.bytes[step] == before) continue;
    before = report.curve.bytes[step];
    events.push_back({{"ph", "C"}, {"pid", 1}, {"ts", step}, {"name", "memory"}, {"args", {{"bytes", before}}}});
  }
  for (const Phase& phase : report.curve.phases) {
    events.push_back({{"ph", "X"},
                      {"pid", 1},
                      {"tid", 0},
                      {"ts", phase.begin},
                      {"dur", phase.end - phase.begin},
                      {"name", phase.name}});
  }
  std::vector<const TimelineBox*> boxes;
  for (const TimelineBox& box : report.boxes) boxes.push_back(&box);
  std::stable_sort(boxes.begin(), boxes.end(),
                   [](const TimelineBox* a, const TimelineBox* b) { return a->bytes > b->bytes; });
  if (boxes.size() > kBuffersShown) boxes.resize(kBuffersShown);
  std::stable_sort(boxes.begin(), boxes.end(),
                   [](const TimelineBox* a, const TimelineBox* b) { return a->born < b->born; });
  const std::vector<size_t> rows = rows_for(boxes);
  for (size_t i = 0; i < boxes.size(); ++i) {
    const TimelineBox& box = *boxes[i];
    events.push_back({{"ph", "X"},
                      {"pid", 1},
                      {"tid", rows[i] + 1},
                      {"ts", box.born},
                      {"dur", box.dies - box.born},
                      {"name", box.label},
                      {"cat", name_of(box.category)},
                      {"args", {{"bytes", box.bytes}, {"offset", box.offset}, {"detail", box.detail}}}});
  }
  const Json trace = {{"traceEvents", events}, {"displayTimeUnit", "ms"}};
  return trace.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace lowtide::engine
