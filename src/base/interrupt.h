#pragma once
/// Stopping early on the user's request, with the results so far.

#include <atomic>

#include "base/status.h"

namespace lowtide::engine {

/// The fault of stopped work: the exit code of the command is 130.
inline constexpr Fault kInterruptedFault = Fault{130};
Status interrupted();

/// One per context; may be used from any thread, and in a signal handler.
class StopRequest {
 public:
  /// Requests a stop. False if nothing that runs would keep its results, or a stop was requested before: then the
  /// process may as well end.
  bool ask() noexcept { return keeping_.load() > 0 && !asked_.exchange(true); }
  bool was_asked() const noexcept { return asked_.load(std::memory_order_relaxed); }
  /// Was a stop requested, and may the current work be abandoned?
  bool should_stop() const noexcept { return was_asked() && interruptible_.load(std::memory_order_relaxed) > 0; }

 private:
  friend class KeepWhatIsFound;
  friend class Interruptible;
  std::atomic<bool> asked_{false};
  std::atomic<int> keeping_{0}, interruptible_{0};
  static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free);
};

/// While such an object exists, the first signal requests a stop, and only a second one ends the process.
class KeepWhatIsFound {
 public:
  explicit KeepWhatIsFound(StopRequest& stop) : stop_(stop) { ++stop_.keeping_; }
  ~KeepWhatIsFound() { --stop_.keeping_; }
  KeepWhatIsFound(const KeepWhatIsFound&) = delete;
  KeepWhatIsFound& operator=(const KeepWhatIsFound&) = delete;

 private:
  StopRequest& stop_;
};

/// The scope of work that may be abandoned, with interrupted() as its fault. Work outside of such scopes is completed.
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
