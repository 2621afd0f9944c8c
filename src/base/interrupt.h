#pragma once
/// Stopping early when the user asks, with what was found so far.

#include "base/status.h"

namespace lowtide {

/// Of what was stopped: the exit code of the command is 130.
inline constexpr Fault kInterruptedFault = Fault{130};
Status interrupted();

/// Has a signal asked?
bool was_interrupted();
/// What a signal handler calls. False where nothing that runs would keep what it found, or it was asked before: then
/// the process may as well end.
bool ask_to_stop() noexcept;

/// While one stands a first signal asks to stop, and only a second one ends the process.
class KeepWhatIsFound {
 public:
  KeepWhatIsFound();
  ~KeepWhatIsFound();
  KeepWhatIsFound(const KeepWhatIsFound&) = delete;
  KeepWhatIsFound& operator=(const KeepWhatIsFound&) = delete;
};

/// Work that may be given up, with interrupted() as its fault. What stands outside of all of these is done to the end.
class Interruptible {
 public:
  Interruptible();
  ~Interruptible();
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;
};
/// Is such work to be given up now? Asked between passes and plans, from any thread.
bool should_stop();

}  // namespace lowtide
