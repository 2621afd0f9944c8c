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
  /// Calls task(i, thread) for every i in [0, tasks) and returns when all are done; 0 <= thread < threads(). The
  /// assignment of tasks to threads isn't fixed: no task may depend on it. Called from inside a task, it runs all tasks
  /// in the calling thread. An exception from a task is rethrown here, and tasks not begun are skipped; if the system
  /// has no more threads, the existing ones do the work. Of several concurrent callers one gets the threads, and the
  /// others do their work alone. most: the largest number of threads that take part. Tasks treat denormals as the
  /// caller does.
  void run(int64_t tasks, const std::function<void(int64_t task, int thread)>& task, int most = kAllThreads);

  static constexpr int kAllThreads = 1 << 30;

  /// Nanoseconds since counting began: of callers that had the threads, and of all threads while they ran tasks.
  struct Use {
    int64_t joint = 0, busy = 0;
  };
  void count_use(bool counts);
  Use use() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The number of processors that this process may use, not that of the machine.
int usable_processors();

}  // namespace lowtide::engine
