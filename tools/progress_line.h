#pragma once
/// The line on a terminal that says how far the work is.

#include <memory>

namespace lowtide {

/// Draws it once the command has taken as long as Knobs::progress_after says, where stderr is a terminal, until this
/// ends. With NO_COLOR, or on a terminal that can't, without escape sequences.
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

/// Ends a line that stands there. Only calls what a signal handler may call.
void leave_progress_line() noexcept;

}  // namespace lowtide
