#pragma once
/// Gzip, as dumps are often kept.

#include <string>
#include <string_view>

#include "base/status.h"

namespace lowtide::engine {

/// Whether the bytes begin with gzip's magic number.
bool is_gzip(std::string_view bytes);

/// All members of a gzip file, unpacked. Faults: damaged or truncated data, more than `limit` bytes, or a ratio that no
/// text of a program reaches (a few kilobytes must not fill the memory).
Result<std::string> gunzip(std::string_view bytes, size_t limit);

/// At most the first `count` bytes of the unpacked data; less where it is damaged.
std::string gunzip_head(std::string_view bytes, size_t count);

}  // namespace lowtide::engine
