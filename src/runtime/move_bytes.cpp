#include "runtime/move_bytes.h"

#include <algorithm>

#include "base/copy_bytes.h"
#include "base/status.h"

namespace lowtide::engine {
namespace {

/// Does writing one of them change the bytes that another one reads?
bool meet(std::span<const Shift> shifts) {
  for (const Shift& writer : shifts) {
    for (const Shift& reader : shifts) {
      if (&writer != &reader && writer.to != writer.from && writer.bytes > 0 && writer.to == reader.from) return true;
    }
  }
  return false;
}

}  // namespace

void shift_at_once(std::span<const Shift> shifts, std::span<std::byte> strip, ThreadPool& pool) {
  if (shifts.size() < 2 || !meet(shifts)) {
    for (const Shift& shift : shifts) copy_bytes(shift.to, shift.from, shift.bytes, pool);
    return;
  }
  int64_t longest = 0;
  for (const Shift& shift : shifts) longest = std::max(longest, shift.bytes);
  const auto room = static_cast<int64_t>(strip.size() / shifts.size());
  LT_ASSERT(room > 0, "more values change places at once than a strip has bytes");
  for (int64_t at = 0; at < longest; at += room) {
    const auto part = [&](const Shift& shift) {
      return static_cast<size_t>(std::clamp<int64_t>(shift.bytes - at, 0, room));
    };
    std::byte* held = strip.data();
    for (const Shift& shift : shifts) held = std::copy_n(shift.from + at, part(shift), held);
    held = strip.data();
    for (const Shift& shift : shifts) {
      std::copy_n(held, part(shift), shift.to + at);
      held += part(shift);
    }
  }
}

}  // namespace lowtide::engine
