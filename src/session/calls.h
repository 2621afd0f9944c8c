#pragma once
/// The calls of a session in progress, in a form that a signal handler can traverse.

#include <array>
#include <atomic>
#include <memory>
#include <mutex>

#include "base/context.h"

namespace lowtide::engine {

class Calls {
 public:
  Calls() = default;
  Calls(const Calls&) = delete;
  Calls& operator=(const Calls&) = delete;

  void add(Context& call);
  /// When this returns, it is no longer accessed.
  void remove(Context& call);
  /// Asks all of them to stop. May be called from any thread and from a signal handler: it neither blocks nor
  /// allocates.
  void stop_all() noexcept;

 private:
  /// Slots that are never freed, so that they can be traversed without a lock.
  struct Block {
    std::array<std::atomic<Context*>, 16> calls{};
    std::atomic<Block*> next{nullptr};
    std::unique_ptr<Block> owned;  ///< the next one
  };
  std::mutex mutex_;  ///< held by add() and remove()
  Block first_;
  std::atomic<int> asking_{0};
};

}  // namespace lowtide::engine
