#pragma once
/// Threads that wait for work: one pool in a session.

#include <cstdint>
#include <functional>
#include <memory>

namespace lowtide::engine {

class ThreadPool {
 public:
  /// `threads` counts the caller; 0: one per processor that the process may use.
  /// They are started by the first run() that can use them.
  explicit ThreadPool(int threads = 0);
  ~ThreadPool();
  int threads() const;
  /// Calls task(i, thread) for every i in [0, tasks) and returns when all are done; 0 <= thread < threads(). Which
  /// thread runs which task is not fixed: what a task does must not depend on it. Called from inside a task, it runs
  /// all of them in the calling thread. What a task throws is thrown here, and tasks not begun are left out; where the
  /// system has no more threads, those that there are do the work. Of several callers at once one has the
  /// threads, and the others do their work alone. most: threads that take part, no more. Tasks treat denormals as the
  /// caller does.
  void run(int64_t tasks, const std::function<void(int64_t task, int thread)>& task, int most = kAllThreads);

  static constexpr int kAllThreads = 1 << 30;

  /// Nanoseconds since they began to be counted: of callers that had the threads, and of all threads that did tasks.
  struct Use {
    int64_t joint = 0, busy = 0;
  };
  void count_use(bool counts);
  Use use() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The processors that this process may use, not those that the machine has.
int usable_processors();

}  // namespace lowtide::engine
