#pragma once
/// XLA's own account of a module's memory: three text files that it writes next to the scheduled program.

#include <optional>
#include <string_view>

#include "text/input.h"

namespace lowtide::engine {

enum class ReportKind : uint8_t { kMemoryUsage, kBufferAssignment, kLiveRange };

/// The kind of a report, by its first line, as users may rename the files.
std::optional<ReportKind> report_kind(std::string_view head);

/// Adds a report's text to `report`. Lines of an unknown form are skipped, as XLA may change the format.
void read_memory_usage(std::string_view text, XlaReport& report);
void read_buffer_assignment(std::string_view text, XlaReport& report);
void read_live_range(std::string_view text, XlaReport& report);
void read_report(ReportKind kind, std::string_view text, XlaReport& report);

/// The total of a memory-usage report, read from its beginning alone.
std::optional<int64_t> total_bytes_of(std::string_view memory_usage);

/// Bytes of all allocations in the device's main memory: XLA's total, if no memory-usage report states it.
std::optional<int64_t> allocated_bytes(const XlaReport& report);

}  // namespace lowtide::engine
