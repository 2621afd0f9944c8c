#pragma once
/// A thread that runs its work in order.

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace lowtide::pjrt {

class Worker {
 public:
  /// Work to do, or to abandon if the worker ends before.
  using Work = std::function<void(bool given_up)>;
  enum class AtTheEnd : bool { kGiveUp, kDoAll };

  /// most_waiting: add() blocks while this much is queued. news: a worker that makes the calls of happenings on this
  /// one (Happening::happen).
  Worker(size_t most_waiting, AtTheEnd at_the_end, Worker* news = nullptr)
      : most_waiting_(most_waiting), at_the_end_(at_the_end), news_(news) {}
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// Queues work after everything added before. The first call starts the thread; if that fails, the caller does the
  /// work.
  void add(Work work);
  enum class Busy { kNot, kWithMine, kWithOthers };
  /// Whether it is busy with work that this thread added, or only with that of other threads.
  Busy busy() const;
  /// The worker that makes the calls of happenings on this thread; null if the thread itself does.
  static Worker* news_of_this_thread();

 private:
  struct Item {
    Work work;
    std::thread::id of;  ///< the thread that added it
  };
  void work_until_end();
  bool start();

  const size_t most_waiting_;
  const AtTheEnd at_the_end_;
  Worker* const news_;
  mutable std::mutex mutex_;
  std::condition_variable added_, begun_;
  std::deque<Item> waiting_;
  std::thread::id working_for_;  ///< none: idle
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace lowtide::pjrt
