#pragma once
/// Signals and crashes: the process reports them and leaves no half-written file.

namespace lowtide::command {

void handle_signals();
/// Removes unfinished files; for handlers and other code that ends the process.
void remove_files_in_hand() noexcept;

/// While one exists, a first signal asks the session's calls to end with what they have found, and only a second one
/// ends the process.
class KeepResults {
 public:
  KeepResults();
  ~KeepResults();
  KeepResults(const KeepResults&) = delete;
  KeepResults& operator=(const KeepResults&) = delete;
};
/// Did a signal ask to end?
bool was_interrupted() noexcept;

/// Sets a file and its folder that a signal must remove, or null for none. The texts must live as long as the process.
void remove_with_signal(const char* file, const char* folder) noexcept;

}  // namespace lowtide::command
