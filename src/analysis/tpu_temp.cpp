#include "analysis/tpu_temp.h"

#include <algorithm>

#include "analysis/leaves.h"

namespace lowtide::engine {
namespace {

/// A tuple of up to eight pointers.
constexpr Bytes kTupleBytes = 32;

/// One event of the packer's trace.
struct Event {
  enum Kind : uint8_t { kHandedOn, kBegins, kEnds };  ///< in this order at each step
  Step step = 0;
  Kind kind = kBegins;
  int32_t group = 0, value = 0;
  Bytes bytes = 0;
};

int64_t tuple_nodes(const Shape& shape) {
  if (!shape.is_tuple()) return 0;
  int64_t nodes = 1;
  for (const Shape& element : shape.elements) nodes += tuple_nodes(element);
  return nodes;
}

/// Does this instruction make a new tuple, rather than pass on an existing one?
bool makes_tuple(const Instruction& instruction) {
  switch (instruction.opcode) {
    case Opcode::kParameter:
    case Opcode::kGetTupleElement:
    case Opcode::kWhile:
    case Opcode::kConditional:
    case Opcode::kCall:
    case Opcode::kBitcast:
    case Opcode::kOptBarrier:
    case Opcode::kAsyncUpdate:
    case Opcode::kAsyncDone: return false;
    default: return instruction.shape.is_tuple();
  }
}

}  // namespace

Bytes traced_peak(const Assignment& assignment, const Liveness& liveness) {
  std::vector<Event> events;
  const auto most_values = static_cast<Bytes>(std::max<size_t>(liveness.first.size(), 1));
  const Bytes limit = (Bytes{1} << 61) / most_values;  // sums must not overflow
  for (const int32_t g : assignment.in_arena) {
    const ValueGroup& group = assignment.groups[g];
    if (group.size.memory_space != 0) continue;
    const Bytes bytes = std::min(group.size.bytes, limit);
    for (const int32_t v : group.values) {
      const auto value = static_cast<size_t>(v);
      events.push_back({liveness.first[value], Event::kBegins, g, v, bytes});
      events.push_back(
          {liveness.last[value], assignment.handed_on[value] ? Event::kHandedOn : Event::kEnds, g, v, bytes});
    }
  }
  std::stable_sort(events.begin(), events.end(),
                   [](const Event& a, const Event& b) { return a.step != b.step ? a.step < b.step : a.kind < b.kind; });
  std::vector<int32_t> alive(assignment.groups.size(), 0);
  std::vector<bool> listed(liveness.first.size(), false);
  Bytes sum = 0, peak = 0;
  for (const Event& event : events) {
    int32_t& others = alive[event.group];
    const auto value = static_cast<size_t>(event.value);
    if (event.kind == Event::kBegins) {
      listed[value] = others++ == 0;
      if (listed[value]) peak = std::max(peak, sum += event.bytes);
    } else {
      --others;
      if (listed[value]) sum -= event.bytes;
    }
  }
  return peak;
}

int64_t tuples_in_memory(const Timeline& timeline) {
  int64_t tuples = 0;
  for (size_t s = 0; s < timeline.steps.size(); ++s) {
    const Instruction& i = *timeline.steps[s].instruction;
    const Frame& frame = timeline.frames[timeline.frame_of[s]];
    // A loop's body returns its tuple in the initial one's memory; the program's results have separate memory.
    if (makes_tuple(i) && &i != frame.computation->root) tuples += tuple_nodes(i.shape);
  }
  return tuples;
}

Bytes stated_temp(Bytes arena, Bytes alignment, int64_t tuples, Bytes traced_peak) {
  if (arena == 0) return 0;
  const Bytes whole = add_bytes((arena + alignment - 1) / alignment * alignment, tuples * alignment);
  const Bytes lost = std::max<Bytes>(0, whole - traced_peak - tuples * kTupleBytes);
  return add_bytes(whole, lost);
}

}  // namespace lowtide::engine
