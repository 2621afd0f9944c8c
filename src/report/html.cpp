#include "report/html.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/sizes.h"

namespace lowtide::engine {
namespace {

constexpr double kPictureWidth = 1120, kHeight = 520;  // of the picture
constexpr size_t kBoxesDrawn = 6000;                   // the largest; a browser stays quick
constexpr std::array<const char*, 9> kColours = {"#7f8c9b", "#a9b4c0", "#d98c3f", "#3f7fd9", "#b04fc2",
                                                 "#c94f4f", "#5f5f5f", "#4fae6d", "#6fb6c9"};

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '<': result += "&lt;"; break;
      case '>': result += "&gt;"; break;
      case '&': result += "&amp;"; break;
      case '"': result += "&quot;"; break;
      default: result += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return result;
}

std::string picture(const Report& report) {
  std::vector<const TimelineBox*> boxes;
  int64_t height = report.given.peak;
  Step last = 1;
  for (const TimelineBox& box : report.boxes) {
    boxes.push_back(&box);
    height = std::max(height, box.offset + box.bytes);
    last = std::max(last, box.dies);
  }
  std::stable_sort(boxes.begin(), boxes.end(),
                   [](const TimelineBox* a, const TimelineBox* b) { return a->bytes > b->bytes; });
  if (boxes.size() > kBoxesDrawn) boxes.resize(kBoxesDrawn);
  const double per_step = kPictureWidth / static_cast<double>(last);
  const double per_byte = height > 0 ? kHeight / static_cast<double>(height) : 0;

  std::string svg = fmt::format("<svg viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\">\n", kPictureWidth, kHeight + 24);
  for (const TimelineBox* box : boxes) {
    const double x = static_cast<double>(box->born) * per_step;
    const double w = std::max(0.5, static_cast<double>(box->dies - box->born) * per_step);
    const double h = std::max(0.25, static_cast<double>(box->bytes) * per_byte);
    const double y = kHeight - static_cast<double>(box->offset) * per_byte - h;
    svg += fmt::format(
        "<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" fill=\"{}\"><title>{}\n{} · {}\n{}\nsteps "
        "{} "
        "to {}</title></rect>\n",
        x, y, w, h, kColours[static_cast<size_t>(box->category)], escaped(box->label), format_bytes(box->bytes),
        name_of(box->category), escaped(box->detail), box->born, box->dies);
  }
  const double peak_x = (static_cast<double>(report.curve.peak_step) + 0.5) * per_step;
  svg += fmt::format("<line x1=\"{0:.2f}\" x2=\"{0:.2f}\" y1=\"0\" y2=\"{1:.0f}\" class=\"peak\"/>\n", peak_x, kHeight);
  for (const Phase& phase : report.curve.phases) {
    const double middle = static_cast<double>(phase.begin + phase.end) / 2 * per_step;
    if (static_cast<double>(phase.end - phase.begin) * per_step < 7.0 * static_cast<double>(phase.name.size()))
      continue;
    svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.0f}\">{}</text>\n", middle, kHeight + 17, escaped(phase.name));
  }
  return svg + "</svg>\n";
}

std::string legend() {
  std::string html = "<p>";
  for (size_t c = 0; c < kColours.size(); ++c) {
    html += fmt::format("<span style=\"background:{}\"></span>{} ", kColours[c], name_of(static_cast<Category>(c)));
  }
  return html + "</p>\n";
}

std::string peak_table(const std::vector<PeakRow>& rows) {
  std::string html =
      "<table><tr><th>bytes<th>value<th>from<th>category<th>live because<th>what frees it, as "
      "planned<th>in your source, under XLA (Lowtide's account by its rules)</tr>\n";
  for (const PeakRow& row : rows) {
    std::string cures = escaped(row.in_free_plan), changes;
    for (const Cure& cure : row.cures) {
      cures += (cures.empty() ? "" : "<br>") + escaped(cure.what);
      if (cure.bytes > 0) cures += ": -" + format_bytes(cure.bytes);
      if (!cure.in_source) continue;
      changes += (changes.empty() ? "" : "<br>") + escaped(cure.in_source->change) + ": " +
                 format_bytes(cure.in_source->peak_before) + " -> " + format_bytes(cure.in_source->peak_after);
    }
    const std::string count = row.count > 1 ? fmt::format(" ×{}", row.count) : "";
    html += fmt::format(
        "<tr><td class=n title=\"{} bytes\">{}<td title=\"{}\">{}{}<td "
        "title=\"{}\">{}<br>{}<td>{}<td>{}<td>{}<td>{}</tr>\n",
        format_count(row.bytes), format_bytes(row.bytes), escaped(row.value), escaped(row.shape), count,
        escaped(row.origin.op_name), escaped(row.origin.scope), escaped(row.origin.source), name_of(row.category),
        escaped(row.why_live), cures, changes);
  }
  return html + "</table>\n";
}

