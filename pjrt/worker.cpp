#include "worker.h"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <system_error>

namespace lowtide::pjrt {
namespace {

thread_local Worker* t_news = nullptr;

}  // namespace

Worker* Worker::news_of_this_thread() { return t_news; }

Worker::~Worker() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  added_.notify_all();
  if (thread_.joinable()) thread_.join();
}

/// Called with the lock held. Blocks signals in the new thread, so that the host's threads get them.
bool Worker::start() {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    thread_ = std::thread([this] { work_until_end(); });
  } catch (const std::system_error&) {  // no thread can be started
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread_.joinable();
}

void Worker::add(Work work) {
  std::unique_lock lock(mutex_);
  if (!thread_.joinable() && !start()) {
    lock.unlock();
    return work(false);
  }
  begun_.wait(lock, [&] { return waiting_.size() < most_waiting_; });
  waiting_.push_back({std::move(work), std::this_thread::get_id()});
  lock.unlock();
  added_.notify_one();
}

Worker::Busy Worker::busy() const {
  const std::thread::id me = std::this_thread::get_id();
  const std::lock_guard lock(mutex_);
  if (working_for_ == std::thread::id() && waiting_.empty()) return Busy::kNot;
  const bool mine =
      working_for_ == me || std::ranges::any_of(waiting_, [&](const Item& item) { return item.of == me; });
  return mine ? Busy::kWithMine : Busy::kWithOthers;
}

void Worker::work_until_end() {
  t_news = news_;
  std::unique_lock lock(mutex_);
  while (true) {
    added_.wait(lock, [&] { return ends_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    Item item = std::move(waiting_.front());
    waiting_.pop_front();
    working_for_ = item.of;
    const bool given_up = ends_ && at_the_end_ == AtTheEnd::kGiveUp;
    lock.unlock();
    begun_.notify_one();
    item.work(given_up);
    item = {};  // releases what it held without the lock
    lock.lock();
    working_for_ = {};
  }
}

}  // namespace lowtide::pjrt
