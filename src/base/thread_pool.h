#pragma once
/// The one thread pool of the process.

#include <cstdint>
#include <functional>
#include <memory>

namespace lowtide {

class ThreadPool {
 public:
  /// `threads` counts the caller; 0: as many as the machine has.
  explicit ThreadPool(int threads = 0);
  ~ThreadPool();
  int threads() const;
  /// Calls task(i, thread) for every i in [0, tasks) and returns when all are done; 0 <= thread < threads(). Which
  /// thread runs which task is not fixed: what a task does must not depend on it.
  void run(int64_t tasks, const std::function<void(int64_t task, int thread)>& task);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace lowtide
