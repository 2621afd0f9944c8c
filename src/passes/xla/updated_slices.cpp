#include "passes/xla/updated_slices.h"

#include <algorithm>
#include <span>

#include "passes/rewrite.h"

namespace lowtide::engine {

bool is_slice(const Instruction& i, const Instruction& of) {
  const bool slices = i.opcode == Opcode::kSlice || i.opcode == Opcode::kDynamicSlice || i.opcode == Opcode::kGather;
  return slices && i.operands[0] == &of;
}

bool begins_with(const Instruction& update, const Instruction& slice) {
  if (update.opcode != Opcode::kDynamicUpdateSlice) return false;
  const auto starts = std::span(update.operands).subspan(2);
  if (slice.opcode == Opcode::kDynamicSlice) return std::ranges::equal(starts, std::span(slice.operands).subspan(1));
  const auto* a = slice.if_as<SliceAttributes>();
  if (a == nullptr || !std::ranges::all_of(a->strides, [](int64_t stride) { return stride == 1; })) return false;
  return std::ranges::equal(starts, a->starts, [](const Instruction* start, int64_t place) {
    const Literal* known = known_constant(*start);
    return known != nullptr && integer_at(*known, 0) == place;
  });
}

}  // namespace lowtide::engine
