#include "report/json.h"

#include <nlohmann/json.hpp>

#include "report/json_parts.h"

namespace lowtide::engine {
namespace {

using Json = nlohmann::ordered_json;

Json operations_of(const Report& report) {
  Json list = Json::array();
  for (const OperationRow& row : report.by_operation) {
    const double share =
        report.given.peak > 0 ? static_cast<double>(row.bytes) / static_cast<double>(report.given.peak) : 0;
    list.push_back({{"operation_type", row.type},
                    {"bytes", row.bytes},
                    {"share", share},
                    {"count", row.count},
                    {"names", row.names},
                    {"framework_op", row.framework_op},
                    {"source", row.source}});
  }
  return list;
}

Json arguments_of(const Report& report) {
  Json list = Json::array();
  for (const ArgumentRow& row : report.arguments) {
    Json json = {{"number", row.number},         {"tree_path", row.path}, {"shape", row.shape},
                 {"group", row.group},           {"bytes", row.bytes},    {"category", name_of(row.category)},
                 {"donation", name_of(row.fate)}};
    json["result"] = row.result >= 0 ? Json(row.result) : Json(nullptr);
    list.push_back(std::move(json));
  }
  return list;
}

}  // namespace

std::string to_json(const Report& report) {
  Json json = plan_json(report);
  json["input_peak_bytes"] = report.given.peak;
  json["input_temp_bytes"] = report.given.temp;
  json["input_load_bytes"] = report.given.load;
  json["xla_peak_bytes"] = report.xla_peak ? Json(*report.xla_peak) : Json(nullptr);
  json["scheduled"] = report.scheduled;
  json["exact"] = report.exact;
  json["platform"] = report.platform;
  json["devices"] = report.devices;
  json["before_partitioning"] = report.before_partitioning;
  json["padding_bytes"] = report.padding;
  Json spaces = Json::object();
  for (const auto& [space, bytes] : report.other_spaces) spaces[std::to_string(space)] = bytes;
  json["other_memory_space_bytes"] = std::move(spaces);
  json["floor_order"] = floor_json(report.floor_order);
  json["floor_any"] = floor_json(report.floor_any);
  json["warnings"] = report.warnings;
  json["others"] = report.others;
  json["by_op"] = operations_of(report);
  json["at_peak"] = peak_rows_json(report.at_peak);
  json["input_at_peak"] = peak_rows_json(report.input_at_peak);
  json["arguments"] = arguments_of(report);
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace lowtide::engine