std::string operation_table(const Report& report) {
  std::string html = "<table><tr><th>operation type<th>total<th>number<th>names<th>framework operation</tr>\n";
  for (const OperationRow& row : report.by_operation) {
    std::string names;
    for (const std::string& name : row.names) names += (names.empty() ? "" : ", ") + name;
    html += fmt::format("<tr><td>{}<td class=n>{}<td class=n>{}<td class=w>{}<td>{}</tr>\n", escaped(row.type),
                        format_bytes(row.bytes), row.count, escaped(names), escaped(row.framework_op));
  }
  return html + "</table>\n";
}

std::string argument_table(const Report& report) {
  std::string html = "<table><tr><th>argument<th>bytes<th>shape<th>category<th>donation</tr>\n";
  for (const ArgumentRow& row : report.arguments) {
    html += fmt::format("<tr><td>{}<td class=n>{}<td>{}<td>{}<td>{}{}{}</tr>\n", escaped(row.path),
                        format_bytes(row.bytes), escaped(row.shape), name_of(row.category), name_of(row.fate),
                        row.note.empty() ? "" : ": ", escaped(row.note));
  }
  return html + "</table>\n";
}

constexpr const char* kStyle = R"(
body{font:14px/1.45 system-ui,sans-serif;margin:2em auto;max-width:1200px;padding:0 1em;color:#1d2733}
h1{font-size:1.3em}h2{font-size:1.05em;margin-top:1.6em}
svg{width:100%;background:#f4f6f8}rect{stroke:#fff;stroke-width:.3}rect:hover{stroke:#000;stroke-width:1}
.peak{stroke:#c00;stroke-dasharray:4 3}text{font-size:12px;text-anchor:middle;fill:#445}
p span{display:inline-block;width:.8em;height:.8em;margin:0 .3em 0 .9em}
table{border-collapse:collapse;width:100%;font-size:13px}th{text-align:left;border-bottom:1px solid #889}
td{border-bottom:1px solid #e3e7eb;padding:.25em .8em .25em 0;vertical-align:top;overflow-wrap:anywhere}
.n{white-space:nowrap;text-align:right}.w{max-width:28em}
@media(prefers-color-scheme:dark){body{background:#14191f;color:#d6dde5}svg{background:#1d242c}rect{stroke:#14191f}
text{fill:#aab}td{border-color:#2b343e}rect:hover{stroke:#fff}}
)";

}  // namespace

std::string to_html(const Report& report) {
  std::string html = fmt::format(
      "<!doctype html>\n<html lang=\"en\"><meta "
      "charset=\"utf-8\"><title>{0}</title>\n<style>{1}</style>\n<h1>{0}</h1>\n",
      escaped(report.module), kStyle);
  html += fmt::format("<p>{} instructions{}{} · arguments {} · results {} · peak {}", format_count(report.instructions),
                      report.platform.empty() ? "" : " · ", report.platform, format_bytes(report.given.arguments),
                      format_bytes(report.given.outputs), format_bytes(report.given.peak));
  if (report.xla_peak) html += fmt::format(" (XLA: {})", format_bytes(*report.xla_peak));
  html += fmt::format(" · no order below {} · no executor below {}</p>\n", format_bytes(report.floor_order.bytes),
                      format_bytes(report.floor_any.bytes));
  for (const std::string& warning : report.warnings) html += "<p>Warning: " + escaped(warning) + "</p>\n";
  html += "<h2>Memory over time</h2>\n" + picture(report) + legend();
  html += "<h2>At the peak</h2>\n" + peak_table(report.input_at_peak);
  html += "<h2>By operation, at the peak</h2>\n" + operation_table(report);
  html += "<h2>Arguments</h2>\n" + argument_table(report);
  return html + "</html>\n";
}

}  // namespace lowtide::engine
