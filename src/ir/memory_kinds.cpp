#include "ir/memory_kinds.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>

namespace lowtide::engine {
namespace {

constexpr size_t kMostNumbers = 1 << 20;

std::string opening(EntrySide side) {
  return fmt::format("lowtide.{}_memory_kinds=\"", side == EntrySide::kArguments ? "argument" : "result");
}

}  // namespace

std::vector<std::string> memory_kinds(const Module& module, EntrySide side) {
  std::vector<std::string> kinds;
  const std::string key = opening(side);
  const size_t found = module.frontend_attributes.find(key);
  if (found == std::string::npos) return kinds;
  std::string_view rest = std::string_view(module.frontend_attributes).substr(found + key.size());
  rest = rest.substr(0, rest.find('"'));
  while (!rest.empty()) {
    std::string_view entry = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), entry.size() + 1));
    size_t number = 0;
    const auto [end, error] = std::from_chars(entry.data(), entry.data() + entry.size(), number);
    if (error != std::errc() || number > kMostNumbers) continue;  // somebody else's words
    entry.remove_prefix(static_cast<size_t>(end - entry.data()));
    if (!entry.starts_with(':')) continue;
    if (kinds.size() <= number) kinds.resize(number + 1);
    kinds[number] = entry.substr(1);
  }
  return kinds;
}

void set_memory_kinds(Module& module, EntrySide side, const std::vector<std::string>& kinds) {
  std::string text;
  for (size_t i = 0; i < kinds.size(); ++i) {
    const bool plain = kinds[i].find_first_not_of("abcdefghijklmnopqrstuvwxyz_") == std::string::npos;
    if (!kinds[i].empty() && plain) text += fmt::format("{}{}:{}", text.empty() ? "" : ",", i, kinds[i]);
  }
  std::string& all = module.frontend_attributes;
  if (text.empty() || all.find(opening(side)) != std::string::npos) return;
  if (all.empty()) all = "{}";
  all.insert(all.size() - 1, fmt::format("{}{}{}\"", all.size() > 2 ? "," : "", opening(side), text));
}

}  // namespace lowtide::engine
