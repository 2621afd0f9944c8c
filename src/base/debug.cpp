#include "base/debug.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace lowtide {
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

const char* from_environment(const char* name) { return std::getenv(name); }

}  // namespace

Knobs read_knobs(const char* (*get)(const char* name)) {
  const auto text = [&](const char* name) {
    const char* value = get(name);
    return std::string_view(value ? value : "");
  };
  Knobs knobs;
  std::vector<std::string> debug = split_at_commas(text("LOWTIDE_DEBUG"));
  if (!debug.empty()) {
    knobs.debug = std::clamp(std::atoi(debug.front().c_str()), 0, static_cast<int>(DebugLevel::kAll));
    knobs.debug_filter.assign(debug.begin() + 1, debug.end());
  }
  knobs.dump_directory = text("LOWTIDE_DUMP");
  knobs.disabled = split_at_commas(text("LOWTIDE_DISABLE"));
  knobs.isa = text("LOWTIDE_ISA");
  knobs.cache_directory = text("LOWTIDE_CACHE");
  knobs.user_cache_directory = text("XDG_CACHE_HOME");
  knobs.home_directory = text("HOME");
  const auto is_on = [&](const char* name) { return !text(name).empty() && text(name) != "0"; };
  knobs.check = is_on("LOWTIDE_CHECK");
  knobs.poison = is_on("LOWTIDE_POISON");
  if (const char* threads = get("LOWTIDE_THREADS")) knobs.threads = std::max(0, std::atoi(threads));
  return knobs;
}

const Knobs& knobs() {
  static const Knobs kKnobs = read_knobs(from_environment);
  return kKnobs;
}

bool debug_shows(DebugLevel level, std::string_view topic) {
  const Knobs& k = knobs();
  if (k.debug < static_cast<int>(level)) return false;
  return topic.empty() || k.debug_filter.empty() ||
         std::find(k.debug_filter.begin(), k.debug_filter.end(), topic) != k.debug_filter.end();
}

bool is_debugging() { return knobs().debug > 0 || !knobs().dump_directory.empty(); }

bool is_disabled(std::string_view pass) {
  const auto& disabled = knobs().disabled;
  return std::find(disabled.begin(), disabled.end(), pass) != disabled.end();
}

void debug_print(std::string_view line) {
  std::fwrite(line.data(), 1, line.size(), stderr);
  std::fputc('\n', stderr);
}

}  // namespace lowtide
