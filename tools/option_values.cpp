#include "option_values.h"

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdlib>
#include <set>
#include <string>

namespace lowtide::command {
namespace {

std::set<const CLI::Option*>& empty_ones() {
  static std::set<const CLI::Option*> options;
  return options;
}

std::string fault_of(const std::string& value, bool is_number) {
  if (value.empty()) return "an empty value; expected something behind it";
  if (!is_number) return {};
  const double number = std::strtod(value.c_str(), nullptr);
  if (std::isfinite(number) && number >= 0) return {};
  return "`" + value + "` is no size of anything; expected a finite number from 0 on";
}

}  // namespace

void may_be_empty(CLI::Option* option) { empty_ones().insert(option); }

void check_values(CLI::App& app) {
  for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; })) {
    for (CLI::Option* option : command->get_options()) {
      if (option->get_expected_max() == 0 || empty_ones().contains(option)) continue;  // a flag has no value
      const std::string type = option->get_type_name();
      const bool is_number = type == "FLOAT" || type == "INT" || type == "UINT";
      option->check([is_number](const std::string& value) { return fault_of(value, is_number); }, "");
    }
  }
}

}  // namespace lowtide::command
