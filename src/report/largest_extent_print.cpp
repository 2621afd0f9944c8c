#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/sizes.h"
#include "report/columns.h"
#include "report/largest_extent.h"

namespace lowtide::engine {
namespace {

constexpr size_t kLineWidth = 100;

std::string verdict_of(const LargestExtent& found) {
  const std::string limit = format_bytes(found.limit);
  const auto* const largest = found.largest();
  const auto* const next = found.next();
  if (largest == nullptr) {
    return fmt::format(
        "none fits in {}: {}", limit,
        next == nullptr ? "nothing was tried" : fmt::format("{} needs {}", next->extent, format_bytes(next->peak)));
  }
  std::string text = fmt::format("{} fits in {}, with {}", largest->extent, limit, format_bytes(largest->peak));
  if (next != nullptr) text += fmt::format("; {} needs {}", next->extent, format_bytes(next->peak));
  if (next == nullptr && !found.beyond.empty()) text += "; nothing larger is known to be a program: " + found.beyond;
  return text;
}

}  // namespace

std::string largest_extent_text(const LargestExtent& found, bool utf8) {
  std::string text;
  const auto paragraph = [&](const std::string& words) {
    size_t indent = 0;
    for (const std::string& line : wrap(words, kLineWidth - 2)) {
      text += std::string(indent, ' ') + line + "\n";
      indent = 2;
    }
  };
  paragraph(fmt::format("{} · {}, {} as given{}", found.module, found.dimension, found.given,
                        found.step > 1 ? fmt::format(", in steps of {}", found.step) : ""));
  paragraph(verdict_of(found));
  if (found.interrupted) paragraph("interrupted: what was found until then");
  if (!found.tried.empty()) {
    text += "\n" + pad_left("extent", 12) + pad_left("peak", 12) + pad_left("modelled ms", 14) + "  " +
            pad_right("", 13) + "what changes with it\n";
  }
  for (const LargestExtent::Trial& trial : found.tried) {
    text += pad_left(format_count(trial.extent), 12) + pad_left(format_bytes(trial.peak), 12) +
            pad_left(trial.seconds > 0 ? fmt::format("{:.4g}", 1e3 * trial.seconds) : "-", 14) + "  " +
            pad_right(trial.fits ? "fits" : "doesn't fit", 13) + fit(trial.follows, kLineWidth - 54) + "\n";
  }
  text += "\n";
  if (found.for_xla) paragraph("peaks are Lowtide's model of XLA's account; XLA may need more or less");
  paragraph("Each was planned, none was run. Numbers in the program that aren't extents (a mean's divisor) stayed.");
  return utf8 ? text : to_ascii(text);
}

std::string largest_extent_json(const LargestExtent& found) {
  nlohmann::ordered_json tried = nlohmann::ordered_json::array();
  for (const LargestExtent::Trial& trial : found.tried) {
    tried.push_back({{"extent", trial.extent},
                     {"peak_bytes", trial.peak},
                     {"fits", trial.fits},
                     {"modelled_seconds", trial.seconds},
                     {"follows", trial.follows}});
  }
  nlohmann::ordered_json json = {{"schema_version", 1},          {"module", found.module},
                                 {"dimension", found.dimension}, {"given_extent", found.given},
                                 {"step", found.step},           {"limit_bytes", found.limit},
                                 {"for_xla", found.for_xla}};
  if (const auto* const largest = found.largest()) {
    json["largest_extent"] = largest->extent;
    json["peak_bytes"] = largest->peak;
  }
  if (const auto* const next = found.next()) {
    json["next_extent"] = next->extent;
    json["next_peak_bytes"] = next->peak;
  }
  if (!found.beyond.empty()) json["beyond"] = found.beyond;
  json["interrupted"] = found.interrupted;
  json["tried"] = tried;
  return json.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace lowtide::engine
