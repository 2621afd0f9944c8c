#pragma once
/// Stopping early when the user asks, with what was found so far.

#include <atomic>

#include "base/status.h"

namespace lowtide::engine {

/// Of what was stopped: the exit code of the command is 130.
inline constexpr Fault kInterruptedFault = Fault{130};
Status interrupted();

/// One of a context; may be asked from any thread, and in a signal handler.
class StopRequest {
 public:
  /// False where nothing that runs would keep what it found, or it was asked before: then a process may as well end.
  bool ask() noexcept { return keeping_.load() > 0 && !asked_.exchange(true); }
  bool was_asked() const noexcept { return asked_.load(std::memory_order_relaxed); }
  /// Asked, and in the midst of work that may be given up.
  bool should_stop() const noexcept { return was_asked() && interruptible_.load(std::memory_order_relaxed) > 0; }

 private:
  friend class KeepWhatIsFound;
  friend class Interruptible;
  std::atomic<bool> asked_{false};
  std::atomic<int> keeping_{0}, interruptible_{0};
  static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free);
};

/// While one stands a first signal asks to stop, and only a second one ends the process.
class KeepWhatIsFound {
 public:
  explicit KeepWhatIsFound(StopRequest& stop) : stop_(stop) { ++stop_.keeping_; }
  ~KeepWhatIsFound() { --stop_.keeping_; }
  KeepWhatIsFound(const KeepWhatIsFound&) = delete;
  KeepWhatIsFound& operator=(const KeepWhatIsFound&) = delete;

 private:
  StopRequest& stop_;
};

/// Work that may be given up, with interrupted() as its fault. What stands outside of all of these is done to the end.
class Interruptible {
 public:
  explicit Interruptible(StopRequest& stop) : stop_(stop) { ++stop_.interruptible_; }
  ~Interruptible() { --stop_.interruptible_; }
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;

 private:
  StopRequest& stop_;
};

}  // namespace lowtide::engine
