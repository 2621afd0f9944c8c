#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "target/machines.h"

namespace lowtide::engine {
namespace {

using nlohmann::json;

struct Fact {
  const char* name;
  double Machine::* fact;
};

#define LT_FACT(name) {#name, &Machine::name}
constexpr Fact kFacts[] = {
    LT_FACT(cores),         LT_FACT(plain_ns),         LT_FACT(dependent_step_ns), LT_FACT(scattered_ns),
    LT_FACT(lookup_ns),     LT_FACT(kernel_factor),    LT_FACT(byte_ns),           LT_FACT(cached_read_ns),
    LT_FACT(memory_factor), LT_FACT(near_bytes),       LT_FACT(near_factor),       LT_FACT(row_term_ns),
    LT_FACT(product_ns),    LT_FACT(rows_to_fill),     LT_FACT(depth_to_fill),     LT_FACT(least_product_width),
    LT_FACT(few_rows),      LT_FACT(depth_to_cut),     LT_FACT(columns_to_turn),   LT_FACT(compare_ns),
    LT_FACT(wave_ns),       LT_FACT(kernel_start_ns),  LT_FACT(meeting_ns),        LT_FACT(library_start_ns),
    LT_FACT(copy_start_ns), LT_FACT(trip_ns),          LT_FACT(stored_byte_ns),    LT_FACT(generated_byte_ns),
    LT_FACT(kept_byte_ns),  LT_FACT(step_start_ns),    LT_FACT(sharing_ns),        LT_FACT(row_ns),
    LT_FACT(far_bytes),     LT_FACT(far_factor),       LT_FACT(order_to_fill),     LT_FACT(vector_lanes),
    LT_FACT(narrow_factor), LT_FACT(streamed_byte_ns),
};
#undef LT_FACT

const Machine* find_machine(std::string_view name) {
  const auto found = std::ranges::find(machines(), name, &Machine::name);
  return found == machines().end() ? nullptr : &*found;
}

std::string known_machines() {
  std::vector<std::string> names;
  for (const Machine& machine : machines()) names.push_back(machine.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

Status wrong(std::string_view what) { return Status(Fault::kUsage, fmt::format("machine: {}", what)); }

Status take_fact(const std::string& name, const json& value, Machine& machine) {
  if (name == "name") {
    if (!value.is_string()) return wrong("`name`: expected a string");
    machine.name = value.get<std::string>();
    return {};
  }
  const auto fact = std::ranges::find_if(kFacts, [&](const Fact& f) { return f.name == name; });
  if (fact == std::end(kFacts)) return wrong(fmt::format("there is no fact `{}`", name));
  if (!value.is_number()) return wrong(fmt::format("`{}`: expected a number from 0 on", name));
  const auto number = value.get<double>();
  if (!std::isfinite(number) || number < 0) return wrong(fmt::format("`{}`: expected a number from 0 on", name));
  if (name == "cores" && number < 1) return wrong("`cores`: expected a number from 1 on");
  machine.*(fact->fact) = number;
  return {};
}

}  // namespace

Result<Machine> read_machine(std::string_view text) {
  if (text.empty()) return machines().front();
  if (const Machine* machine = find_machine(text)) return *machine;
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || text[first] != '{')
    return wrong(fmt::format("there is no `{}`; known are {}, or a JSON object of facts", text, known_machines()));
  const json object = json::parse(text, nullptr, false);
  if (!object.is_object()) return wrong("expected a JSON object of facts");
  Machine machine = machines().front();
  if (const auto base = object.find("base"); base != object.end()) {
    const Machine* known = base->is_string() ? find_machine(base->get_ref<const std::string&>()) : nullptr;
    if (known == nullptr) return wrong(fmt::format("`base`: expected one of {}", known_machines()));
    machine = *known;
  }
  machine.name = "described";
  for (const auto& [name, value] : object.items()) {
    if (name != "base") LT_RETURN_IF_ERROR(take_fact(name, value, machine));
  }
  return machine;
}

std::string machine_line(std::string_view text) {
  return text.find('{') == std::string_view::npos ? std::string(text) : json::parse(text).dump();
}

}  // namespace lowtide::engine
