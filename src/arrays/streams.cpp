// Devices, streams and events.
#include <sys/utsname.h>

#include <chrono>
#include <fstream>

#include "arrays/runtime.h"
#include "arrays/support.h"
#include "lowtide/stream.h"

namespace lowtide {
namespace {

void check_available(std::string_view name, const Device& device) {
  if (!is_available(device))
    lazy::fault(name, "found the device ({}, {}), expected the processor", device == Device::gpu ? "gpu" : "cpu",
                device.index);
}

std::string name_of_processor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "cpu";
}

Stream new_stream_of_thread() {
  const int index = lazy::Runtime::get().new_stream();
  lazy::this_thread().made.push_back(index);
  return {index};
}

}  // namespace

const Device& default_device() {
  static const Device kProcessor;
  return kProcessor;
}
void set_default_device(const Device& d) { check_available("set_default_device", d); }
bool is_available(const Device& d) { return d == Device(); }
int device_count(Device::DeviceType type) { return type == Device::cpu ? 1 : 0; }
const std::unordered_map<std::string, std::variant<std::string, size_t>>& device_info(const Device& d) {
  check_available("device_info", d);
  static const std::unordered_map<std::string, std::variant<std::string, size_t>> kInfo = [] {
    utsname system = {};
    uname(&system);
    return std::unordered_map<std::string, std::variant<std::string, size_t>>{
        {"architecture", std::string(system.machine)}, {"device_name", name_of_processor()}};
  }();
  return kInfo;
}

StreamOrDevice::StreamOrDevice(Device device) { check_available("stream", device); }
Stream to_stream(StreamOrDevice s) { return s.index >= 0 ? Stream{s.index} : default_stream(); }
Stream to_stream(StreamOrDevice s, Device default_) {
  return s.index >= 0 ? Stream{s.index} : default_stream(default_);
}
Stream default_stream(Device device) {
  check_available("default_stream", device);
  auto& thread = lazy::this_thread();
  if (thread.stream < 0) thread.stream = thread.first_stream = lazy::Runtime::get().stream_of_new_thread();
  return {thread.stream};
}
std::optional<Stream> peek_default_stream(Device device) {
  const int stream = lazy::this_thread().stream;
  return is_available(device) && stream >= 0 ? std::optional(Stream{stream}) : std::nullopt;
}
void set_default_stream(Stream stream) {
  check_available("set_default_stream", stream.device);
  lazy::this_thread().stream = stream.index;
}
Stream new_stream(Device device) {
  check_available("new_stream", device);
  return new_stream_of_thread();
}
Stream new_thread_unsafe_stream(Device device) { return new_stream(device); }
ThreadLocalStream new_thread_local_stream(Device device) {
  check_available("new_thread_local_stream", device);
  return {{lazy::Runtime::get().local_streams++, device}};
}
Stream stream_from_thread_local_stream(ThreadLocalStream tls) {
  auto& known = lazy::this_thread().local_streams;
  const auto [found, is_new] = known.try_emplace(tls.index, 0);
  if (is_new) found->second = new_stream_of_thread().index;
  return {found->second};
}
std::vector<Stream> get_streams() {
  std::vector<Stream> streams;
  const size_t count = std::max<size_t>(1, lazy::Runtime::get().workers().size());
  for (size_t k = 0; k < count; ++k) streams.push_back({static_cast<int>(k)});
  return streams;
}
void clear_streams() {
  auto& thread = lazy::this_thread();
  thread.stream = thread.first_stream;
  thread.local_streams.clear();
  for (const int stream : std::exchange(thread.made, {})) synchronize(Stream{stream});
}
void synchronize(Stream stream) { lazy::Runtime::get().worker(stream.index)->drain(); }
void synchronize(ThreadLocalStream tls) { synchronize(stream_from_thread_local_stream(tls)); }
void synchronize() {
  for (const auto& worker : lazy::Runtime::get().workers()) worker->drain();
}
StreamContext::StreamContext(StreamOrDevice s) : before_(default_stream()) { set_default_stream(to_stream(s)); }
StreamContext::~StreamContext() { lazy::this_thread().stream = before_.index; }

void enqueue(std::function<void()> work, Stream stream) {
  const auto worker = lazy::Runtime::get().worker(stream.index);
  worker->add([worker, work = std::move(work)] {
    try {
      work();
    } catch (...) {
      worker->keep(std::current_exception());
    }
  });
}

struct StreamEvent::State {
  struct Point {
    lazy::Pending pending;
    std::chrono::steady_clock::time_point time;  ///< when it was reached
  };
  std::mutex mutex;
  std::shared_ptr<Point> point;  ///< null: never recorded
  std::shared_ptr<Point> recorded() {
    const std::lock_guard lock(mutex);
    if (!point) throw std::logic_error("event: found one that was never recorded");
    return point;
  }
};

StreamEvent::StreamEvent() : state_(std::make_shared<State>()) {}
void StreamEvent::record(Stream stream) {
  auto point = std::make_shared<State::Point>();
  const auto worker = lazy::Runtime::get().worker(stream.index);
  worker->add([point, worker] {
    point->time = std::chrono::steady_clock::now();
    point->pending.done(worker->take_fault());
  });
  const std::lock_guard lock(state_->mutex);
  state_->point = std::move(point);
}
void StreamEvent::wait() const { state_->recorded()->pending.wait(); }
void StreamEvent::wait(Stream stream) const {
  enqueue([point = state_->recorded()] { point->pending.wait(); }, stream);
}
bool StreamEvent::query() const { return state_->recorded()->pending.is_done(); }
double StreamEvent::elapsed(const StreamEvent& later) const {
  const auto from = state_->recorded(), to = later.state_->recorded();
  from->pending.wait();
  to->pending.wait();
  return std::chrono::duration<double>(to->time - from->time).count();
}

}  // namespace lowtide
