#pragma once
/// Signals and crashes: the process reports them and leaves no half-written file.

namespace lowtide::command {

void handle_signals();
/// The part of a handler that other code that ends the process needs, too.
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
/// Did a signal ask for it?
bool was_interrupted() noexcept;

/// A file in a folder of its own, both of which must not outlive a signal; the texts must live as long as the process;
/// null: there is none any more.
void remove_with_signal(const char* file, const char* folder) noexcept;

}  // namespace lowtide::command
