#include "device.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace lowtide::engine {

DeviceAddress Device::allocate(int64_t bytes) {
  const DeviceAddress at{next_};
  memory_[next_].resize(static_cast<size_t>(bytes));
  next_ += (static_cast<uint64_t>(bytes) + 4096) / 64 * 64;  // a gap after each
  return at;
}

std::byte* Device::on_device(DeviceAddress at, int64_t bytes) {
  const auto behind = memory_.upper_bound(at.number);
  LT_ASSERT(behind != memory_.begin(), "an address that was never allocated");
  auto& [first, memory] = *std::prev(behind);
  LT_ASSERT(at.number - first + static_cast<uint64_t>(bytes) <= memory.size(), "beyond what was allocated");
  return memory.data() + (at.number - first);
}

void Device::fill(DeviceAddress at, int64_t bytes, std::byte with) { std::fill_n(on_device(at, bytes), bytes, with); }

Status Device::to_device(DeviceAddress to, const void* from, int64_t bytes) {
  if (bytes > 0) std::memcpy(on_device(to, bytes), from, static_cast<size_t>(bytes));
  return {};
}

Status Device::to_host(void* to, DeviceAddress from, int64_t bytes) {
  if (bytes > 0) std::memcpy(to, on_device(from, bytes), static_cast<size_t>(bytes));
  return {};
}

Device::Stream Device::make_stream() {
  streams_.emplace_back();
  return streams_.size() - 1;
}

Device::Event Device::record(Stream stream) {
  events_.push_back(false);
  streams_[stream].push_back({{}, kNone, events_.size() - 1});
  return events_.size() - 1;
}

Status Device::synchronize() {
  for (;;) {
    std::vector<Stream> ready;
    for (Stream s = 0; s < streams_.size(); ++s) {
      if (streams_[s].empty()) continue;
      const Entry& head = streams_[s].front();
      if (head.waits_for == kNone || events_[head.waits_for]) ready.push_back(s);
    }
    if (ready.empty()) break;
    std::deque<Entry>& stream = streams_[ready[chance_() % ready.size()]];
    const Entry head = std::move(stream.front());
    stream.pop_front();
    if (head.task) LT_RETURN_IF_ERROR(head.task());
    if (head.records != kNone) events_[head.records] = true;
  }
  LT_ASSERT(std::ranges::all_of(streams_, &std::deque<Entry>::empty), "streams wait for each other");
  return {};
}

void DeviceGraph::add(std::string name, std::vector<int32_t> after, Launch launch) {
  nodes_.push_back({std::move(name), std::move(after), std::move(launch), {}});
}

DeviceWork DeviceGraph::replay(Device& device, int32_t last) {
  std::vector<size_t> waits(nodes_.size());
  std::vector<std::vector<size_t>> waiting(nodes_.size());
  std::vector<std::pair<size_t, DeviceWork>> open;  // may begin, or have begun
  const size_t before = touched().size();
  const auto let_begin = [&](size_t n) { open.emplace_back(n, nodes_[n].launch(nodes_[n].touched)); };
  for (size_t n = 0; n < nodes_.size(); ++n) {
    waits[n] = nodes_[n].after.size();
    for (const int32_t on : nodes_[n].after) waiting[on].push_back(n);
    if (waits[n] == 0) let_begin(n);
  }
  while (!open.empty()) {
    size_t which = device.chance()() % open.size();
    if (open.size() > 1 && std::cmp_equal(open[which].first, last)) which = (which + 1) % open.size();
    if (!open[which].second.goes_on()) {
      if (!open[which].second.status().ok()) co_return open[which].second.status();
      const size_t done = open[which].first;
      open.erase(open.begin() + static_cast<std::ptrdiff_t>(which));
      for (const size_t next : waiting[done]) {
        if (--waits[next] == 0) let_begin(next);
      }
    }
    co_yield 0;
  }
  if (race_.empty() && touched().size() > before) race_ = find_race();
  co_return Status();
}

std::set<DeviceRange> DeviceGraph::touched() const {
  std::set<DeviceRange> all;
  for (const Node& node : nodes_) all.insert(node.touched.begin(), node.touched.end());
  return all;
}

std::string DeviceGraph::find_race() const {
  const auto conflict = [](const DeviceRange& a, const DeviceRange& b) {
    return (a.writes || b.writes) && a.begin < b.begin + b.bytes && b.begin < a.begin + a.bytes;
  };
  std::vector<std::vector<bool>> waits_for(nodes_.size(), std::vector<bool>(nodes_.size()));
  for (size_t n = 0; n < nodes_.size(); ++n) {
    for (const int32_t on : nodes_[n].after) {
      const auto before = static_cast<size_t>(on);
      waits_for[n][before] = true;
      for (size_t k = 0; k < before; ++k) waits_for[n][k] = waits_for[n][k] || waits_for[before][k];
    }
    for (size_t k = 0; k < n; ++k) {
      if (waits_for[n][k]) continue;
      for (const DeviceRange& a : nodes_[k].touched) {
        for (const DeviceRange& b : nodes_[n].touched) {
          if (conflict(a, b)) return nodes_[k].name + " and " + nodes_[n].name + " touch the same bytes in any order";
        }
      }
    }
  }
  return {};
}

}  // namespace lowtide::engine
