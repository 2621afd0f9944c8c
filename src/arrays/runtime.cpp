#include "arrays/runtime.h"

#include <chrono>

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <new>
#include <set>

#include "lowtide/array.h"

namespace lowtide {

limit_error::limit_error(const std::string& message, int64_t needed, int64_t limit)
    : std::runtime_error(message), needed_(needed), limit_(limit) {}

namespace lazy {
namespace {

constexpr int64_t kMapped = 256 << 10;  ///< blocks of at least this capacity are separate mappings
constexpr size_t kHugePage = size_t{2} << 20;
constexpr size_t kInHugePages = 2 * kHugePage;  ///< blocks of at least this capacity ask for huge pages
constexpr int64_t kHeldBeside = 64 << 20;       ///< what a process may hold beyond the most that it had live
/// The most that cached plans may weigh, and a plan's fixed weight, in instructions: an instruction takes about 2 KiB,
/// and a plan as much as 25 in addition.
constexpr int64_t kMostWeight = 200'000, kWeightOfAny = 25;

int64_t capacity_for(int64_t bytes) {
  const int64_t unit = bytes >= kMapped ? 4096 : 64;
  return std::max<int64_t>(unit, (bytes + unit - 1) / unit * unit);
}

/// A mapping of its own; a large one begins at a huge page and asks for huge ones, which are zeroed at several times
/// the speed of small ones.
void* map(size_t bytes) {
  const size_t unit = bytes >= kInHugePages ? kHugePage : 0;
  void* const mapped = mmap(nullptr, bytes + unit, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  if (unit == 0) return mapped;
  const size_t before = -reinterpret_cast<uintptr_t>(mapped) % unit;
  std::byte* const data = static_cast<std::byte*>(mapped) + before;
  if (before > 0) munmap(mapped, before);
  munmap(data + bytes, unit - before);
  madvise(data, bytes, MADV_HUGEPAGE);
  return data;
}

void* take(int64_t capacity) {
  if (capacity < kMapped) return std::aligned_alloc(64, static_cast<size_t>(capacity));
  return map(static_cast<size_t>(capacity));
}

/// Lets the machine take the pages of a cached block where it is short of memory; with huge pages this costs next to
/// nothing, and nothing later where it wasn't.
void lend(void* data, int64_t capacity) {
  if (static_cast<size_t>(capacity) >= kInHugePages) madvise(data, static_cast<size_t>(capacity), MADV_FREE);
}

void give_back(void* data, int64_t capacity) {
  if (capacity < kMapped) {
    std::free(data);
  } else {
    munmap(data, static_cast<size_t>(capacity));
  }
}

}  // namespace

Block::~Block() {
  if (data) Runtime::get().memory.release(*this);
}

void Memory::count(int64_t bytes) {
  stats_.bytes_in_use += bytes;
  stats_.peak_bytes_in_use = std::max(stats_.peak_bytes_in_use, stats_.bytes_in_use);
  stats_.largest_alloc_size = std::max(stats_.largest_alloc_size, bytes);
  ++stats_.num_allocs;
}

void Memory::shrink_beside(int64_t live) {
  shrink_to(std::min(cache_limit_, static_cast<size_t>(std::max(most_live_, live) + kHeldBeside - live)));
}

std::shared_ptr<Block> Memory::allocate(int64_t bytes) {
  auto block = std::make_shared<Block>();
  block->bytes = bytes;
  block->capacity = capacity_for(bytes);
  const std::lock_guard lock(mutex_);
  const auto kept = kept_.lower_bound(block->capacity);
  if (kept != kept_.end() && kept->first <= block->capacity + block->capacity / 8 &&
      (kept->first >= kMapped) == (block->capacity >= kMapped)) {
    block->capacity = kept->first;
    block->data = kept->second->data;
    order_.erase(kept->second);
    cache_bytes_ -= static_cast<size_t>(kept->first);
    kept_.erase(kept);
  }
  shrink_beside(live_ + block->capacity);
  if (!block->data) block->data = take(block->capacity);
  if (!block->data) {
    shrink_to(0);
    block->data = take(block->capacity);
  }
  if (!block->data)
    throw limit_error("an array of " + std::to_string(bytes) + " bytes: the machine hasn't the memory", bytes, 0);
  live_ += block->capacity;
  most_live_ = std::max(most_live_, live_);
  count(bytes);
  return block;
}

std::shared_ptr<Block> Memory::adopt(void* data, int64_t bytes, std::function<void(void*)> deleter) {
  auto block = std::make_shared<Block>();
  block->bytes = bytes;
  block->capacity = bytes;
  block->deleter = std::move(deleter);
  block->data = data;
  const std::lock_guard lock(mutex_);
  count(bytes);
  return block;
}

void Memory::release(Block& block) {
  {
    const std::lock_guard lock(mutex_);
    stats_.bytes_in_use -= block.bytes;
    if (!block.deleter) live_ -= block.capacity;
    if (!block.deleter && static_cast<size_t>(block.capacity) <= cache_limit_) {
      lend(block.data, block.capacity);
      kept_.emplace(block.capacity, order_.insert(order_.end(), {block.capacity, block.data}));
      cache_bytes_ += static_cast<size_t>(block.capacity);
      shrink_beside(live_);
      return;
    }
  }
  if (block.deleter) {
    block.deleter(block.data);
  } else {
    give_back(block.data, block.capacity);
  }
}

/// Frees the oldest cached blocks first. The caller holds the mutex.
void Memory::shrink_to(size_t bytes) {
  while (cache_bytes_ > bytes && !order_.empty()) {
    const Kept oldest = order_.front();
    const auto [first, last] = kept_.equal_range(oldest.capacity);
    kept_.erase(std::find_if(first, last, [&](const auto& entry) { return entry.second == order_.begin(); }));
    order_.pop_front();
    cache_bytes_ -= static_cast<size_t>(oldest.capacity);
    give_back(oldest.data, oldest.capacity);
  }
}

void Memory::clear() {
  const std::lock_guard lock(mutex_);
  shrink_to(0);
}

size_t Memory::set_cache_limit(size_t bytes) {
  const std::lock_guard lock(mutex_);
  const size_t before = std::exchange(cache_limit_, bytes);
  shrink_beside(live_);
  return before;
}

size_t Memory::set_limit(size_t bytes) {
  const std::lock_guard lock(mutex_);
  return std::exchange(limit_, bytes);
}

size_t Memory::limit() const {
  const std::lock_guard lock(mutex_);
  return limit_;
}
int64_t Memory::active() const {
  const std::lock_guard lock(mutex_);
  return stats_.bytes_in_use;
}
size_t Memory::peak() const {
  const std::lock_guard lock(mutex_);
  return static_cast<size_t>(stats_.peak_bytes_in_use);
}
void Memory::reset_peak() {
  const std::lock_guard lock(mutex_);
  stats_.peak_bytes_in_use = 0;
}
size_t Memory::cached() const {
  const std::lock_guard lock(mutex_);
  return cache_bytes_;
}
MemoryStats Memory::stats() const {
  const std::lock_guard lock(mutex_);
  MemoryStats stats = stats_;
  stats.bytes_limit = limit_ == SIZE_MAX ? 0 : static_cast<int64_t>(limit_);
  stats.bytes_reserved = stats.bytes_in_use + static_cast<int64_t>(cache_bytes_);
  return stats;
}

void Pending::done(std::exception_ptr fault) {
  const std::lock_guard lock(mutex_);
  fault_ = std::move(fault);
  done_ = true;
  ended_.notify_all();
}
bool Pending::is_done() const {
  const std::lock_guard lock(mutex_);
  return done_;
}
void Pending::wait() const {
  std::unique_lock lock(mutex_);
  ended_.wait(lock, [&] { return done_; });
  if (fault_) std::rethrow_exception(fault_);
}

void Worker::add(std::function<void()> work) {
  const std::lock_guard lock(mutex_);
  waiting_.push_back(std::move(work));
  if (!started_) {
    std::thread([this] { run(); }).detach();  // workers are never destroyed
    started_ = true;
  }
  changed_.notify_all();
}
bool Worker::is_idle() {
  const std::lock_guard lock(mutex_);
  return waiting_.empty() && !working_;
}
void Worker::drain() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return waiting_.empty() && !working_; });
  if (fault_) std::rethrow_exception(std::exchange(fault_, nullptr));
}
void Worker::keep(std::exception_ptr fault) {
  const std::lock_guard lock(mutex_);
  if (!fault_) fault_ = std::move(fault);
}
std::exception_ptr Worker::take_fault() {
  const std::lock_guard lock(mutex_);
  return std::exchange(fault_, nullptr);
}
void Worker::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return !waiting_.empty(); });
    std::function<void()> work = std::move(waiting_.front());
    waiting_.pop_front();
    working_ = true;
    lock.unlock();
    work();
    work = {};
    lock.lock();
    working_ = false;
    changed_.notify_all();
  }
}

