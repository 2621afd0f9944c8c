#include "text/dump/xla_report.h"

#include <algorithm>
#include <charconv>

namespace lowtide::engine {
namespace {

std::string_view trim(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

bool skip(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

/// Removes a decimal number from the front of the text.
bool take(std::string_view& text, int64_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return true;
}

template <class F>
void for_each_line(std::string_view text, F&& visit) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    visit(trim(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

/// Splits `while.140{0,1}` into the name and the index, if there is one.
bool split_position(std::string_view text, std::string& name, ShapeIndex& index) {
  const size_t brace = text.find('{');
  name = std::string(trim(text.substr(0, brace)));
  if (brace == std::string_view::npos) return !name.empty();
  text.remove_prefix(brace + 1);
  int64_t part = 0;
  while (take(text, part)) {
    index.push_back(part);
    skip(text, ",");
  }
  return !name.empty() && text.starts_with("}");
}

/// `allocation 3: size 75791876, color 1, parameter 0, shape |f32[8]| at ShapeIndex {}, maybe-live-out:`
bool read_allocation(std::string_view line, XlaReport::Allocation& allocation) {
  if (!skip(line, "allocation ") || !take(line, allocation.number)) return false;
  if (!skip(line, ": size ") || !take(line, allocation.bytes)) return false;
  const auto add = [&](std::string_view word) {
    if (!allocation.kind.empty()) allocation.kind += ", ";
    allocation.kind += word;
  };
  if (const size_t color = line.find(", color "); color != std::string_view::npos) {
    std::string_view number = line.substr(color + 8);
    take(number, allocation.color);
  }
  if (const size_t at = line.find(", parameter "); at != std::string_view::npos) {
    std::string_view number = line.substr(at + 12);
    if (int64_t parameter = 0; take(number, parameter)) add("parameter " + std::to_string(parameter));
  }
  for (const std::string_view word : {"constant", "thread-local", "maybe-live-out", "preallocated-temp"}) {
    const size_t at = line.find(word);
    if (at == std::string_view::npos || at < 2 || line.substr(at - 2, 2) != ", ") continue;
    const std::string_view after = line.substr(at + word.size());
    if (after.starts_with(":") || after.starts_with(",")) add(word);
  }
  return true;
}

/// `value: <2499 while.140{1} (phi) @0> (size=4,offset=69251328): s32[]`
bool read_value(std::string_view line, XlaReport::Value& value) {
  if (!skip(line, "value: <")) return false;
  int64_t id = 0;
  const size_t end = line.find("> (size=");
  if (!take(line, id) || end == std::string_view::npos) return false;
  const size_t name_end = line.find('>');
  std::string_view position = trim(line.substr(0, name_end));
  position = trim(position.substr(0, position.rfind(" @")));
  if (position.ends_with("(phi)")) position = trim(position.substr(0, position.size() - 5));
  if (!split_position(position, value.name, value.index)) return false;
  std::string_view rest = line.substr(line.find("> (size=") + 8);
  if (!take(rest, value.bytes) || !skip(rest, ",offset=") || !take(rest, value.offset) || !skip(rest, "):"))
    return false;
  value.shape = std::string(trim(rest));
  return true;
}

/// `  all-gather.1{}:11-14`
bool read_range(std::string_view line, XlaReport::LiveRange& range) {
  const size_t colon = line.rfind(':');
  if (colon == std::string_view::npos || !split_position(line.substr(0, colon), range.name, range.index)) return false;
  std::string_view numbers = line.substr(colon + 1);
  return take(numbers, range.born) && skip(numbers, "-") && take(numbers, range.dies) && numbers.empty();
}

}  // namespace

std::optional<ReportKind> report_kind(std::string_view head) {
  const std::string_view text = trim(head);
  if (text.starts_with("BufferAssignment:")) return ReportKind::kBufferAssignment;
  if (text.starts_with("HloLiveRange")) return ReportKind::kLiveRange;
  if (text.starts_with("Memory Space:") || text.starts_with("Total bytes:")) return ReportKind::kMemoryUsage;
  // Older reports. `*-buffer-assignment-values.txt` begins with the same line, but values follow instead.
  if (text.starts_with("Total bytes used:") && text.find("llocations") != std::string_view::npos)
    return ReportKind::kMemoryUsage;
  return std::nullopt;
}

std::optional<int64_t> total_bytes_of(std::string_view memory_usage) {
  std::optional<int64_t> total;
  bool main_memory = true;  // an old report names no memory space
  for_each_line(memory_usage, [&](std::string_view line) {
    if (total) return;
    if (line.starts_with("Memory Space:")) main_memory = line.find("(color=0)") != std::string_view::npos;
    if (!main_memory || (!skip(line, "Total bytes:") && !skip(line, "Total bytes used:"))) return;
    line = trim(line);
    if (int64_t bytes = 0; take(line, bytes)) total = bytes;
  });
  return total;
}

void read_memory_usage(std::string_view text, XlaReport& report) {
  if (const auto total = total_bytes_of(text)) report.total_bytes = total;
}

void read_buffer_assignment(std::string_view text, XlaReport& report) {
  for_each_line(text, [&](std::string_view line) {
    if (line.starts_with("allocation ")) {
      XlaReport::Allocation allocation;
      if (read_allocation(line, allocation)) report.allocations.push_back(std::move(allocation));
    } else if (XlaReport::Value value; !report.allocations.empty() && read_value(line, value)) {
      report.allocations.back().values.push_back(std::move(value));
    }
  });
}

void read_live_range(std::string_view text, XlaReport& report) {
  enum class Part { kNone, kSequence, kRanges } part = Part::kNone;
  for_each_line(text, [&](std::string_view line) {
    if (line == "InstructionSequence:") {
      part = Part::kSequence;
    } else if (line == "BufferLiveRange:") {
      part = Part::kRanges;
    } else if (skip(line, "Live ranges at ")) {
      part = Part::kNone;
      if (int64_t peak = 0; take(line, peak) && !report.peak_position) report.peak_position = peak;
    } else if (part == Part::kSequence) {
      int64_t position = 0;
      if (!take(line, position) || !skip(line, ":") || position != static_cast<int64_t>(report.sequence.size())) return;
      report.sequence.emplace_back(line);
    } else if (part == Part::kRanges) {
      if (XlaReport::LiveRange range; read_range(line, range)) report.live_ranges.push_back(std::move(range));
    }
  });
}

void read_report(ReportKind kind, std::string_view text, XlaReport& report) {
  switch (kind) {
    case ReportKind::kMemoryUsage: return read_memory_usage(text, report);
    case ReportKind::kBufferAssignment: return read_buffer_assignment(text, report);
    case ReportKind::kLiveRange: return read_live_range(text, report);
  }
}

std::optional<int64_t> allocated_bytes(const XlaReport& report) {
  if (report.allocations.empty()) return std::nullopt;
  uint64_t sum = 0;  // unsigned: wraps on nonsensical input instead of overflowing
  for (const auto& allocation : report.allocations) {
    if (allocation.color == 0) sum += static_cast<uint64_t>(allocation.bytes);
  }
  return static_cast<int64_t>(sum);
}

}  // namespace lowtide::engine
