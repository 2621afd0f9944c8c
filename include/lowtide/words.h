#pragma once
/// Sizes and words as users write and read them.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lowtide/error.h"
#include "lowtide/visibility.h"

namespace lowtide {

/// "8GiB", "8G" (= GiB), "8GB" (10^9), "1.5 MiB", "4096": bytes. Otherwise kUsage.
LOWTIDE_PUBLIC Result<int64_t> parse_size(std::string_view text);
/// Three significant digits in the largest fitting unit: "4.00 GiB", "640 MiB", "12.5 KiB", "96 B".
LOWTIDE_PUBLIC std::string format_bytes(int64_t bytes);
/// "4,294,967,296".
LOWTIDE_PUBLIC std::string format_count(int64_t count);
/// "; did you mean a, b or c?" of those of `known` that are close to `word`; empty if none is.
LOWTIDE_PUBLIC std::string did_you_mean(std::string_view word, const std::vector<std::string>& known);

}  // namespace lowtide