Runtime& Runtime::get() {
  static Runtime* const runtime = new Runtime;
  return *runtime;
}

Session Runtime::session() {
  const std::lock_guard lock(mutex_);
  if (!session_) {
    auto opened = Session::open({.kernels_of_any_shape = true});
    if (!opened.ok()) throw_error(opened.error());
    session_ = *opened;
  }
  return *session_;
}

void Runtime::use(const Session& session) {
  const std::lock_guard both(graphs);
  const std::lock_guard lock(mutex_);
  session_ = session;
  known_.clear();  // executables belong to the session that compiled them
  order_.clear();
  known_weight_ = 0;
}

Runtime::Known& Runtime::known(const std::string& key) {
  const auto [found, is_new] = known_.try_emplace(key);
  Known& known = found->second;
  if (is_new) {
    order_.push_front(&found->first);
  } else {
    order_.splice(order_.begin(), order_, known.place);
  }
  known.place = order_.begin();
  return known;
}

void Runtime::keep(Known& known, std::shared_ptr<const PlannedGraph> plan) {
  const auto weight_of = [](const PlannedGraph& planned) { return planned.instructions + kWeightOfAny; };
  known_weight_ += weight_of(*plan);
  known.plans.push_back(std::move(plan));
  while (known_weight_ > kMostWeight && order_.size() > 1) {
    const auto last = known_.find(*order_.back());
    for (const auto& forgotten : last->second.plans) known_weight_ -= weight_of(*forgotten);
    order_.pop_back();
    known_.erase(last);
  }
}

