#include "base/settings.h"

#include <fmt/format.h>

namespace lowtide::engine {

std::string to_text(const Choices& choices) {
  const auto& [disabled, machine, isa, check] = choices;  // doesn't compile if a member is added and not named here
  std::string text;
  for (const std::string& name : disabled) text += fmt::format("disabled {}:{}\n", name.size(), name);
  if (!machine.empty()) text += fmt::format("machine {}:{}\n", machine.size(), machine);
  if (!isa.empty()) text += fmt::format("isa {}:{}\n", isa.size(), isa);
  if (check) text += "check\n";
  return text;
}

}  // namespace lowtide::engine
