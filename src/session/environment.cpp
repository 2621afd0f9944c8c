#include "session/environment.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "lowtide/session.h"

namespace lowtide::engine {
namespace {

std::vector<std::string> split_at_commas(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    if (comma > 0) parts.emplace_back(text.substr(0, comma));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return parts;
}

bool is_on(std::string_view text) { return !text.empty() && text != "0"; }

constexpr double kLongestUnseen = 1e6;  ///< seconds

/// A variable, and what its text means.
struct Row {
  const char* name;
  void (*read)(Environment& environment, std::string_view text);
};

constexpr Row kRows[] = {
    {"LOWTIDE_DEBUG",
     [](Environment& e, std::string_view text) {
       std::vector<std::string> words = split_at_commas(text);
       if (words.empty()) return;
       e.settings.debug = std::clamp(std::atoi(words.front().c_str()), 0, static_cast<int>(DebugLevel::kAll));
       e.settings.debug_filter.assign(words.begin() + 1, words.end());
     }},
    {"LOWTIDE_DUMP", [](Environment& e, std::string_view text) { e.settings.dump_directory = text; }},
    {"LOWTIDE_DISABLE",
     [](Environment& e, std::string_view text) { e.settings.choices.disabled = split_at_commas(text); }},
    {"LOWTIDE_ISA", [](Environment& e, std::string_view text) { e.settings.choices.isa = text; }},
    {"LOWTIDE_CHECK", [](Environment& e, std::string_view text) { e.settings.choices.check = is_on(text); }},
    {"LOWTIDE_POISON", [](Environment& e, std::string_view text) { e.settings.poison = is_on(text); }},
    {"LOWTIDE_PROGRESS",
     [](Environment& e, std::string_view text) {
       e.progress_after = std::clamp(std::atof(std::string(text).c_str()), 0.0, kLongestUnseen);
     }},
    {"LOWTIDE_THREADS",
     [](Environment& e, std::string_view text) {
       e.settings.threads = std::max(0, std::atoi(std::string(text).c_str()));
     }},
};

std::string cache_directory(const char* (*get)(const char* name)) {
  const auto text_of = [&](const char* name) {
    const char* text = get(name);
    return std::string_view(text != nullptr ? text : "");
  };
  if (get("LOWTIDE_CACHE") != nullptr) {
    const std::string_view named = text_of("LOWTIDE_CACHE");
    return std::string(is_on(named) && named != "off" ? named : "");
  }
  return usual_cache_directory(text_of("XDG_CACHE_HOME"), text_of("HOME"));
}

}  // namespace

Environment read_environment(const char* (*get)(const char* name)) {
  Environment environment;
  for (const Row& row : kRows) {
    if (const char* text = get(row.name)) row.read(environment, text);
  }
  environment.settings.cache_directory = cache_directory(get);
  return environment;
}

}  // namespace lowtide::engine
