#include <fmt/format.h>

#include <algorithm>

#include "base/sizes.h"
#include "report/columns.h"
#include "report/fit_report.h"

namespace lowtide::engine {
namespace {

constexpr size_t kWidth = 100;
constexpr size_t kPointsShown = 8, kRowsShown = 6;

using Lines = std::vector<std::string>;

std::string time_against_free(const FitReport& report, double seconds) {
  if (report.free_seconds <= 0) return "";
  return fmt::format("{:+.0f} % time", 100 * (seconds / report.free_seconds - 1));
}

void add_paragraph(const std::string& text, Lines& lines) {
  size_t indent = 0;
  for (const std::string& line : wrap(text, kWidth - 2)) {
    lines.push_back(std::string(indent, ' ') + line);
    indent = 2;
  }
}

void add_summary(const FitReport& report, Lines& lines) {
  lines.push_back(fmt::format("{} · {} instructions{}", report.module, format_count(report.instructions),
                              report.before_partitioning ? " · before partitioning" : ""));
  for (const std::string& warning : report.warnings) add_paragraph("warning: " + warning, lines);
  add_paragraph(
      fmt::format("peak {} as given → {} by free levers → {} at {} (modelled {:.3g} ms on {})",
                  format_bytes(report.given_peak), format_bytes(report.free_peak), format_bytes(report.ours.peak),
                  time_against_free(report, report.seconds), 1e3 * report.seconds, report.machine),
      lines);
  const std::string kernels = report.for_xla ? "" : fmt::format(" · {} kernels", report.kernels);
  add_paragraph(fmt::format("arguments {} + results {} - shared {} + temp {}{} · {} plans tried in {:.2g} s",
                            format_bytes(report.ours.arguments), format_bytes(report.ours.outputs),
                            format_bytes(report.ours.alias), format_bytes(report.ours.temp), kernels, report.plans,
                            report.plan_seconds),
                lines);
  if (report.ours.host > 0) {
    lines.push_back(fmt::format("and {} in host memory, which is no part of the peak", format_bytes(report.ours.host)));
  }
  if (report.machine_bytes > 0) {
    const bool fits = report.ours.peak <= report.machine_bytes;
    add_paragraph(fmt::format("{} has {}: it {}", report.machine, format_bytes(report.machine_bytes),
                              fits ? "fits" : "doesn't fit"),
                  lines);
  }
  if (report.xla) {
    const XlaAccounts& xla = *report.xla;
    add_paragraph(fmt::format("XLA ({}) takes {} as given, temp {}, and {} rewritten, temp {}{}", xla.after.platform,
                              format_bytes(xla.before.sizes.peak), format_bytes(xla.before.sizes.temp),
                              format_bytes(xla.after.sizes.peak), format_bytes(xla.after.sizes.temp),
                              xla.stays ? ": it stays as it is" : ""),
                  lines);
  }
  if (!report.note.empty()) add_paragraph(report.note, lines);
  if (report.interrupted) add_paragraph("interrupted: the best of what was found until then", lines);
  if (!report.refusal.empty())
    add_paragraph("can't be run here: " + report.refusal.substr(0, report.refusal.find('\n')), lines);
}

void add_rewrites(const FitReport& report, Lines& lines) {
  if (report.rewrites.empty()) return;
  lines.push_back("");
  lines.push_back("What was done");
  lines.push_back(pad_left("bytes saved", 13) + pad_left("number", 9) + "  " + pad_right("numerics", 13) + "rule");
  for (const RewriteRow& row : report.rewrites) {
    const std::string saved = row.bytes < 0 ? "-" + format_bytes(-row.bytes) : format_bytes(row.bytes);
    const std::string rule = row.what.empty() ? row.rule : row.what;
    lines.push_back(pad_left(saved, 13) + pad_left(format_count(row.count), 9) + "  " +
                    pad_right(numerics_name(row.numerics), 13) + fit(rule, kWidth - 37));
  }
}

void add_certificate(const FitReport& report, Lines& lines) {
  lines.push_back("");
  if (report.limit) {
    lines.push_back(fmt::format("limit {} ({} bytes): {}; {} {} ({} bytes)", format_bytes(*report.limit),
                                format_count(*report.limit), report.met ? "met" : "not met",
                                report.met ? "peak" : "best found", format_bytes(report.ours.peak),
                                format_count(report.ours.peak)));
  } else {
    const std::string which = report.most_time > 0
                                  ? fmt::format("chosen at up to {} times the free plan's time", report.most_time)
                                  : "tightest found";
    lines.push_back(
        fmt::format("{}: peak {} ({} bytes)", which, format_bytes(report.ours.peak), format_count(report.ours.peak)));
  }
  if (!report.before_partitioning) {
    add_paragraph(fmt::format("no order of the operations as they stand below {}: {}",
                              format_bytes(report.floor_order.bytes), report.floor_order.reason),
                  lines);
  }
  add_paragraph(fmt::format("no executor below {}: {}", format_bytes(report.floor_any.bytes), report.floor_any.reason),
                lines);
  if (report.exact) {
    add_paragraph(report.for_xla ? "exact: no rewrite changes the order of a sum; XLA chooses that of its products"
                                 : "exact: every sum in its order, so that no plan changes a bit of the results",
                  lines);
  }
  if (!report.checked) return;
  add_paragraph("checked: " + report.checked->sentence(), lines);
  for (const CheckedFit::Row& row : report.checked->rows) {
    if (!row.exercised) lines.push_back(fit("  not exercised: " + row.decision, kWidth));
  }
}

void add_peak(const FitReport& report, Lines& lines) {
  lines.push_back("");
  lines.push_back("What is left at the peak");
  const size_t count = std::min(kRowsShown, report.at_peak.size());
  for (size_t k = 0; k < count; ++k) {
    const PeakRow& row = report.at_peak[k];
    lines.push_back(pad_left(format_bytes(row.bytes), 13) + "  " + pad_right(row.value, 24) + " " +
                    pad_right(row.shape, 24) + " " + fit(name_of(row.category), kWidth - 66));
  }
}

void add_frontier(const FitReport& report, Lines& lines) {
  if (report.frontier.size() < 2) return;
  lines.push_back("");
  lines.push_back("What other limits get");
  const size_t count = std::min(kPointsShown, report.frontier.size());
  for (size_t k = 0; k < count; ++k) {
    const FitPoint& point = report.frontier[k * (report.frontier.size() - 1) / std::max<size_t>(1, count - 1)];
    lines.push_back(pad_left(format_bytes(point.peak), 13) + pad_left(time_against_free(report, point.seconds), 16));
  }
}

void add_changes(const FitReport& report, Lines& lines) {
  if (report.changes.empty()) return;
  lines.push_back("");
  lines.push_back("What you could change (peaks of Lowtide's own plans)");
  lines.push_back(pad_left("bytes saved", 13) + pad_left("peak", 13));
  for (const ChangeRow& row : report.changes) {
    std::string head = pad_left(format_bytes(row.bytes), 13) + pad_left(format_bytes(row.peak), 13) + "  ";
    const size_t indent = display_width(head);
    for (const std::string& text : {row.what, row.user_change}) {
      for (const std::string& line : wrap(text, kWidth - indent)) {
        lines.push_back(head + line);
        head = std::string(indent, ' ');
      }
      head = std::string(indent, ' ');
    }
  }
}

void add_source(const FitReport& report, Lines& lines) {
  if (report.in_source.empty()) return;
  lines.push_back("");
  lines.push_back("What is made again, in your source (XLA decides what that comes to)");
  for (const std::string& words : report.in_source) add_paragraph(words, lines);
}

}  // namespace

}  // namespace lowtide::engine

namespace lowtide {

int64_t CheckedFit::exercised() const {
  return std::ranges::count_if(rows, [](const Row& row) { return row.exercised; });
}

std::string CheckedFit::sentence() const {
  if (how == How::kNothing) return "nothing: " + found;
  const std::string what = how == How::kWhole
                               ? "whole program"
                               : fmt::format("small instantiation ({})", extents.empty() ? "as it is" : extents);
  const std::string exercised_part =
      rows.empty() ? "" : fmt::format(", {} of {} decisions exercised", exercised(), rows.size());
  return fmt::format("{}{}: {}", what, exercised_part, found);
}

}  // namespace lowtide

namespace lowtide::engine {

std::string fit_text(const FitReport& report, bool utf8) {
  Lines lines;
  add_summary(report, lines);
  add_rewrites(report, lines);
  add_peak(report, lines);
  add_frontier(report, lines);
  add_certificate(report, lines);
  add_changes(report, lines);
  add_source(report, lines);
  std::string text;
  for (const std::string& line : lines) text += (utf8 ? line : to_ascii(line)) + "\n";
  return text;
}

}  // namespace lowtide::engine
