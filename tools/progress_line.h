#pragma once
/// The progress line on a terminal.

#include "lowtide/options.h"

namespace lowtide::command {

/// Draws it once the command has taken LOWTIDE_PROGRESS seconds, if stderr is a terminal. With NO_COLOR, or
/// on a terminal without them, uses no escape sequences.
void draw_progress(Options& options);

/// Erases the line before something else is written to a terminal.
void erase_progress_line();

/// Ends a visible line. Async-signal-safe.
void leave_progress_line() noexcept;

}  // namespace lowtide::command
