#pragma once
/// Files written whole or not at all.

#include <string>
#include <string_view>

#include "base/status.h"

namespace lowtide {

/// Writes `content` beside `path` and renames it into place; `-` is stdout. A fault leaves nothing behind.
Status write_file(const std::string& path, std::string_view content);

/// Writes to stdout and flushes. A reader that has gone away is no fault.
Status write_stdout(std::string_view content);

/// Removes the file that write_file is in the middle of. Only calls what a signal handler may call.
void remove_unfinished_file() noexcept;

}  // namespace lowtide
