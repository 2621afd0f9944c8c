#include "answer.h"

#include <charconv>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/files.h"
#include "progress_line.h"

namespace lowtide::engine {
namespace {

using Json = nlohmann::ordered_json;

bool answered = false;

/// Takes ":12" off the end; 0 where it doesn't end so.
int64_t take_number(std::string_view& text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return 0;
  int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + colon + 1, end, number);
  if (error != std::errc() || stop != end) return 0;
  text = text.substr(0, colon);
  return number;
}

/// "file:12:3: " before the sentence: Status::at().
Json place_of(std::string_view message) {
  for (size_t at = message.find(": "); at != std::string_view::npos; at = message.find(": ", at + 1)) {
    std::string_view file = message.substr(0, at);
    const int64_t column = take_number(file);
    const int64_t line = column > 0 ? take_number(file) : 0;
    if (line > 0) return {{"file", file}, {"line", line}, {"column", column}};
  }
  return nullptr;
}

void add_fault(Json& json, const Status& fault) {
  json["error"] = fault.message();
  json["exit_code"] = static_cast<int>(fault.fault());
  if (fault.has_place()) json["place"] = place_of(fault.message());
}

std::string dump(const Json& json) { return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n"; }

}  // namespace

std::string fault_json(const Status& fault) {
  Json json = {{"schema_version", 1}};
  add_fault(json, fault);
  return dump(json);
}

Status write_json(std::string json, const Status& verdict) {
  answered = true;
  if (!verdict.ok()) {
    Json whole = Json::parse(json);
    add_fault(whole, verdict);
    json = dump(whole);
  }
  LT_RETURN_IF_ERROR(print_stdout(json));
  return verdict;
}

bool is_answered() { return answered; }

}  // namespace lowtide::engine
