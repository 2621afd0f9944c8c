#include "report/profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

namespace lowtide::engine {
namespace {

using Json = nlohmann::ordered_json;

std::string dumped(const Json& json) { return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"; }

std::string rate(double amount, double seconds) {
  return amount > 0 && seconds > 0 ? fmt::format("{:.1f}", 1e-9 * amount / seconds) : "";
}

std::string over_model(double seconds, double modelled) {
  return modelled > 0 ? fmt::format("{:.2f}", seconds / modelled) : "";
}

/// No more than `width` characters: the end of longer texts.
std::string last_of(const std::string& text, size_t width) {
  return text.size() <= width ? text : ".." + text.substr(text.size() - width + 2);
}

/// The sums over all steps of one kind.
struct Kind {
  double seconds = 0, waiting = 0, modelled = 0, bytes = 0, operations = 0;
  int64_t runs = 0;
};

}  // namespace

std::string profile_json(const Profile& profile) {
  Json json = {{"schema_version", 1},
               {"module", profile.module},
               {"runs", profile.runs},
               {"threads", profile.threads},
               {"seconds", profile.seconds},
               {"modelled_seconds", profile.modelled_seconds},
               {"machine_operations_per_second", profile.machine_operations_per_second},
               {"machine_bytes_per_second", profile.machine_bytes_per_second},
               {"steps", Json::array()}};
  for (const Profile::Step& step : profile.steps) {
    json["steps"].push_back({{"name", step.name},
                             {"kind", step.kind},
                             {"scope", step.scope},
                             {"source", step.source},
                             {"runs", step.runs},
                             {"seconds", step.seconds},
                             {"waiting", step.waiting},
                             {"modelled_seconds", step.modelled_seconds},
                             {"bytes", step.bytes},
                             {"operations", step.operations},
                             {"held_back_by", step.held_back_by}});
  }
  return dumped(json);
}

std::string profile_text(const Profile& profile, int64_t rows, bool utf8) {
  const double one = 1.0 / static_cast<double>(std::max<int64_t>(1, profile.runs));
  const double all = std::max(1e-12, profile.seconds);
  const char* dot = utf8 ? "·" : "-";
  std::string text = fmt::format(
      "{} {} {:.3f} ms a run, modelled {:.3f} {} {} threads {} machine {:.0f} GFLOP/s, {:.0f} GB/s\n\n", profile.module,
      dot, 1e3 * one * profile.seconds, 1e3 * profile.modelled_seconds, dot, profile.threads, dot,
      1e-9 * profile.machine_operations_per_second, 1e-9 * profile.machine_bytes_per_second);
  std::map<std::string, Kind> kinds;
  for (const Profile::Step& step : profile.steps) {
    Kind& kind = kinds[step.kind];
    kind.seconds += step.seconds;
    kind.waiting += step.waiting * step.seconds;
    kind.modelled += step.modelled_seconds;
    kind.bytes += step.bytes;
    kind.operations += step.operations;
    kind.runs += step.runs;
  }
  std::vector<std::pair<std::string, Kind>> longest(kinds.begin(), kinds.end());
  std::ranges::stable_sort(longest, [](const auto& a, const auto& b) { return a.second.seconds > b.second.seconds; });
  text += fmt::format("{:>10} {:>6} {:>9} {:>7} {:>8} {:>8} {:>8}  {}\n", "ms a run", "share", "runs", "x model",
                      "waiting", "GFLOP/s", "GB/s", "kind of step");
  for (const auto& [name, kind] : longest) {
    text +=
        fmt::format("{:>10.3f} {:>4.0f} % {:>9.0f} {:>7} {:>6.0f} % {:>8} {:>8}  {}\n", 1e3 * one * kind.seconds,
                    100 * kind.seconds / all, one * static_cast<double>(kind.runs),
                    over_model(kind.seconds, kind.modelled), kind.seconds > 0 ? 100 * kind.waiting / kind.seconds : 0,
                    rate(kind.operations, kind.seconds), rate(kind.bytes, kind.seconds), name);
  }
  text += fmt::format("\n{:>10} {:>6} {:>9} {:>7} {:>8} {:>8} {:>8}  {}\n", "ms a run", "share", "runs", "x model",
                      "waiting", "GFLOP/s", "GB/s", "step");
  const size_t shown = std::min(profile.steps.size(), static_cast<size_t>(std::max<int64_t>(0, rows)));
  for (size_t s = 0; s < shown; ++s) {
    const Profile::Step& step = profile.steps[s];
    text += fmt::format("{:>10.3f} {:>4.0f} % {:>9.0f} {:>7} {:>6.0f} % {:>8} {:>8}  {}\n", 1e3 * one * step.seconds,
                        100 * step.seconds / all, one * static_cast<double>(step.runs),
                        over_model(step.seconds, step.modelled_seconds), 100 * step.waiting,
                        rate(step.operations, step.seconds), rate(step.bytes, step.seconds),
                        last_of(step.kind + " %" + step.name, 34));
    std::string more;
    const auto add = [&](const std::string& words) {
      if (!words.empty()) more += (more.empty() ? "" : fmt::format(" {} ", dot)) + words;
    };
    add(last_of(step.scope, 36));
    add(last_of(step.source, 28));
    add(step.held_back_by.empty() ? "" : "held back by " + step.held_back_by);
    if (!more.empty()) text += fmt::format("{:>26}{}\n", "", more);
  }
  if (shown < profile.steps.size()) text += fmt::format("{:>26}and {} steps more\n", "", profile.steps.size() - shown);
  return text;
}

std::string profile_trace(const Profile& profile) {
  Json events = Json::array();
  events.push_back({{"ph", "M"}, {"pid", 1}, {"name", "process_name"}, {"args", {{"name", profile.module}}}});
  for (const Profile::Span& span : profile.spans) {
    const Profile::Step& step = profile.steps[span.step];
    events.push_back({{"ph", "X"},
                      {"pid", 1},
                      {"tid", 1},
                      {"ts", 1e6 * span.start},
                      {"dur", 1e6 * span.seconds},
                      {"name", step.name},
                      {"cat", step.kind},
                      {"args", {{"scope", step.scope}, {"source", step.source}, {"waiting", step.waiting}}}});
  }
  return dumped({{"traceEvents", std::move(events)}, {"displayTimeUnit", "ms"}});
}

}  // namespace lowtide::engine
