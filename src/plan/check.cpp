#include "plan/check.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace lowtide::engine {
namespace {

std::string name(size_t buffer) { return "buffer " + std::to_string(buffer); }

/// A birth or a death; sorted by time, deaths before births at the same step.
struct Event {
  Step at;
  bool birth;
  size_t buffer;
};

}  // namespace

std::string check_placement(const Problem& problem, const Placement& placement) {
  const size_t count = problem.buffers.size();
  if (placement.offsets.size() != count) return "as many offsets as buffers are expected";
  std::vector<Event> events;
  for (size_t b = 0; b < count; ++b) {
    const PackBuffer& buffer = problem.buffers[b];
    const ArenaOffset offset = placement.offsets[b];
    if (buffer.size < 0) return name(b) + " has a negative size";
    if (buffer.size == 0) continue;
    if (offset < 0) return name(b) + " has a negative offset";
    if (problem.alignment > 1 && offset % problem.alignment != 0) return name(b) + " is misaligned";
    if (buffer.alignment > 1 && offset % buffer.alignment != 0) return name(b) + " is misaligned";
    if (offset > placement.height - buffer.size) return name(b) + " ends beyond the arena";
    for (const Lifetime& life : buffer.alive) {
      if (life.dies <= life.born) continue;
      events.push_back({life.born, true, b});
      events.push_back({life.dies, false, b});
    }
  }
  std::stable_sort(events.begin(), events.end(),
                   [](const Event& a, const Event& b) { return a.at != b.at ? a.at < b.at : a.birth < b.birth; });
  // Live buffers by offset: a new one must overlap neither its left nor its right neighbour.
  std::map<ArenaOffset, size_t> live;
  for (const Event& event : events) {
    const ArenaOffset offset = placement.offsets[event.buffer];
    if (!event.birth) {
      live.erase(offset);
      continue;
    }
    const auto right = live.lower_bound(offset);
    if (right != live.end() && right->first < offset + problem.buffers[event.buffer].size) {
      return name(event.buffer) + " overlaps " + name(right->second) + " at step " + std::to_string(event.at);
    }
    if (right != live.begin()) {
      const auto left = std::prev(right);
      if (left->first + problem.buffers[left->second].size > offset) {
        return name(event.buffer) + " overlaps " + name(left->second) + " at step " + std::to_string(event.at);
      }
    }
    live.emplace(offset, event.buffer);
  }
  return "";
}

}  // namespace lowtide::engine
