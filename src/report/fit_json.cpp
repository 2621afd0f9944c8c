#include <nlohmann/json.hpp>

#include "report/fit_report.h"
#include "report/json_parts.h"

namespace lowtide::engine {
namespace {

using Json = nlohmann::ordered_json;

Json rewrites_of(const FitReport& report) {
  Json list = Json::array();
  for (const RewriteRow& row : report.rewrites) {
    Json json = {{"rule", row.rule},
                 {"numerics", numerics_name(row.numerics)},
                 {"bytes_saved", row.bytes},
                 {"count", row.count}};
    if (!row.what.empty()) json["what"] = row.what;
    list.push_back(std::move(json));
  }
  return list;
}

const char* how_name(CheckedFit::How how) {
  switch (how) {
    case CheckedFit::How::kNothing: return "nothing";
    case CheckedFit::How::kWhole: return "whole program";
    case CheckedFit::How::kSmall: return "small instantiation";
  }
  return "";
}

Json check_of(const CheckedFit& check) {
  Json json = {{"what", how_name(check.how)}, {"found", check.found}};
  if (!check.extents.empty()) json["extents"] = check.extents;
  json["exercised"] = check.exercised();
  json["decisions"] = Json::array();
  for (const CheckedFit::Row& row : check.rows) {
    Json one = {{"decision", row.decision}, {"exercised", row.exercised}};
    if (!row.as.empty()) one["as"] = row.as;
    json["decisions"].push_back(std::move(one));
  }
  return json;
}

Json account_of(const XlaAccount& account) {
  return {{"argument_bytes", account.sizes.arguments},
          {"output_bytes", account.sizes.outputs},
          {"alias_bytes", account.sizes.alias},
          {"temp_bytes", account.sizes.temp},
          {"peak_bytes", account.sizes.peak}};
}

}  // namespace

std::string fit_json(const FitReport& report) {
  Json json = plan_json(report);
  if (report.for_xla) json.erase("runnable");  // only XLA can tell
  json["input_peak_bytes"] = report.given_peak;
  json["before_partitioning"] = report.before_partitioning;
  json["warnings"] = report.warnings;
  json["free_peak_bytes"] = report.free_peak;
  json["modelled_seconds"] = report.seconds;
  json["free_modelled_seconds"] = report.free_seconds;
  json["machine"] = report.machine;
  if (report.machine_bytes > 0) json["machine_bytes"] = report.machine_bytes;
  if (report.xla) {
    json["xla"] = {{"platform", report.xla->after.platform},
                   {"before", account_of(report.xla->before)},
                   {"after", account_of(report.xla->after)},
                   {"stays", report.xla->stays}};
  }
  json["plans_tried"] = report.plans;
  json["made_for"] = report.for_xla ? "xla" : "lowtide";
  if (!report.note.empty()) json["note"] = report.note;
  if (report.interrupted) json["interrupted"] = true;
  json["rewrites"] = rewrites_of(report);
  Json certificate = {{"exact", report.exact},
                      {"limit_bytes", report.limit ? Json(*report.limit) : Json(nullptr)},
                      {"met", report.met},
                      {"peak_bytes", report.ours.peak},
                      {"floor_order", floor_json(report.floor_order)},
                      {"floor_any", floor_json(report.floor_any)}};
  json["certificate"] = std::move(certificate);
  Json changes = Json::array();
  for (const ChangeRow& row : report.changes) {
    Json one = {{"what", row.what}, {"bytes", row.bytes}, {"peak_bytes", row.peak}};
    if (!row.user_change.empty()) one["in_your_source"] = row.user_change;
    changes.push_back(std::move(one));
  }
  json["could_change"] = std::move(changes);
  if (!report.in_source.empty()) json["in_your_source"] = report.in_source;
  Json frontier = Json::array();
  for (const FitPoint& point : report.frontier) {
    frontier.push_back({{"peak_bytes", point.peak}, {"modelled_seconds", point.seconds}});
  }
  json["frontier"] = std::move(frontier);
  json["at_peak"] = peak_rows_json(report.at_peak);
  if (report.checked) json["checked"] = report.checked->sentence(), json["check"] = check_of(*report.checked);
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace lowtide::engine
