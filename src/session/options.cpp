// Checks a session's options and turns them into the engine's settings.
#include "lowtide/options.h"

#include <algorithm>
#include <cstdlib>

#include "base/progress.h"
#include "codegen/machine.h"
#include "passes/pass.h"
#include "session/guard.h"
#include "session/settings_of.h"
#include "target/machines.h"

namespace lowtide {
namespace {

/// Rewrites other than passes that `without` may name.
constexpr std::string_view kOtherRewrites[] = {"contract-products", "tables"};

bool is_rewrite(const std::string& name) {
  return engine::find_pass(name) || std::ranges::find(kOtherRewrites, name) != std::end(kOtherRewrites);
}

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

/// An environment variable, and the function that reads its text.
struct Row {
  const char* name;
  void (*read)(Options& options, std::string_view text);
};

constexpr Row kRows[] = {
    {"LOWTIDE_DEBUG",
     [](Options& o, std::string_view text) {
       std::vector<std::string> words = split_at_commas(text);
       if (words.empty()) return;
       o.debugging.level = std::clamp(std::atoi(words.front().c_str()), 0, static_cast<int>(engine::DebugLevel::kAll));
       o.debugging.passes.assign(words.begin() + 1, words.end());
     }},
    {"LOWTIDE_DUMP", [](Options& o, std::string_view text) { o.debugging.dump_directory = text; }},
    {"LOWTIDE_DISABLE",
     [](Options& o, std::string_view text) {
       o.without = split_at_commas(text);
       std::erase_if(o.without, [](const std::string& name) { return !is_rewrite(name); });
     }},
    {"LOWTIDE_ISA", [](Options& o, std::string_view text) { o.instruction_set = text; }},
    {"LOWTIDE_CHECK", [](Options& o, std::string_view text) { o.debugging.check = is_on(text); }},
    {"LOWTIDE_POISON", [](Options& o, std::string_view text) { o.debugging.poison = is_on(text); }},
    {"LOWTIDE_THREADS",
     [](Options& o, std::string_view text) { o.threads = std::max(0, std::atoi(std::string(text).c_str())); }},
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

double Progress::share() const { return total > 0 ? std::clamp(done / total, 0.0, 1.0) : 0; }

std::string Progress::text() const {
  return engine::to_string(
      {.name = stage, .done = done, .total = total, .seconds = seconds, .best_peak = best_peak.value_or(-1)});
}

Options options_from_environment(const char* (*get)(const char* name)) {
  Options options;
  for (const Row& row : kRows) {
    if (const char* text = get(row.name)) row.read(options, text);
  }
  options.cache_directory = cache_directory(get);
  return options;
}

std::string usual_cache_directory(std::string_view xdg_cache_home, std::string_view home) {
  // Only absolute paths: a default cache must not appear in the working directory.
  if (xdg_cache_home.starts_with('/')) return std::string(xdg_cache_home) + "/lowtide";
  return home.starts_with('/') ? std::string(home) + "/.cache/lowtide" : "";
}

std::vector<std::string> machine_names() {
  std::vector<std::string> names;
  for (const engine::Machine& machine : engine::machines()) names.push_back(machine.name);
  return names;
}

namespace engine {

lowtide::Result<void> check_options(const Options& options) {
  const auto wrong = [](std::string why) { return Error{ErrorKind::kUsage, "Options::" + std::move(why)}; };
  if (options.threads < 0) return wrong("threads: expected a number from 0 on");
  if (options.limit && *options.limit < 0) return wrong("limit: expected bytes from 0 on");
  if (options.cache_bytes < 0) return wrong("cache_bytes: expected bytes from 0 on");
  if (!(options.progress_interval > 0)) return wrong("progress_interval: expected more than 0 seconds");
  for (const std::string& name : options.without) {
    if (!is_rewrite(name)) return wrong("without: there is no pass `" + name + "`");
  }
  if (const auto machine = read_machine(options.machine); !machine.ok())
    return wrong(std::string(machine.status().message()));
  // Compiling checks whether the processor supports it; nothing else needs it.
  const auto isa = resolve_isa(Isa::kNative, options.instruction_set);
  if (!isa.ok() && isa.status().fault() == Fault::kUsage) return error_of(isa.status());
  return {};
}

Settings settings_of(const Options& options) {
  Settings settings;
  settings.choices.disabled = options.without;
  settings.choices.machine = machine_line(options.machine);
  settings.choices.isa = options.instruction_set;
  settings.choices.check = options.debugging.check;
  settings.debug = options.debugging.level;
  settings.debug_filter = options.debugging.passes;
  settings.dump_directory = options.debugging.dump_directory;
  settings.cache_directory = options.cache_directory;
  settings.cache_bytes = options.cache_bytes;
  settings.brief_search = options.brief_search;
  settings.any_shape = options.kernels_of_any_shape;
  settings.poison = options.debugging.poison;
  settings.threads = options.threads;
  return settings;
}

}  // namespace engine
}  // namespace lowtide
