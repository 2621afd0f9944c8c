#include "plan/csv.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>

namespace lowtide::engine {
namespace {

/// Sizes and their sum must be far below 2^63.
constexpr Bytes kMostBytes = int64_t{1} << 60;
constexpr Bytes kMostAlignment = int64_t{1} << 40;

std::string_view trim(std::string_view text) {
  const auto space = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (!text.empty() && space(text.front())) text.remove_prefix(1);
  while (!text.empty() && space(text.back())) text.remove_suffix(1);
  return text;
}

std::vector<std::string_view> split(std::string_view line, char separator) {
  std::vector<std::string_view> fields;
  for (size_t from = 0;;) {
    const size_t to = line.find(separator, from);
    fields.push_back(trim(line.substr(from, to == std::string_view::npos ? to : to - from)));
    if (to == std::string_view::npos) return fields;
    from = to + 1;
  }
}

std::optional<int64_t> to_number(std::string_view text) {
  int64_t number = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (fault != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return number;
}

/// Steps as written: any 64-bit numbers.
struct Span {
  int64_t begin = 0, end = 0;
};

/// The index of each column; -1 if it is absent.
struct Columns {
  int id = -1, lower = -1, upper = -1, size = -1, alignment = -1, gaps = -1, offset = -1;
  bool inclusive = false;  ///< `upper` is the last step alive
  size_t count = 0;
};

Result<Columns> read_header(std::string_view line) {
  Columns columns;
  const std::map<std::string_view, int Columns::*> known = {
      {"id", &Columns::id},       {"buffer", &Columns::id},     {"buffer_id", &Columns::id},
      {"lower", &Columns::lower}, {"begin", &Columns::lower},   {"start", &Columns::lower},
      {"upper", &Columns::upper}, {"end", &Columns::upper},     {"size", &Columns::size},
      {"gaps", &Columns::gaps},   {"offset", &Columns::offset}, {"alignment", &Columns::alignment}};
  const std::vector<std::string_view> names = split(line, ',');
  columns.count = names.size();
  for (size_t i = 0; i < names.size(); ++i) {
    const auto column = known.find(names[i]);
    if (column == known.end()) continue;
    int& place = columns.*(column->second);
    if (place >= 0) return Status::input("column '" + std::string(names[i]) + "' is there twice");
    place = static_cast<int>(i);
    if (names[i] == "end") columns.inclusive = true;
  }
  for (const auto& [name, place] : {std::pair{"id", columns.id}, std::pair{"lower", columns.lower},
                                    std::pair{"upper", columns.upper}, std::pair{"size", columns.size}}) {
    if (place < 0) return Status::input("no column '" + std::string(name) + "': expected id,lower,upper,size");
  }
  return columns;
}

/// The life without its gaps, written as "5-7 9-12".
Result<std::vector<Span>> without_gaps(Span life, std::string_view text) {
  std::vector<Span> alive;
  std::vector<Span> gaps;
  for (const std::string_view gap : split(text, ' ')) {
    if (gap.empty()) continue;
    const size_t dash = gap.find('-', 1);
    const auto begin = to_number(gap.substr(0, dash));
    const auto end = dash == std::string_view::npos ? std::nullopt : to_number(gap.substr(dash + 1));
    if (!begin || !end) return Status::input("expected a gap as 5-7, found '" + std::string(gap) + "'");
    if (*begin > *end || *begin < life.begin || *end > life.end) {
      return Status::input("gap " + std::string(gap) + " isn't within the life of the buffer");
    }
    gaps.push_back({*begin, *end});
  }
  std::sort(gaps.begin(), gaps.end(), [](const Span& a, const Span& b) { return a.begin < b.begin; });
  int64_t from = life.begin;
  for (const Span& gap : gaps) {
    if (from < gap.begin) alive.push_back({from, gap.begin});
    from = std::max(from, gap.end);
  }
  if (from < life.end) alive.push_back({from, life.end});
  return alive;
}

struct Row {
  std::string id;
  PackBuffer buffer;
  std::vector<Span> alive;
};

Result<Row> read_row(const Columns& columns, const std::vector<std::string_view>& fields) {
  if (fields.size() != columns.count) {
    return Status::input("expected " + std::to_string(columns.count) + " columns, found " +
                         std::to_string(fields.size()));
  }
  const auto number = [&](int column, const char* what, int64_t least, int64_t most) -> Result<int64_t> {
    const std::string_view text = fields[column];
    const std::optional<int64_t> value = to_number(text);
    if (!value)
      return Status::input(std::string("expected a number for ") + what + ", found '" + std::string(text) + "'");
    if (*value < least) return Status::input(std::string(what) + " " + std::string(text) + " is too small");
    if (*value > most) return Status::input(std::string(what) + " " + std::string(text) + " is too large");
    return *value;
  };
  constexpr int64_t kFar = int64_t{1} << 60;
  Row row;
  row.id = fields[columns.id];
  LT_ASSIGN_OR_RETURN(const int64_t lower, number(columns.lower, "lower", -kFar, kFar));
  LT_ASSIGN_OR_RETURN(int64_t upper, number(columns.upper, "upper", -kFar, kFar));
  upper += columns.inclusive ? 1 : 0;
  if (upper <= lower) return Status::input("buffer '" + row.id + "' dies before it is born");
  LT_ASSIGN_OR_RETURN(row.buffer.size, number(columns.size, "size", 0, kMostBytes));
  if (columns.alignment >= 0 && !fields[columns.alignment].empty()) {
    LT_ASSIGN_OR_RETURN(row.buffer.alignment, number(columns.alignment, "alignment", 1, kMostAlignment));
    if ((row.buffer.alignment & (row.buffer.alignment - 1)) != 0) {
      return Status::input("alignment " + std::to_string(row.buffer.alignment) + " is no power of two");
    }
  }
  const std::string_view gaps = columns.gaps < 0 ? std::string_view() : fields[columns.gaps];
  LT_ASSIGN_OR_RETURN(row.alive, without_gaps({lower, upper}, gaps));
  return row;
}

/// Counts steps from the first birth; if they don't fit in a Step even so, keeps only their order.
void set_lives(Problem& problem, const std::vector<std::vector<Span>>& alive) {
  std::vector<int64_t> moments;
  for (const auto& spans : alive) {
    for (const Span& span : spans) moments.insert(moments.end(), {span.begin, span.end});
  }
  if (moments.empty()) return;
  std::sort(moments.begin(), moments.end());
  moments.erase(std::unique(moments.begin(), moments.end()), moments.end());
  const bool fits = moments.back() - moments.front() < std::numeric_limits<Step>::max() / 2;
  const auto step = [&](int64_t moment) {
    if (fits) return static_cast<Step>(moment - moments.front());
    return static_cast<Step>(std::lower_bound(moments.begin(), moments.end(), moment) - moments.begin());
  };
  for (size_t b = 0; b < alive.size(); ++b) {
    for (const Span& span : alive[b]) problem.buffers[b].alive.push_back({step(span.begin), step(span.end)});
  }
}

/// The fields without the offset.
std::string kept(const Columns& columns, const std::vector<std::string_view>& fields) {
  std::string line;
  for (size_t i = 0; i < fields.size(); ++i) {
    if (static_cast<int>(i) == columns.offset) continue;
    line += (line.empty() ? "" : ",") + std::string(fields[i]);
  }
  return line;
}

}  // namespace

Result<BufferTable> parse_buffer_table(const std::string& name, std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  BufferTable table;
  Columns columns;
  std::vector<std::vector<Span>> alive;
  std::set<std::string> ids;
  Bytes sum = 0;
  int64_t number = 0;
  const auto fault = [&](const Status& status) {
    return Status::input(name + ":" + std::to_string(number) + ": " + status.message());
  };
  for (size_t from = 0; from < text.size();) {
    const size_t end = std::min(text.find('\n', from), text.size());
    const std::string_view line = trim(text.substr(from, end - from));
    from = end + 1;
    ++number;
    if (line.empty()) continue;
    const std::vector<std::string_view> fields = split(line, ',');
    if (columns.count == 0) {
      Result<Columns> header = read_header(line);
      if (!header.ok()) return fault(header.status());
      columns = *header;
      table.header = kept(columns, fields);
      continue;
    }
    Result<Row> row = read_row(columns, fields);
    if (!row.ok()) return fault(row.status());
    if (!ids.insert(row->id).second) return fault(Status::input("id '" + row->id + "' is there twice"));
    if (row->buffer.size > kMostBytes - sum) return fault(Status::input("the sizes add up to more than 2^60 bytes"));
    sum += row->buffer.size;
    table.problem.buffers.push_back(std::move(row->buffer));
    alive.push_back(std::move(row->alive));
    table.rows.push_back(kept(columns, fields));
  }
  if (columns.count == 0) return Status::input(name + ": the table is empty: expected id,lower,upper,size");
  set_lives(table.problem, alive);
  return table;
}

std::string print_buffer_table(const BufferTable& table, const Placement& placement) {
  std::string text = table.header + ",offset\n";
  for (size_t b = 0; b < table.rows.size(); ++b) {
    text += table.rows[b] + "," + std::to_string(placement.offsets[b]) + "\n";
  }
  return text;
}

}  // namespace lowtide::engine
