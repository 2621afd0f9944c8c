#include "report/text.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/sizes.h"
#include "report/columns.h"
#include "report/drawing.h"
#include "report/text_tables.h"

namespace lowtide::engine {
namespace {

constexpr size_t kOthersNamed = 3;

void add_paragraph(const std::string& text, const TextOptions& options, Lines& lines) {
  size_t indent = 0;
  for (const std::string& line : wrap(text, options.width - 2)) {
    lines.push_back(std::string(indent, ' ') + line);
    indent = 2;
  }
}

void add_title(const Report& report, const TextOptions& options, Lines& lines) {
  std::string title = report.module;
  if (!report.others.empty()) title += fmt::format(" · largest of {} modules", report.others.size() + 1);
  title += fmt::format(" · {} instruction{}", format_count(report.instructions), report.instructions == 1 ? "" : "s");
  title += " · " + (report.platform.empty() ? "" : report.platform + ", ");
  title += report.before_partitioning ? "before partitioning" : report.scheduled ? "scheduled" : "not scheduled";
  title += report.devices > 1 ? fmt::format(" · per device of {}", report.devices) : " · one device";
  add_paragraph(title, options, lines);
  for (const std::string& warning : report.warnings) add_paragraph("warning: " + warning, options, lines);
  if (!report.has_metadata) {
    add_paragraph(
        "no source lines in this file: lowered.as_text(\"hlo\", debug_info=True), compiled.as_text() and XLA's dumps "
        "have them",
        options, lines);
  }
  for (size_t i = 0; i < std::min(kOthersNamed, report.others.size()); ++i) {
    lines.push_back(fit("also there: " + report.others[i], options.width));
  }
  if (report.others.size() > kOthersNamed) {
    lines.push_back(fmt::format("also there: {} more modules", report.others.size() - kOthersNamed));
  }
}

void add_arguments_line(const Report& report, const TextOptions& options, Lines& lines) {
  int64_t donated = 0, could = 0;
  for (const ArgumentRow& row : report.arguments) {
    if (row.fate == Fate::kDonated) donated += row.bytes;
    if (row.fate == Fate::kCouldBeDonated) could += row.bytes;
  }
  std::string line = "arguments " + format_bytes(report.given.arguments);
  if (report.given.arguments > 0) {
    const bool nearly_all = donated * 1000 >= report.given.arguments * 999;
    line += donated == report.given.arguments ? ", all donated"
            : nearly_all                      ? ", nearly all donated"
            : donated > 0                     ? fmt::format(", {} donated", format_bytes(donated))
                                              : ", none donated";
    if (could > 0 && !nearly_all) line += fmt::format(", {} more have a result's type", format_bytes(could));
  }
  std::string groups;
  for (const ArgumentGroup& group : report.argument_groups) {
    groups += fmt::format("{}{} {}", groups.empty() ? ": " : " · ", group.name.empty() ? "unnamed" : group.name,
                          format_bytes(group.bytes));
  }
  line += groups + fmt::format("; results {}", format_bytes(report.given.outputs));
  if (report.given.alias > 0)
    line += fmt::format(", {} of them in donated arguments", format_bytes(report.given.alias));
  add_paragraph(line, options, lines);
}

void add_peak_line(const Report& report, const TextOptions& options, Lines& lines) {
  std::string line = "peak ";
  const char* arrow = " → ";
  if (report.xla_peak) line += fmt::format("{} in XLA{}", format_bytes(*report.xla_peak), arrow);
  if (report.scheduled) line += fmt::format("{} in this order", format_bytes(report.given.peak));
  if (!report.scheduled) line += fmt::format("{} as it stands", format_bytes(report.given.peak));
  line += fmt::format("{}{} by free levers{}", arrow, format_bytes(report.ours.peak),
                      report.exact ? ", every sum in its order" : "");
  // Before partitioning, it isn't known which operations there will be.
  if (!report.before_partitioning) {
    line += fmt::format(" · no order of these operations below {}", format_bytes(report.floor_order.bytes));
  }
  line += fmt::format(" · no executor below {}", format_bytes(report.floor_any.bytes));
  add_paragraph(line, options, lines);
  std::string parts = fmt::format("  = arguments {} + results {} − aliased {} + temporaries {}",
                                  format_bytes(report.given.arguments), format_bytes(report.given.outputs),
                                  format_bytes(report.given.alias), format_bytes(report.given.temp));
  if (report.given.load < report.given.temp) parts += fmt::format(" (load {})", format_bytes(report.given.load));
  lines.push_back(fit(parts, options.width));
  if (!report.floor_order.reason.empty()) add_paragraph("floor: " + report.floor_order.reason, options, lines);
  if (!report.floor_any.reason.empty() && report.floor_any.reason != report.floor_order.reason) {
    add_paragraph("floor of any executor: " + report.floor_any.reason, options, lines);
  }
  if (report.padding > 0) lines.push_back(fmt::format("padding {} of the peak", format_bytes(report.padding)));
  for (const auto& [space, bytes] : report.other_spaces) {
    const std::string name = space == kHostMemory ? "host memory S(5)" : fmt::format("memory space S({})", space);
    lines.push_back(fmt::format("{}: {} at most, not in the peak", name, format_bytes(bytes)));
  }
}

// Control characters of names in the file must not reach the terminal.
std::string printable(std::string text) {
  std::replace_if(text.begin(), text.end(), [](unsigned char c) { return (c < 0x20 && c != '\n') || c == 0x7f; }, ' ');
  return text;
}

}  // namespace

std::string to_text(const Report& report, const TextOptions& options) {
  Lines lines;
  add_title(report, options, lines);
  add_arguments_line(report, options, lines);
  add_peak_line(report, options, lines);
  lines.emplace_back();
  const Lines curve = draw_curve(report.curve, options.width);
  lines.insert(lines.end(), curve.begin(), curve.end());
  if (!curve.empty()) lines.emplace_back();

  const bool allocations = !report.input_at_peak.empty() && report.input_at_peak[0].allocation >= 0;
  const auto titled = [&](std::string title, const std::string& place) {
    if (!place.empty()) title += " (" + place + ")";
    lines.push_back(fit(title, options.width));
  };
  if (allocations) {
    titled("In XLA's allocations", "");
    add_allocation_table(report.input_at_peak, report.xla_peak.value_or(report.given.peak), options, lines);
    lines.emplace_back();
    titled("At the peak of the free plan", report.peak_place);
    add_peak_table(report.at_peak, report.ours.peak, options, lines);
  } else {
    titled(report.scheduled ? "At the peak of XLA's order" : "At the peak", report.input_peak_place);
    add_peak_table(report.input_at_peak, report.given.peak, options, lines);
  }
  lines.emplace_back();
  add_operation_table(report, options, lines);
  if (!report.arguments.empty()) {
    lines.emplace_back();
    add_argument_table(report, options, lines);
  }
  lines.emplace_back();
  std::string next = report.next.empty() ? "" : "Next: ";
  for (size_t i = 0; i < report.next.size(); ++i) next += (i > 0 ? "      " : "") + report.next[i] + "\n";
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  text = printable(text + next);
  return options.utf8 ? text : to_ascii(text);
}

}  // namespace lowtide::engine
