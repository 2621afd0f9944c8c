#pragma once
/// What ends the process from outside, or by accident: it says so, and leaves no half-written file.

namespace lowtide::command {

void handle_signals();
/// What a handler does of it, for whoever else ends the process.
void remove_files_in_hand() noexcept;

/// While one stands a first signal asks the session's calls to end with what they found, and only a second one ends the
/// process.
class KeepResults {
 public:
  KeepResults();
  ~KeepResults();
  KeepResults(const KeepResults&) = delete;
  KeepResults& operator=(const KeepResults&) = delete;
};
/// Did a signal ask for it?
bool was_interrupted() noexcept;

/// A file in a folder of its own, both of which must not outlive a signal; texts that live as long as the process, or
/// null: there is none any more.
void remove_with_signal(const char* file, const char* folder) noexcept;

}  // namespace lowtide::command
