#pragma once
/// A device that is none: memory which the host reaches by copies alone, streams, events, and graphs of launches that
/// complete in any order that their dependencies allow. It knows no program.

#include <compare>
#include <coroutine>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"

namespace lowtide::engine {

/// No pointer of the host's: whoever follows it faults.
struct DeviceAddress {
  uint64_t number = 0;
  DeviceAddress operator+(int64_t bytes) const { return {number + static_cast<uint64_t>(bytes)}; }
  auto operator<=>(const DeviceAddress&) const = default;
};

struct DeviceRange {
  DeviceAddress begin;
  int64_t bytes = 0;
  bool writes = false;
  auto operator<=>(const DeviceRange&) const = default;
};

class Device {
 public:
  using Stream = size_t;
  using Event = size_t;
  using Task = std::function<Status()>;

  explicit Device(uint64_t seed) : chance_(seed) {}
  std::mt19937_64& chance() { return chance_; }

  DeviceAddress allocate(int64_t bytes);
  void fill(DeviceAddress at, int64_t bytes, std::byte with);
  /// The bytes as what runs on the device sees them.
  std::byte* on_device(DeviceAddress at, int64_t bytes);
  Status to_device(DeviceAddress to, const void* from, int64_t bytes);
  Status to_host(void* to, DeviceAddress from, int64_t bytes);

  Stream make_stream();
  void enqueue(Stream stream, Task task) { streams_[stream].push_back({std::move(task), kNone, kNone}); }
  Event record(Stream stream);
  void wait(Stream stream, Event event) { streams_[stream].push_back({{}, event, kNone}); }
  /// Until all streams are empty, one task of one of them after another.
  Status synchronize();

 private:
  static constexpr size_t kNone = SIZE_MAX;
  struct Entry {
    Task task;
    Event waits_for = kNone, records = kNone;
  };
  std::map<uint64_t, std::vector<std::byte>> memory_;  ///< by first address
  uint64_t next_ = uint64_t{0x5a5a} << 48;             ///< no address of this host
  std::vector<std::deque<Entry>> streams_;
  std::vector<bool> events_;
  std::mt19937_64 chance_;
};

/// DeviceWork in parts, between which other work may run.
class DeviceWork {
 public:
  struct promise_type {
    Status status;
    DeviceWork get_return_object() { return DeviceWork(std::coroutine_handle<promise_type>::from_promise(*this)); }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    std::suspend_always yield_value(int) { return {}; }
    void return_value(Status with) { status = std::move(with); }
    void unhandled_exception() { throw; }
  };
  DeviceWork(DeviceWork&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
  DeviceWork& operator=(DeviceWork&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~DeviceWork() {
    if (handle_) handle_.destroy();
  }
  /// Does the next part; false: it was the last one.
  bool goes_on() const { return handle_.resume(), !handle_.done(); }
  const Status& status() const { return handle_.promise().status; }

 private:
  explicit DeviceWork(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
  std::coroutine_handle<promise_type> handle_;
};

/// Launches that are recorded once and replayed.
class DeviceGraph {
 public:
  /// Does the work, and adds what it has touched.
  using Launch = std::function<DeviceWork(std::set<DeviceRange>& touched)>;

  void add(std::string name, std::vector<int32_t> after, Launch launch);
  /// Each launch once, in random order as far as dependencies allow, parts of several by turns; `last`: a launch that
  /// comes as late as it may.
  DeviceWork replay(Device& device, int32_t last = -1);
  /// Two launches that touch the same bytes, one of which writes, and that no path of dependencies orders: whatever
  /// order they ran in. Empty: there are none.
  const std::string& race() const { return race_; }
  std::set<DeviceRange> touched() const;

 private:
  struct Node {
    std::string name;
    std::vector<int32_t> after;
    Launch launch;
    std::set<DeviceRange> touched;
  };
  std::string find_race() const;

  std::vector<Node> nodes_;
  std::string race_;
};

}  // namespace lowtide::engine
