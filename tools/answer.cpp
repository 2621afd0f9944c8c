#include "answer.h"

#include <nlohmann/json.hpp>

#include "output.h"

namespace lowtide::command {
namespace {

using Json = nlohmann::ordered_json;

bool answered = false;

void add_fault(Json& json, const Error& fault) {
  json["error"] = fault.message;
  json["exit_code"] = static_cast<int>(fault.kind);
  if (const auto& place = fault.place)
    json["place"] = {{"file", place->file}, {"line", place->line}, {"column", place->column}};
}

std::string dump(const Json& json) { return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n"; }

}  // namespace

std::string fault_json(const Error& fault) {
  Json json = {{"schema_version", 1}};
  add_fault(json, fault);
  return dump(json);
}

Outcome write_json(std::string json, const Outcome& verdict) {
  answered = true;
  if (!verdict.ok()) {
    Json whole = Json::parse(json);
    add_fault(whole, verdict.error());
    json = dump(whole);
  }
  LT_DO(print_stdout(json));
  return verdict;
}

bool is_answered() { return answered; }

}  // namespace lowtide::command
