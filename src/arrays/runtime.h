#pragma once
/// The process-wide state of arrays: the session that plans and runs, the arrays' memory, the cached plans, and the
/// streams. It is created when first needed, and never destroyed: arrays may outlive main().

#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_map>

#include "arrays/primitives.h"
#include "lowtide/memory.h"
#include "lowtide/session.h"
#include "lowtide/transforms.h"
#include "lowtide/utils.h"

namespace lowtide::lazy {

/// The memory of one array, or of several that share their elements.
struct Block {
  void* data = nullptr;
  int64_t bytes = 0;                   ///< counted as memory in use
  int64_t capacity = 0;                ///< bytes allocated
  std::function<void(void*)> deleter;  ///< for memory of the caller's; none: allocated by Memory
  std::shared_ptr<const void> holds;   ///< the file that is mapped there, if any
  Block() = default;
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  ~Block();
};

class Memory {
 public:
  std::shared_ptr<Block> allocate(int64_t bytes);
  /// Wraps memory that the caller allocated; it is counted as long as an array uses it.
  std::shared_ptr<Block> adopt(void* data, int64_t bytes, std::function<void(void*)> deleter);
  void release(Block& block);
  void clear();
  size_t set_cache_limit(size_t bytes);
  size_t set_limit(size_t bytes);
  size_t limit() const;
  int64_t active() const;
  size_t peak() const;
  void reset_peak();
  size_t cached() const;
  MemoryStats stats() const;

 private:
  void count(int64_t bytes);
  /// Bounds the cache beside so much that is live: both together are never much more than what has been live at once.
  /// The cache hardly raises a process's peak, and a loop that repeats itself maps no memory.
  void shrink_beside(int64_t live);
  void shrink_to(size_t bytes);
  mutable std::mutex mutex_;
  struct Kept {
    int64_t capacity = 0;
    void* data = nullptr;
  };
  std::list<Kept> order_;                                   ///< oldest first
  std::multimap<int64_t, std::list<Kept>::iterator> kept_;  ///< by capacity
  size_t cache_bytes_ = 0, cache_limit_ = SIZE_MAX, limit_ = SIZE_MAX;
  int64_t live_ = 0, most_live_ = 0;  ///< capacity of the blocks in use that it mapped, now and at most
  MemoryStats stats_;
};

/// The completion of work submitted to a stream.
class Pending {
 public:
  void done(std::exception_ptr fault);
  bool is_done() const;
  void wait() const;  ///< rethrows the work's exception

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable ended_;
  bool done_ = false;
  std::exception_ptr fault_;
};

/// A thread that runs submitted work in order.
class Worker {
 public:
  void add(std::function<void()> work);
  bool is_idle();
  void drain();  ///< waits until it is idle; rethrows the kept exception
  /// Keeps an exception for the next caller that asks; the first of several.
  void keep(std::exception_ptr fault);
  std::exception_ptr take_fault();

 private:
  void run();
  std::exception_ptr fault_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> waiting_;
  bool working_ = false, started_ = false;
};

/// A cached plan, compiled. The plan itself isn't kept: it includes the planner's data, tens of kilobytes even for the
/// smallest graph.
struct PlannedGraph {
  int64_t peak_bytes = 0, instructions = 0;
  Executable executable;
};

class Runtime {
 public:
  static Runtime& get();
  Session session();
  void use(const Session& session);

  Memory memory;
  std::recursive_mutex graphs;  ///< held while a graph is traversed or changed
  /// The plans for one structure: the free plan first, then plans for limits.
  struct Known {
    std::vector<std::shared_ptr<const PlannedGraph>> plans;
    std::list<const std::string*>::iterator place;
  };
  Known& known(const std::string& key);
  /// Adds a plan to the cache, and evicts the least recently used if all plans together have too many instructions.
  void keep(Known& known, std::shared_ptr<const PlannedGraph> plan);
  PlanStats plans;
  std::shared_ptr<Worker> worker(int stream);
  std::vector<std::shared_ptr<Worker>> workers();
  int new_stream();
  int stream_of_new_thread();  ///< 0 for the first thread that asks
  uint64_t mark = 0;
  std::atomic<CompileMode> compile_mode = CompileMode::enabled;
  std::atomic<size_t> wired_limit = 0;
  std::atomic<int> local_streams = 0;  ///< number of ThreadLocalStreams created
  PrintFormatter formatter;

 private:
  std::mutex mutex_;
  std::optional<Session> session_;
  std::unordered_map<std::string, Known> known_;
  int64_t known_weight_ = 0;             ///< the weight of all plans together
  std::list<const std::string*> order_;  ///< most recently used first
  std::vector<std::shared_ptr<Worker>> workers_;
  bool has_first_thread_ = false;
};

/// The state of a thread.
struct ThreadState {
  int stream = -1, first_stream = -1;          ///< the current and the first default stream; -1: none yet
  std::vector<int> made;                       ///< streams that the thread created
  std::unordered_map<int, int> local_streams;  ///< this thread's streams, by the ThreadLocalStream's index
  std::vector<std::shared_ptr<Trace>> traces;
  bool forwards = false;     ///< the derivative that is computed will be transposed (jvp)
  std::optional<array> key;  ///< the thread's sequence, for random numbers without a key
  Words words = Words::kHalves;
};
ThreadState& this_thread();

[[noreturn]] void throw_error(const Error& error);

}  // namespace lowtide::lazy
