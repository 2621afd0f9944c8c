#pragma once
/// The one thread pool of the process.

#include <cstdint>
#include <functional>
#include <memory>

namespace lowtide {

class ThreadPool {
 public:
  /// `threads` counts the caller; 0: LOWTIDE_THREADS, else one per processor that the process may use.
  /// They are started by the first run() that can use them.
  explicit ThreadPool(int threads = 0);
  ~ThreadPool();
  int threads() const;
  /// Calls task(i, thread) for every i in [0, tasks) and returns when all are done; 0 <= thread < threads(). Which
  /// thread runs which task is not fixed: what a task does must not depend on it. Called from inside a task, it runs
  /// all of them in the calling thread. What a task throws is thrown here, and tasks not begun are left out; where the
  /// system has no more threads, those that there are do the work.
  void run(int64_t tasks, const std::function<void(int64_t task, int thread)>& task);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace lowtide
