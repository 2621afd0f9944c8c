#pragma once
/// Events: a run is complete, an array is available, a buffer no longer uses the host's memory.

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "error.h"

namespace lowtide::pjrt {

/// Something that happens once; callbacks are called without a lock held. A thread that runs programs leaves the calls
/// to another one (Worker::news_of_this_thread), since hosts take their own locks in them.
class Happening {
 public:
  void happen(std::optional<Fault> fault = {});
  bool has_happened() const;
  /// Why it went wrong; only if it has happened.
  std::optional<Fault> fault() const;
  void wait_for() const;
  /// Its error, a new object each time; null if there was none.
  PJRT_Error* wait() const;
  PJRT_Error* error() const;
  void when_happened(PJRT_OnReady callback, void* user_arg);

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  bool happened_ = false;
  std::optional<Fault> fault_;
  std::vector<std::pair<PJRT_OnReady, void*>> waiting_;
};

}  // namespace lowtide::pjrt

struct PJRT_Event {
  void* functions = nullptr;
  std::shared_ptr<lowtide::pjrt::Happening> of;  ///< null if it has happened without an error
};

namespace lowtide::pjrt {

inline PJRT_Event* ready_event() { return new PJRT_Event; }
inline PJRT_Event* event_of(std::shared_ptr<Happening> of) { return new PJRT_Event{.of = std::move(of)}; }
PJRT_Event* failed_event(PJRT_Error_Code code, std::string message);

}  // namespace lowtide::pjrt
