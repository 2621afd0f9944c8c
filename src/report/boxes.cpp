#include "report/boxes.h"

#include <fmt/format.h>

#include "base/sizes.h"
#include "plan/pack.h"
#include "report/live.h"
#include "report/origin.h"

namespace lowtide::engine {
namespace {

bool in_arena(const AccountBuffer& buffer) {
  return buffer.kind != BufferKind::kArgument && buffer.kind != BufferKind::kOutput;
}

}  // namespace

std::vector<TimelineBox> boxes_of(const Graph& graph, const Account& account, const Categories& categories) {
  const WhyAlive live(graph, account);
  const auto last_step = static_cast<Step>(account.timeline.size());
  std::vector<const AccountBuffer*> shown;
  Problem problem;
  for (const AccountBuffer& buffer : account.buffers) {
    if (buffer.memory_space != 0 || buffer.bytes == 0 || buffer.values.empty()) continue;
    shown.push_back(&buffer);
    if (in_arena(buffer)) problem.buffers.push_back({buffer.bytes, {{buffer.born, buffer.dies}}});
  }
  const Placement placement = pack(problem);
  int64_t base = 0;
  for (const AccountBuffer* buffer : shown) base += in_arena(*buffer) ? 0 : buffer->bytes;

  std::vector<TimelineBox> boxes;
  int64_t fixed = 0;
  size_t packed = 0;
  for (const AccountBuffer* buffer : shown) {
    TimelineBox box;
    const ValueRef& value = buffer->values[0];
    const Origin origin = origin_of(graph, *buffer);
    box.label = fmt::format("{} {}", value_name(value), to_string_without_layout(shape_of(value)));
    box.detail =
        fmt::format("{}{}{} · {}", origin.scope, origin.source.empty() ? "" : " · ", origin.source, live.why(*buffer));
    box.bytes = buffer->bytes;
    box.category = categories.of(*buffer);
    if (in_arena(*buffer)) {
      box.offset = base + placement.offsets[packed++];
      box.born = buffer->born;
      box.dies = buffer->dies;
    } else {
      box.offset = fixed;
      fixed += buffer->bytes;
      box.born = 0;
      box.dies = last_step;
    }
    boxes.push_back(std::move(box));
  }
  return boxes;
}

}  // namespace lowtide::engine
