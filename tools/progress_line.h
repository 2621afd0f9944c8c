#pragma once
/// The line on a terminal that says how far the work is.

#include <memory>
#include <string>
#include <string_view>

#include "base/status.h"

namespace lowtide::engine {

/// Draws it once the command has taken as long as progress_after() says, where stderr is a terminal, until this ends.
/// With NO_COLOR, or on a terminal that can't, without escape sequences.
class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Takes the line off the screen, before something else is written to a terminal.
void erase_progress_line();
/// The text on stdout, and the content of a file or, for "-", of stdout (base/files.h).
Status print_stdout(std::string_view text);
Status write_output(const std::string& path, std::string_view content);

/// Ends a line that stands there. Only calls what a signal handler may call.
void leave_progress_line() noexcept;

}  // namespace lowtide::engine