std::shared_ptr<Worker> Runtime::worker(int stream) {
  const std::lock_guard lock(mutex_);
  while (workers_.size() <= static_cast<size_t>(stream)) workers_.push_back(std::make_shared<Worker>());
  return workers_[stream];
}
std::vector<std::shared_ptr<Worker>> Runtime::workers() {
  const std::lock_guard lock(mutex_);
  return workers_;
}
int Runtime::new_stream() {
  const std::lock_guard lock(mutex_);
  if (workers_.empty()) workers_.push_back(std::make_shared<Worker>());
  workers_.push_back(std::make_shared<Worker>());
  return static_cast<int>(workers_.size()) - 1;
}
int Runtime::stream_of_new_thread() {
  {
    const std::lock_guard lock(mutex_);
    if (!std::exchange(has_first_thread_, true)) return 0;
  }
  return new_stream();
}

ThreadState& this_thread() {
  thread_local ThreadState state;
  return state;
}

void throw_error(const Error& error) {
  switch (error.kind) {
    case ErrorKind::kLimit: throw limit_error(error.message, error.lowest_peak.value_or(0), 0);
    case ErrorKind::kInput:
    case ErrorKind::kUsage: throw std::invalid_argument(error.message);
    case ErrorKind::kInternal: throw std::logic_error(error.message);
    default: throw std::runtime_error(error.message);
  }
}

}  // namespace lazy

size_t get_active_memory() { return static_cast<size_t>(lazy::Runtime::get().memory.active()); }
size_t get_peak_memory() { return lazy::Runtime::get().memory.peak(); }
void reset_peak_memory() { lazy::Runtime::get().memory.reset_peak(); }
size_t get_cache_memory() { return lazy::Runtime::get().memory.cached(); }
size_t get_memory_limit() { return lazy::Runtime::get().memory.limit(); }
size_t set_memory_limit(size_t bytes) { return lazy::Runtime::get().memory.set_limit(bytes); }
size_t set_cache_limit(size_t bytes) { return lazy::Runtime::get().memory.set_cache_limit(bytes); }
size_t set_wired_limit(size_t bytes) { return lazy::Runtime::get().wired_limit.exchange(bytes); }
size_t get_array_buffer_size(const std::vector<array>& arrays) {
  std::set<const lazy::Block*> blocks;
  int64_t bytes = 0;
  for (const array& a : arrays) {
    const auto block = a.state()->data;
    if (!block)
      throw std::invalid_argument("get_array_buffer_size: found an array that isn't computed, expected evaluated ones");
    if (blocks.insert(block.get()).second) bytes += std::max(block->bytes, block->capacity);
  }
  return static_cast<size_t>(bytes);
}
void clear_cache() { lazy::Runtime::get().memory.clear(); }
MemoryStats memory_stats() { return lazy::Runtime::get().memory.stats(); }
PlanStats plan_stats() { return lazy::Runtime::get().plans; }
void use(const Session& session) { lazy::Runtime::get().use(session); }

}  // namespace lowtide
