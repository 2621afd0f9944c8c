#pragma once
/// Unpacks gzip files, in which dumps are often stored.

#include <string>
#include <string_view>

#include "base/status.h"

namespace lowtide::engine {

/// Whether the bytes begin with gzip's magic number.
bool is_gzip(std::string_view bytes);

/// All members of a gzip file, unpacked. Errors: damaged or truncated data, more than `limit` bytes, or a compression
/// ratio that no program's text reaches (a few kilobytes must not fill the memory).
Result<std::string> gunzip(std::string_view bytes, size_t limit);

/// At most the first `count` bytes of the unpacked data; fewer if it is damaged.
std::string gunzip_head(std::string_view bytes, size_t count);

}  // namespace lowtide::engine
