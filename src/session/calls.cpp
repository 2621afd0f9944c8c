#include "session/calls.h"

#include <thread>

namespace lowtide::engine {

void Calls::add(Context& call) {
  const std::lock_guard lock(mutex_);
  for (Block* block = &first_;; block = block->owned.get()) {
    for (std::atomic<Context*>& place : block->calls) {
      if (place.load() == nullptr) return place.store(&call);
    }
    if (block->owned) continue;
    block->owned = std::make_unique<Block>();
    block->next.store(block->owned.get());
  }
}

void Calls::remove(Context& call) {
  {
    const std::lock_guard lock(mutex_);
    [&] {
      for (Block* block = &first_; block != nullptr; block = block->owned.get()) {
        for (std::atomic<Context*>& place : block->calls) {
          if (place.load() == &call) return place.store(nullptr);
        }
      }
    }();
  }
  while (asking_.load() > 0) std::this_thread::yield();
}

void Calls::stop_all() noexcept {
  asking_.fetch_add(1);
  for (Block* block = &first_; block != nullptr; block = block->next.load()) {
    for (const std::atomic<Context*>& place : block->calls) {
      if (Context* const call = place.load()) call->stop().ask();
    }
  }
  asking_.fetch_sub(1);
}

}  // namespace lowtide::engine
