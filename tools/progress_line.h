#pragma once
/// The line on a terminal that says how far the work is.

#include "lowtide/options.h"

namespace lowtide::command {

/// Draws it once the command has taken as long as LOWTIDE_PROGRESS says, where stderr is a terminal. With NO_COLOR, or
/// on a terminal that can't, without escape sequences.
void draw_progress(Options& options);

/// Takes the line off the screen, before something else is written to a terminal.
void erase_progress_line();

/// Ends a line that stands there. Only calls what a signal handler may call.
void leave_progress_line() noexcept;

}  // namespace lowtide::command
