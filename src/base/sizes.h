#pragma once
/// Byte counts as users write and read them.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"

namespace lowtide::engine {

/// "8GiB", "8G" (= GiB), "8GB" (10^9), "1.5 MiB", "4096": bytes. Errors: Fault::kUsage.
Result<int64_t> parse_size(std::string_view text);

/// Three significant digits in the largest fitting unit: "4.00 GiB", "640 MiB", "12.5 KiB", "96 B".
std::string format_bytes(int64_t bytes);

/// "4,294,967,296".
std::string format_count(int64_t count);

}  // namespace lowtide::engine
