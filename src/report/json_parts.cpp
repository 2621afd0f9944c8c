#include "report/json_parts.h"

namespace lowtide::engine {
namespace {

using Json = nlohmann::ordered_json;

Json cures_of(const std::vector<Cure>& cures) {
  Json list = Json::array();
  for (const Cure& cure : cures) {
    Json one = {{"what", cure.what}, {"bytes", cure.bytes}, {"planned", true}, {"more_modelled_time", cure.more_time}};
    if (!cure.decision.empty()) one["decision"] = cure.decision;
    if (cure.in_source) {
      one["in_your_source"] = cure.in_source->change;
      one["under_xla"] = {{"peak_bytes_before", cure.in_source->peak_before},
                          {"peak_bytes", cure.in_source->peak_after},
                          {"bytes", cure.in_source->bytes()}};
    }
    list.push_back(std::move(one));
  }
  return list;
}

Json row_of(const PeakRow& row) {
  Json json = {{"value", row.value},
               {"shape", row.shape},
               {"bytes", row.bytes},
               {"count", row.count},
               {"padding_bytes", row.padding},
               {"born", row.born},
               {"dies", row.dies},
               {"category", name_of(row.category)},
               {"op_name", row.origin.op_name},
               {"source", row.origin.full_source},
               {"why_live", row.why_live},
               {"frees_it", cures_of(row.cures)}};
  if (!row.in_free_plan.empty()) json["in_free_plan"] = row.in_free_plan;
  if (!row.values.empty()) json["values"] = row.values;
  return json;
}

Json contents_of(const PeakRow& row) {
  Json list = Json::array();
  for (const PeakRow& held : row.contents) {
    list.push_back({{"value", held.value},
                    {"shape", held.shape},
                    {"bytes", held.bytes},
                    {"offset", held.offset},
                    {"live_at_peak", held.live_at_peak},
                    {"category", name_of(held.category)},
                    {"op_name", held.origin.op_name},
                    {"source", held.origin.full_source}});
  }
  return list;
}

}  // namespace

Json plan_json(const PlanSummary& plan) {
  Json json = {{"schema_version", 1},
               {"module", plan.module},
               {"instructions", plan.instructions},
               {"argument_bytes", plan.ours.arguments},
               {"output_bytes", plan.ours.outputs},
               {"alias_bytes", plan.ours.alias},
               {"temp_bytes", plan.ours.temp},
               {"peak_bytes", plan.ours.peak},
               {"load_bytes", plan.ours.load},
               {"floor_order_bytes", plan.floor_order.bytes},
               {"floor_any_bytes", plan.floor_any.bytes},
               {"kernels", plan.kernels},
               {"plan_seconds", plan.plan_seconds}};
  if (plan.ours.host > 0) json["host_bytes"] = plan.ours.host;
  json["runnable"] = plan.refusal.empty();
  if (!plan.refusal.empty()) json["refusal"] = plan.refusal;
  return json;
}

Json floor_json(const LowerBound& floor) {
  Json json = {{"bytes", floor.bytes}, {"reason", floor.reason}};
  if (!floor.instruction.empty()) json["instruction"] = floor.instruction;
  return json;
}

Json peak_rows_json(const std::vector<PeakRow>& rows) {
  Json list = Json::array();
  for (const PeakRow& row : rows) {
    Json json = row_of(row);
    if (row.allocation >= 0) {
      json["allocation"] = row.allocation;
      json["kind"] = row.kind;
      json["contents"] = contents_of(row);
    }
    list.push_back(std::move(json));
  }
  return list;
}

}  // namespace lowtide::engine
