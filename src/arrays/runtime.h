#pragma once
/// What a process has of arrays: the session that plans and runs, the memory that arrays have, the plans that were
/// made, and the streams. One of each, made when it is first needed, and never taken down: arrays may outlive main().

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

/// Bytes of one array, or of several with the same elements.
struct Block {
  void* data = nullptr;
  int64_t bytes = 0;                   ///< that are counted
  int64_t capacity = 0;                ///< that lie there
  std::function<void(void*)> deleter;  ///< of the caller's bytes; none: ours
  std::shared_ptr<const void> holds;   ///< a file that is mapped there
  Block() = default;
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  ~Block();
};

class Memory {
 public:
  std::shared_ptr<Block> allocate(int64_t bytes);
  /// Bytes of somebody else's, which are counted as long as an array has them.
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
  void shrink_to(size_t bytes);
  mutable std::mutex mutex_;
  struct Kept {
    int64_t capacity = 0;
    void* data = nullptr;
  };
  std::list<Kept> order_;                                   ///< the longest kept first
  std::multimap<int64_t, std::list<Kept>::iterator> kept_;  ///< by capacity
  size_t cache_bytes_ = 0, cache_limit_ = size_t{64} << 20, limit_ = SIZE_MAX;
  MemoryStats stats_;
};

/// Work that was handed to a stream.
class Pending {
 public:
  void done(std::exception_ptr fault);
  bool is_done() const;
  void wait() const;  ///< throws what went wrong

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable ended_;
  bool done_ = false;
  std::exception_ptr fault_;
};

/// One thread that works through what it is handed.
class Worker {
 public:
  void add(std::function<void()> work);
  bool is_idle();
  void drain();  ///< throws what was kept
  /// What went wrong, for the next who asks; the first of several.
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

/// The plan itself isn't kept: it has all that was considered, tens of kilobytes of the smallest graph.
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
  std::recursive_mutex graphs;  ///< held while a graph is walked or changed
  /// Plans by structure: the free one first, then those of limits.
  struct Known {
    std::vector<std::shared_ptr<const PlannedGraph>> plans;
    std::list<const std::string*>::iterator place;
  };
  Known& known(const std::string& key);
  /// Keeps it, and forgets those used longest ago where plans of too many instructions are known.
  void keep(Known& known, std::shared_ptr<const PlannedGraph> plan);
  PlanStats plans;
  std::shared_ptr<Worker> worker(int stream);
  std::vector<std::shared_ptr<Worker>> workers();
  int new_stream();
  int stream_of_new_thread();  ///< 0 for the first that asks
  uint64_t mark = 0;
  std::atomic<CompileMode> compile_mode = CompileMode::enabled;
  std::atomic<size_t> wired_limit = 0;
  std::atomic<int> local_streams = 0;  ///< ThreadLocalStreams that were made
  PrintFormatter formatter;

 private:
  std::mutex mutex_;
  std::optional<Session> session_;
  std::unordered_map<std::string, Known> known_;
  int64_t known_weight_ = 0;             ///< of all plans
  std::list<const std::string*> order_;  ///< the latest used first
  std::vector<std::shared_ptr<Worker>> workers_;
  bool has_first_thread_ = false;
};

/// Of a thread.
struct ThreadState {
  int stream = -1, first_stream = -1;          ///< the default one, now and at first; -1: none yet
  std::vector<int> made;                       ///< streams
  std::unordered_map<int, int> local_streams;  ///< of this thread, by ThreadLocalStream's
  std::vector<std::shared_ptr<Trace>> traces;
  bool forwards = false;     ///< a derivative is made that is transposed afterwards
  std::optional<array> key;  ///< of random numbers without one
  Words words = Words::kHalves;
};
ThreadState& this_thread();

[[noreturn]] void throw_error(const Error& error);

}  // namespace lowtide::lazy
