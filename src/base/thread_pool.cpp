#include "base/thread_pool.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/denormals.h"

namespace lowtide::engine {
namespace {

/// Spins before a thread sleeps. A sleeping thread takes 5 to 50 microseconds to wake up, in a virtual machine 200 and
/// more, and streams are loops of short steps: spin some hundred microseconds if each thread has a processor, else
/// about ten.
constexpr int kSpins = 4000, kSpinsWhereCrowded = 200;

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  std::this_thread::yield();
#endif
}

/// The pool whose task this thread is running, and the thread's number in it.
thread_local const void* current_pool = nullptr;
thread_local int current_thread = 0;

// A job's state in one word: an open flag, and the number of threads inside. Threads may enter only while the door is
// open, so that a thread that wakes up late finds it closed and never sees the next job half-written; nothing waits for
// threads that didn't enter.
constexpr uint32_t kOpen = uint32_t{1} << 16;
constexpr uint32_t inside(uint32_t door) { return door & (kOpen - 1); }

}  // namespace

struct ThreadPool::State {
  int threads = 1, spins = kSpins;
  std::mutex callers;  ///< one job at a time; other callers meanwhile do theirs alone
  std::vector<std::thread> workers;
  std::atomic<uint32_t> jobs{0};  ///< the number of jobs so far; idle threads wait on it
  std::atomic<uint32_t> door{0};
  std::atomic<bool> stop{false};
  const std::function<void(int64_t, int)>* task = nullptr;
  int64_t tasks = 0;
  Denormals denormals = Denormals::kKept;  ///< as in the caller of this job
  int most = ThreadPool::kAllThreads;      ///< threads that take part in this job
  std::atomic<int64_t> next{0};
  std::atomic<bool> counts_use{false};
  std::atomic<int64_t> joint_ns{0}, busy_ns{0};
  std::mutex thrown_mutex;
  std::exception_ptr thrown;  ///< the first exception of a task

  void take_part(int thread) {
    const void* const outer_pool = std::exchange(current_pool, this);
    const int outer_thread = std::exchange(current_thread, thread);
    const DenormalsScope as_the_caller(denormals);
    const int64_t began = counts_use.load(std::memory_order_relaxed) ? now_ns() : 0;
    try {
      for (int64_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < tasks;) (*task)(i, thread);
    } catch (...) {  // rethrown by the caller; no further task begins
      next.store(tasks, std::memory_order_relaxed);
      const std::lock_guard<std::mutex> lock(thrown_mutex);
      if (!thrown) thrown = std::current_exception();
    }
    if (began != 0) busy_ns.fetch_add(now_ns() - began, std::memory_order_relaxed);
    current_pool = outer_pool;
    current_thread = outer_thread;
  }

  void work(int thread) {
    for (uint32_t seen = 0;;) {
      for (int spin = 0; spin < spins && jobs.load(std::memory_order_acquire) == seen; ++spin) relax();
      jobs.wait(seen, std::memory_order_acquire);
      seen = jobs.load(std::memory_order_acquire);
      if (stop.load(std::memory_order_relaxed)) return;  // checked after the count: nothing follows the last one
      uint32_t found = door.load(std::memory_order_relaxed);
      while ((found & kOpen) && !door.compare_exchange_weak(found, found + 1, std::memory_order_acquire)) {
      }
      if (!(found & kOpen)) continue;
      if (thread < most) take_part(thread);
      if (door.fetch_sub(1, std::memory_order_acq_rel) == 1) door.notify_all();
    }
  }

  void start() {
    try {
      workers.reserve(static_cast<size_t>(threads - 1));
      for (int t = 1; t < threads; ++t) workers.emplace_back([this, t] { work(t); });
    } catch (const std::system_error&) {
      threads_refused = true;  // the caller and the threads that started do the work
    }
  }
  bool threads_refused = false;
};

ThreadPool::ThreadPool(int threads) : state_(std::make_unique<State>()) {
  if (threads <= 0) threads = usable_processors();
  state_->threads = std::min(threads, 1024);
  if (threads > usable_processors()) state_->spins = kSpinsWhereCrowded;
}

ThreadPool::~ThreadPool() {
  state_->stop.store(true, std::memory_order_relaxed);
  state_->jobs.fetch_add(1, std::memory_order_release);
  state_->jobs.notify_all();
  for (std::thread& worker : state_->workers) worker.join();
}

int usable_processors() {
  cpu_set_t set;
  if (::sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

int ThreadPool::threads() const { return state_->threads; }

void ThreadPool::count_use(bool counts) { state_->counts_use.store(counts, std::memory_order_relaxed); }

ThreadPool::Use ThreadPool::use() const {
  return {state_->joint_ns.load(std::memory_order_relaxed), state_->busy_ns.load(std::memory_order_relaxed)};
}

void ThreadPool::run(int64_t tasks, const std::function<void(int64_t, int)>& task, int most) {
  State& s = *state_;
  const bool nested = current_pool == &s;
  std::unique_lock<std::mutex> lock(s.callers, std::defer_lock);
  if (nested || s.threads == 1 || most <= 1 || tasks <= 1 || !lock.try_lock()) {
    for (int64_t i = 0; i < tasks; ++i) task(i, nested ? current_thread : 0);
    return;
  }
  if (s.workers.empty() && !s.threads_refused) s.start();
  const int64_t began = s.counts_use.load(std::memory_order_relaxed) ? now_ns() : 0;
  s.task = &task;
  s.tasks = tasks;
  s.denormals = DenormalsScope::current();
  s.most = most;
  s.next.store(0, std::memory_order_relaxed);
  s.door.store(kOpen, std::memory_order_release);
  s.jobs.fetch_add(1, std::memory_order_release);
  s.jobs.notify_all();
  s.take_part(0);
  uint32_t door = s.door.fetch_sub(kOpen, std::memory_order_acq_rel) - kOpen;
  for (int spin = 0; inside(door) > 0; ++spin) {
    if (spin < s.spins) {
      relax();
    } else {
      s.door.wait(door, std::memory_order_acquire);
    }
    door = s.door.load(std::memory_order_acquire);
  }
  if (began != 0) s.joint_ns.fetch_add(now_ns() - began, std::memory_order_relaxed);
  if (s.thrown) std::rethrow_exception(std::exchange(s.thrown, nullptr));
}

}  // namespace lowtide::engine
