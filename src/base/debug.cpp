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

bool is_on(std::string_view text) { return !text.empty() && text != "0"; }

/// Does a knob change a plan or a kernel, so that what was kept under another value of it is something else?
enum class Changes : uint8_t { kNothingKept, kWhatIsKept };

/// Every variable that is read, with what its text means. One that is unset stays as Knobs has it.
struct Row {
  const char* name;
  Changes changes;
  void (*read)(Knobs& knobs, std::string_view text);
};

constexpr double kLongestUnseen = 1e6;  ///< seconds

constexpr Row kRows[] = {
    {"LOWTIDE_DEBUG", Changes::kNothingKept,
     [](Knobs& k, std::string_view text) {
       std::vector<std::string> words = split_at_commas(text);
       if (words.empty()) return;
       k.debug = std::clamp(std::atoi(words.front().c_str()), 0, static_cast<int>(DebugLevel::kAll));
       k.debug_filter.assign(words.begin() + 1, words.end());
     }},
    {"LOWTIDE_DUMP", Changes::kNothingKept, [](Knobs& k, std::string_view text) { k.dump_directory = text; }},
    {"LOWTIDE_DISABLE", Changes::kWhatIsKept,
     [](Knobs& k, std::string_view text) { k.disabled = split_at_commas(text); }},
    {"LOWTIDE_ISA", Changes::kWhatIsKept, [](Knobs& k, std::string_view text) { k.isa = text; }},
    {"LOWTIDE_CACHE", Changes::kNothingKept,
     [](Knobs& k, std::string_view text) {
       k.no_cache = !is_on(text) || text == "off";
       k.cache_directory = k.no_cache ? "" : text;
     }},
    {"XDG_CACHE_HOME", Changes::kNothingKept, [](Knobs& k, std::string_view text) { k.user_cache_directory = text; }},
    {"HOME", Changes::kNothingKept, [](Knobs& k, std::string_view text) { k.home_directory = text; }},
    {"LOWTIDE_CHECK", Changes::kWhatIsKept, [](Knobs& k, std::string_view text) { k.check = is_on(text); }},
    {"LOWTIDE_POISON", Changes::kNothingKept, [](Knobs& k, std::string_view text) { k.poison = is_on(text); }},
    {"LOWTIDE_PROGRESS", Changes::kNothingKept,
     [](Knobs& k, std::string_view text) {
       k.progress_after = std::clamp(std::atof(std::string(text).c_str()), 0.0, kLongestUnseen);
     }},
    {"LOWTIDE_THREADS", Changes::kNothingKept,
     [](Knobs& k, std::string_view text) { k.threads = std::max(0, std::atoi(std::string(text).c_str())); }},
};

}  // namespace

Knobs read_knobs(const char* (*get)(const char* name)) {
  Knobs knobs;
  for (const Row& row : kRows) {
    const char* text = get(row.name);
    if (text == nullptr) continue;
    row.read(knobs, text);
    if (row.changes == Changes::kWhatIsKept && *text != 0)
      knobs.changing.append(row.name).append("=").append(text).append("\n");
  }
  return knobs;
}

const Knobs& knobs() {
  static const Knobs kKnobs = read_knobs([](const char* name) -> const char* { return std::getenv(name); });
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
