#include "report/text_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/sizes.h"
#include "report/columns.h"

namespace lowtide::engine {
namespace {

constexpr size_t kBytes = 9;      // "1023 MiB"
constexpr size_t kShare = 5;      // "100 %"
constexpr size_t kCategory = 20;  // "collective in flight"
constexpr size_t kIndent = kBytes + 1 + kShare + 2;
constexpr size_t kWidestValue = 34;

size_t shown(size_t rows, int64_t top) { return top == 0 ? rows : std::min(rows, static_cast<size_t>(top)); }

std::string shape_text(const PeakRow& row) {
  return row.count > 1 ? fmt::format("{} ×{}", row.shape, row.count) : row.shape;
}

// "mlp/wi_0 · linears.py:212"; if that is too wide, only the last scope, cut at its front if necessary.
std::string from_text(const Origin& origin, size_t width) {
  if (origin.source.empty()) return fit_end(origin.scope, width);
  if (origin.scope.empty()) return fit(origin.source, width);
  const size_t source = display_width(origin.source) + 3;
  if (source + 4 > width) return fit(origin.source, width);
  std::string_view scope = origin.scope;
  if (display_width(scope) + source > width) scope.remove_prefix(scope.rfind('/') + 1);
  return fit_end(scope, width - source) + " · " + origin.source;
}

// "state.params['mlp']['kernel']" without the punctuation of Python: "state.params.mlp.kernel".
std::string plain_path(const std::string& path) {
  std::string plain;
  for (const char c : path) {
    if (c == '[') plain += '.';
    if (c != '[' && c != ']' && c != '\'' && c != '"') plain += c;
  }
  return plain;
}

std::string fate_text(const ArgumentRow& row) {
  if (row.fate == Fate::kDonated && row.result >= 0) return fmt::format("donated to result {}", row.result);
  if (row.fate == Fate::kMustStay) return name_of(row.fate);
  return row.note.empty() ? name_of(row.fate) : std::string(name_of(row.fate)) + ": " + row.note;
}

void add_wrapped(const std::string& text, size_t indent, size_t hang, size_t width, Lines& lines) {
  size_t at = indent;
  for (const std::string& line : wrap(text, width - indent - hang)) {
    lines.push_back(std::string(at, ' ') + line);
    at = indent + hang;
  }
}

std::string cure_text(const Cure& cure) {
  if (cure.bytes <= 0) return (cure.in_source ? "planned: " : "") + cure.what;
  const std::string saved = fmt::format("planned: {}: -{}", cure.what, format_bytes(cure.bytes));
  if (cure.decision.empty()) return saved;
  return saved + fmt::format(", {:+.0f} % time (modelled)", 100 * cure.more_time);
}

std::string source_text(const SourceChange& change) {
  return fmt::format("in your source, under XLA: {}: {} -> {} (Lowtide's account by XLA's rules)", change.change,
                     format_bytes(change.peak_before), format_bytes(change.peak_after));
}

// Changes that are already printed, so that none is printed twice.
using Told = std::set<std::string>;

void add_reasons(const PeakRow& row, size_t indent, const TextOptions& options, Told& told, Lines& lines) {
  std::string why = row.value;
  if (row.count > 1) why += fmt::format(" and {} more", row.count - 1);
  if (!row.why_live.empty()) why += ": " + row.why_live;
  add_wrapped(why, indent, 2, options.width, lines);
  if (!row.in_free_plan.empty()) add_wrapped(row.in_free_plan, indent, 2, options.width, lines);
  for (const Cure& cure : row.cures) {
    add_wrapped(cure_text(cure), indent, 2, options.width, lines);
    if (!cure.in_source || !told.insert(cure.in_source->change).second) continue;
    add_wrapped(source_text(*cure.in_source), indent + 2, 2, options.width, lines);
  }
}

void add_rest(size_t all, size_t listed, int64_t bytes, const char* what, Lines& lines) {
  if (listed >= all) return;
  lines.push_back(fmt::format("{}        {} more {}", pad_left(format_bytes(bytes), kBytes), all - listed, what));
}

}  // namespace

std::string share_of(int64_t bytes, int64_t whole) {
  if (whole <= 0) return "";
  const double share = 100.0 * static_cast<double>(bytes) / static_cast<double>(whole);
  return share > 0 && share < 0.5 ? "<1 %" : fmt::format("{:.0f} %", share);
}

void add_peak_table(const std::vector<PeakRow>& rows, int64_t whole, const TextOptions& options, Lines& lines) {
  const size_t listed = shown(rows.size(), options.top);
  size_t value = 12;
  for (size_t r = 0; r < listed; ++r) value = std::max(value, display_width(shape_text(rows[r])));
  value = std::min(value, kWidestValue);
  const size_t from = options.width - kIndent - value - 2 - kCategory - 2;
  lines.push_back(fmt::format("{} {}  {}  {}  {}", pad_left("bytes", kBytes), pad_left("share", kShare),
                              pad_right("value", value), pad_right("from", from), "category"));
  Told told;
  int64_t rest = 0;
  for (size_t r = 0; r < rows.size(); ++r) {
    const PeakRow& row = rows[r];
    if (r >= listed) {
      rest += row.bytes;
      continue;
    }
    lines.push_back(fmt::format("{} {}  {}  {}  {}", pad_left(format_bytes(row.bytes), kBytes),
                                pad_left(share_of(row.bytes, whole), kShare), pad_right(shape_text(row), value),
                                pad_right(from_text(row.origin, from), from), name_of(row.category)));
    add_reasons(row, kIndent, options, told, lines);
  }
  add_rest(rows.size(), listed, rest, "rows", lines);
  int64_t sum = 0;
  for (const PeakRow& row : rows) sum += row.bytes;
  const int64_t gaps = whole - sum;
  if (gaps * 200 < whole) return;  // below half a percent
  lines.push_back(fmt::format("{} {}  {}", pad_left(format_bytes(gaps), kBytes),
                              pad_left(share_of(gaps, whole), kShare), "between buffers, lost to packing"));
}

void add_allocation_table(const std::vector<PeakRow>& rows, int64_t whole, const TextOptions& options, Lines& lines) {
  const size_t listed = shown(rows.size(), options.top);
  lines.push_back(fmt::format("{} {}  {}", pad_left("bytes", kBytes), pad_left("share", kShare),
                              "allocation · the values in it at the peak"));
  Told told;
  int64_t rest = 0;
  for (size_t r = 0; r < rows.size(); ++r) {
    const PeakRow& row = rows[r];
    if (r >= listed) {
      rest += row.bytes;
      continue;
    }
    std::string head = fmt::format("allocation {} · {}", row.allocation, row.kind);
    const auto live = static_cast<size_t>(
        std::count_if(row.contents.begin(), row.contents.end(), [](const PeakRow& held) { return held.live_at_peak; }));
    head +=
        fmt::format(" · {} value{}, {} at the peak", row.contents.size(), row.contents.size() == 1 ? "" : "s", live);
    lines.push_back(fmt::format("{} {}  {}", pad_left(format_bytes(row.bytes), kBytes),
                                pad_left(share_of(row.bytes, whole), kShare), fit(head, options.width - kIndent)));
    // An allocation that holds nothing at the peak is named after its largest value.
    const size_t named = live > 0 ? shown(live, options.top) : std::min<size_t>(1, row.contents.size());
    int64_t unnamed = 0;
    for (size_t v = 0; v < std::max(live, named); ++v) {
      const PeakRow& held = row.contents[v];
      if (v >= named) {
        unnamed += held.bytes;
        continue;
      }
      const size_t width = options.width - kIndent;
      const std::string bytes = row.contents.size() > 1 ? pad_left(format_bytes(held.bytes), kBytes) + "  " : "";
      const size_t shape = std::max<size_t>(16, display_width(held.shape));
      const size_t from = width - std::min(width, display_width(bytes) + shape + 4 + kCategory);
      lines.push_back(fmt::format("{}{}{}  {}  {}", std::string(kIndent, ' '), bytes, pad_right(held.shape, shape),
                                  pad_right(from_text(held.origin, from), from), name_of(held.category)));
      if (row.kind.find("parameter") == std::string::npos) {
        add_reasons(held, kIndent + display_width(bytes), options, told, lines);
      }
    }
    if (named < live) {
      lines.push_back(fmt::format("{}{}  {} more values", std::string(kIndent, ' '),
                                  pad_left(format_bytes(unnamed), kBytes), live - named));
    }
  }
  add_rest(rows.size(), listed, rest, "allocations", lines);
}

void add_operation_table(const Report& report, const TextOptions& options, Lines& lines) {
  const auto& rows = report.by_operation;
  const size_t listed = shown(rows.size(), options.top);
  size_t type = 16, names = 14;
  const auto names_of = [](const OperationRow& row) {
    std::string text = row.names.empty() ? "" : row.names[0];
    for (size_t n = 1; n < row.names.size() && text.size() < 40; ++n) text += ", " + row.names[n];
    return text;
  };
  for (size_t r = 0; r < listed; ++r) {
    type = std::max(type, display_width(rows[r].type));
    names = std::max(names, display_width(names_of(rows[r])));
  }
  type = std::min<size_t>(type, 26);
  names = std::min<size_t>(names, 24);
  const size_t framework = options.width - (type + 2 + kBytes + 1 + kShare + 1 + 6 + 2 + names + 2);
  lines.push_back(fmt::format("{}  {} {} {}  {}  {}", pad_right("By operation", type), pad_left("total", kBytes),
                              pad_left("share", kShare), pad_left("number", 6), pad_right("names", names),
                              "framework operation"));
  int64_t rest = 0, total = 0, count = 0, rest_count = 0;
  const auto add = [&](const std::string& name, int64_t bytes, int64_t number, const std::string& which,
                       const std::string& from) {
    std::string line = fmt::format("{}  {} {} {}  {}  {}", pad_right(name, type), pad_left(format_bytes(bytes), kBytes),
                                   pad_left(share_of(bytes, report.given.peak), kShare),
                                   pad_left(format_count(number), 6), pad_right(which, names), from);
    line.erase(line.find_last_not_of(' ') + 1);
    lines.push_back(std::move(line));
  };
  for (size_t r = 0; r < rows.size(); ++r) {
    total += rows[r].bytes;
    count += rows[r].count;
    if (r >= listed) {
      rest += rows[r].bytes;
      rest_count += rows[r].count;
      continue;
    }
    add(rows[r].type, rows[r].bytes, rows[r].count, names_of(rows[r]), fit_end(rows[r].framework_op, framework));
  }
  if (rest_count > 0) add("rest", rest, rest_count, "", "");
  add("TOTAL", total, count, "", "");
}

void add_argument_table(const Report& report, const TextOptions& options, Lines& lines) {
  const auto& rows = report.arguments;
  const size_t listed = shown(rows.size(), options.top);
  size_t shape = 10, path = 16, fate = 8;
  for (size_t r = 0; r < listed; ++r) {
    shape = std::max(shape, display_width(rows[r].shape));
    path = std::max(path, display_width(plain_path(rows[r].path)));
    fate = std::max(fate, display_width(fate_text(rows[r])));
  }
  shape = std::min<size_t>(shape, 26);
  fate = std::min<size_t>(fate, 46);
  path = std::min(path, options.width - kBytes - 2 - shape - 2 - fate - 2);
  lines.push_back(fmt::format("{}  {}  {}  {}", pad_left("bytes", kBytes), pad_right("argument", path),
                              pad_right("shape", shape), "donation"));
  int64_t rest = 0;
  for (size_t r = 0; r < rows.size(); ++r) {
    const ArgumentRow& row = rows[r];
    if (r >= listed) {
      rest += row.bytes;
      continue;
    }
    lines.push_back(fmt::format("{}  {}  {}  {}", pad_left(format_bytes(row.bytes), kBytes),
                                pad_right(fit_middle(plain_path(row.path), path), path), pad_right(row.shape, shape),
                                fit(fate_text(row), fate)));
  }
  add_rest(rows.size(), listed, rest, "arguments", lines);
}

}  // namespace lowtide::engine
