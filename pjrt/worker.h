#pragma once
/// A thread that does one thing after another.

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace lowtide::pjrt {

class Worker {
 public:
  /// Something to do, or, where the worker ends before, to give up.
  using Work = std::function<void(bool given_up)>;
  enum class AtTheEnd : bool { kGiveUp, kDoAll };

  /// most_waiting: whoever adds more waits until something was begun. news: a worker that does what happenings on this
  /// one call for (Happening::happen).
  Worker(size_t most_waiting, AtTheEnd at_the_end, Worker* news = nullptr)
      : most_waiting_(most_waiting), at_the_end_(at_the_end), news_(news) {}
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// Behind all that was added before. The thread is started by the first; where there is none, the caller does it.
  void add(Work work);
  enum class Busy { kNot, kWithMine, kWithOthers };
  /// With work that this thread added, or only with that of other threads.
  Busy busy() const;
  /// Who does what happenings on this thread call for; null: the thread itself.
  static Worker* news_of_this_thread();

 private:
  struct Item {
    Work work;
    std::thread::id of;  ///< who added it
  };
  void work_until_end();
  bool start();

  const size_t most_waiting_;
  const AtTheEnd at_the_end_;
  Worker* const news_;
  mutable std::mutex mutex_;
  std::condition_variable added_, begun_;
  std::deque<Item> waiting_;
  std::thread::id working_for_;  ///< none: it waits
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace lowtide::pjrt
